package source

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"tandem/internal/source/wire"
)

// crawled is what is read of a site on this machine, with so many pages.
func crawled(t *testing.T, ctx context.Context, pages int, answer http.HandlerFunc) *listing {
	t.Helper()
	server := httptest.NewServer(answer)
	defer server.Close()
	from, err := openSite(resolved{From: wire.From{URL: server.URL + "/", Depth: 10, Pages: pages, Inside: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer from.close()
	out, err := from.list(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A site of pages that are not kept, each with many new links, is asked no more often than its budget says.
func TestACrawlEnds(t *testing.T) {
	var asked atomic.Int64
	out := crawled(t, t.Context(), 5, func(w http.ResponseWriter, r *http.Request) {
		n := asked.Add(1)
		switch {
		case r.URL.Path == "/robots.txt" || n > 300:
			http.NotFound(w, r)
			return
		case r.URL.Path != "/" && n%3 == 0:
			http.Redirect(w, r, fmt.Sprintf("/to/%d", n), http.StatusFound)
			return
		case r.URL.Path != "/":
			w.Header().Set("X-Robots-Tag", "noindex")
		}
		w.Header().Set("Content-Type", "text/html")
		for i := range 500 {
			fmt.Fprintf(w, `<a href="/%d/%d">x</a>`, n, i)
		}
	})
	if n := asked.Load(); n > 30 {
		t.Errorf("it was asked %d times for 5 pages", n)
	}
	if len(out.files) != 1 || len(out.left) > maxLeft {
		t.Errorf("%d files, %d left out", len(out.files), len(out.left))
	}
}

// What was read of a slow site before its time was over is kept, and the rest is not called gone.
func TestASlowSiteIsReadInPart(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	out := crawled(t, ctx, 50, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			fmt.Fprint(w, "User-agent: *\nCrawl-delay: 0.2\n")
			return
		}
		fmt.Fprint(w, "<html><p>Text.")
		for i := range 30 {
			fmt.Fprintf(w, `<a href="/%d">x</a>`, i)
		}
	})
	if len(out.files) == 0 || len(out.files) > 10 || len(out.unread) == 0 {
		t.Errorf("%d read, %d not", len(out.files), len(out.unread))
	}
}

// Where a page leads, and what its server says of it, is text that can be stored, and not too long.
func TestWhatAServerSaysIsText(t *testing.T) {
	out := crawled(t, t.Context(), 50, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, `<html><a href="/a">a</a><a href="/b">b</a><a href="/c">c</a><a href="/d">d</a>`)
		case "/a":
			w.Header().Set("Location", "/p?\xff\xfe")
			w.WriteHeader(http.StatusFound)
		case "/b":
			w.Header().Set("Location", "/p?"+strings.Repeat("b", 5000))
			w.WriteHeader(http.StatusFound)
		case "/c":
			w.Header().Set("Location", "http://other.test/\xff")
			w.WriteHeader(http.StatusFound)
		case "/d":
			conn, buf, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			fmt.Fprint(buf, "HTTP/1.1 403 \xff\xfe\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			buf.Flush()
			conn.Close()
		case "/robots.txt":
			http.NotFound(w, r)
		default:
			fmt.Fprint(w, "<html>text")
		}
	})
	for _, f := range out.files {
		if !utf8.ValidString(f.path) || len(f.path) > maxAddress {
			t.Errorf("%.80q is kept", f.path)
		}
	}
	for _, b := range append(out.left, out.unread...) {
		if !utf8.ValidString(b.File+b.Reason) || len(b.File) > maxAddress || len(b.Reason) > 500 {
			t.Errorf("%.80q is left out: %.80q", b.File, b.Reason)
		}
	}
	if len(out.files) != 1 || len(out.left) != 4 {
		t.Errorf("%d files, %+v", len(out.files), out.left)
	}
}

// A page that fails for ever does not keep what was taken down elsewhere.
func TestAPageIsGoneBesideOneThatFails(t *testing.T) {
	b := newBench(t, filepath.Join(t.TempDir(), "a.db"))
	b.room.Inside = func(string) bool { return true }
	w := &website{pages: map[string]string{
		"/":  `<html><p>Start.<a href="/a">a</a><a href="/b">b</a>`,
		"/a": `<html><p>An artichoke.`,
		"/b": `<html><p>A beetroot.<a href="/c">c</a>`,
		"/c": `<html><p>A carrot.`}}
	server := httptest.NewServer(w)
	defer server.Close()
	change(b, ann, b.room.add, wire.AddIn{Name: "site", From: wire.From{URL: server.URL + "/", Depth: 3}})
	change(b, ann, b.room.resume, wire.NameIn{Name: "site"})
	if out := b.imported(ann, "site"); out.Files != 4 {
		b.Fatalf("%+v", out)
	}
	w.set("/a", "fail")
	w.mu.Lock()
	delete(w.pages, "/b")
	w.mu.Unlock()
	w.set("/", `<html><p>Start.<a href="/a">a</a>`)
	if out := b.imported(ann, "site"); out.Gone != 1 {
		b.Fatalf("%+v", out)
	}
	for word, found := range map[string]int{"artichoke": 1, "beetroot": 0, "carrot": 1} {
		if n := len(b.finds(ann, word)); n != found {
			b.Errorf("%s is found %d times", word, n)
		}
	}
}
