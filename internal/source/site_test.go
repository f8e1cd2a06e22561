package source

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/source/wire"
)

func TestRobots(t *testing.T) {
	r := parseRobots([]byte("User-agent: other\nDisallow: /\n\nUser-agent: *\nUser-agent: some # both\nDisallow: /private\n" +
		"Allow: /private/open\nDisallow: /*.pdf$\nDisallow: /find?\nCrawl-delay: 99\n\nSitemap: x\n"))
	for path, want := range map[string]bool{"/": true, "/private": false, "/private/x": false, "/private/open/x": true, "/a.pdf": false,
		"/a.pdf?x=1": true, "/find": true, "/find?q=1": false} {
		u, err := url.Parse("http://h" + path)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.allows(u); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	if r.delay != maxDelay {
		t.Errorf("it waits %v", r.delay)
	}
	u := &url.URL{Path: "/x"}
	if own := parseRobots([]byte("User-agent: *\nDisallow: /\nUser-agent: Tandem\nAllow: /\n")); !own.allows(u) {
		t.Error("its own group does not count")
	}
	if none := parseRobots([]byte("User-agent: tandem\n\nUser-agent: *\nDisallow: /\n")); none.allows(u) {
		t.Error("names that follow each other are one group")
	}
}

// website is a small site that can change.
type website struct {
	mu    sync.Mutex
	pages map[string]string
	asked []string
}

func (w *website) set(path, page string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pages[path] = page
}

func (w *website) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, r.URL.RequestURI())
	page, there := w.pages[r.URL.RequestURI()]
	switch {
	case !there:
		http.NotFound(out, r)
	case page == "fail":
		out.WriteHeader(http.StatusBadGateway)
	case strings.HasPrefix(page, "to "):
		http.Redirect(out, r, strings.TrimPrefix(page, "to "), http.StatusFound)
	default:
		fmt.Fprint(out, page)
	}
}

// A site is read from link to link on its own server, as its robots.txt allows, as deep and as many pages as was said.
func TestASiteIsImportedAndFollowed(t *testing.T) {
	both(t, func(b *bench) {
		inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { b.Error("another server was asked") }))
		defer inside.Close()
		w := &website{pages: map[string]string{
			"/robots.txt": "User-agent: *\nDisallow: /secret\n",
			"/docs/": `<title>T</title><h1>Start</h1><p>The turnip begins.</p><a href="a.html#x">a</a><a href="/docs/a.html">again</a>` +
				`<a href="/secret/x">no</a><a href="` + inside.URL + `/">elsewhere</a><a href="/moved">m</a><a href="mailto:a@b">mail</a>`,
			"/docs/a.html":   `<html><p>A turnip is peeled.<a href="/deep">deep</a><a rel="nofollow" href="/paid">x</a>`,
			"/deep":          `<html><p>A turnip lies deep.<a href="/deeper">deeper</a>`,
			"/deeper":        `<html><p>Too deep a turnip.`,
			"/moved":         "to " + inside.URL + "/",
			"/paid":          "<html>turnip",
			"/secret/x":      "<html>turnip",
			"/docs/plain.md": "turnip"}}
		server := httptest.NewServer(w)
		defer server.Close()
		from := wire.From{URL: server.URL + "/docs/", Depth: 2}
		b.room.Inside = func(string) bool { return false }
		if _, err := b.room.preview(ann, wire.PreviewIn{From: from}); !fault.Is(err, fault.Denied) {
			b.Fatalf("an inside address of somebody whose machine it is not: %v", err)
		}
		b.room.Inside = func(string) bool { return true }
		seen, err := b.room.preview(ann, wire.PreviewIn{From: from})
		if err != nil || seen.Files != 3 || seen.Formats["html"] != 3 || seen.LeftOut != 2 {
			b.Fatalf("%+v %v", seen, err)
		}
		change(b, ann, b.room.add, wire.AddIn{Name: "site", From: from})
		change(b, ann, b.room.resume, wire.NameIn{Name: "site"})
		if out := b.imported(ann, "site"); out.Files != 3 || out.Changed != 3 || out.Bad != 2 {
			b.Fatalf("%+v", out)
		}
		for _, asked := range w.asked {
			if strings.HasPrefix(asked, "/secret") || asked == "/deeper" || asked == "/paid" {
				b.Errorf("%s was asked for", asked)
			}
		}
		found := b.finds(ann, "turnip")
		if len(found) != 3 || !slices.ContainsFunc(found, func(p wire.Passage) bool { return p.File == server.URL+"/docs/" && p.Place != "" }) {
			b.Fatalf("%+v", found)
		}
		// what changes is read, what is gone goes; what fails for a while stays, and so does what only that page led to
		w.set("/docs/a.html", "fail")
		if out := b.imported(ann, "site"); out.Gone != 0 || out.Changed != 0 || len(b.finds(ann, "turnip")) != 3 {
			b.Fatalf("of a page that failed: %+v", out)
		}
		w.set("/docs/a.html", `<html><p>A beetroot is peeled.`)
		if out := b.imported(ann, "site"); out.Gone != 1 || out.Changed != 1 || len(b.finds(ann, "turnip")) != 1 ||
			len(b.finds(ann, "beetroot")) != 1 {
			b.Fatalf("%+v", out)
		}
		w.set("/docs/a.html", `<html><p>A cucumber is peeled.`[:len(`<html><p>A beetroot is peeled.`)])
		if out := b.imported(ann, "site"); out.Changed != 1 || len(b.finds(ann, "cucumber")) != 1 {
			b.Fatalf("of a page that is as long as it was: %+v", out)
		}
		w.set("/robots.txt", "fail")
		if _, err := b.room.bring(ann, wire.NameIn{Name: "site"}); !fault.Is(err, fault.Unavailable) || len(b.finds(ann, "turnip")) != 1 {
			b.Fatalf("a server that does not say what it allows: %v", err)
		}
	})
}
