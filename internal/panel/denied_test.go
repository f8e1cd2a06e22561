package panel

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/internal/panel/static"
	"tandem/internal/testenv"
)

// everything follows the panel's links from its pages, and gives what each answered.
func (b *browser) everything(t *testing.T, from ...string) map[string]string {
	t.Helper()
	links := regexp.MustCompile(`([a-z-]+)="(/panel/[^"#]*)`)
	streams := []string{"data-live", "data-follow", "data-terminal"} // these do not end
	got, kinds := map[string]string{}, map[string]int{}
	for len(from) > 0 && len(got) < 400 {
		at := from[0]
		from = from[1:]
		kind := regexp.MustCompile(`[0-9]+|[a-z]+_[0-9a-z]{8,}`).ReplaceAllString(at, "*")
		if got[at] != "" || at == "/panel/live" || strings.HasPrefix(at, static.Prefix) || kinds[kind] == 40 {
			continue
		}
		kinds[kind]++
		code, body, head := b.ask(t, "GET", at, nil)
		got[at] = " " + body
		if to := head.Get("Location"); code/100 == 3 && strings.HasPrefix(to, "/panel/") {
			from = append(from, to)
		}
		for _, link := range links.FindAllStringSubmatch(body, -1) {
			if to := html.UnescapeString(link[2]); !slices.Contains(streams, link[1]) {
				from = append(from, to)
			} else if got[to] == "" && link[1] != "data-live" {
				got[to] = " " + b.heard(t, to)
			}
		}
	}
	return got
}

// heard is what a stream sends at first.
func (b *browser) heard(t *testing.T, at string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", b.h.near+at, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = strings.TrimPrefix(b.h.base, "http://")
	res, err := b.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	said, _ := io.ReadAll(res.Body) // it is cut off
	return string(said)
}

// What is denied to everybody is on no page of the panel that its links lead to, and in no part of one: not in the diff of a job that
// copied it, not where that is merged or queued, not in a search of the folder's documents. What nobody denied is there.
func TestACanaryThatIsDeniedIsOnNoPage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("checks run in a sandbox, and those are Linux's")
	}
	h := startHouse(t)
	word := func() string { b := make([]byte, 16); rand.Read(b); return hex.EncodeToString(b) }
	secret, open := word(), word()
	folder := checkout(t, "a.md", "# Open\n\nwalrus "+open+"\n")
	if err := os.MkdirAll(filepath.Join(folder, "priv"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "priv", "p.md"), []byte("# Closed\n\nwalrus "+secret+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git(t, folder, "add", "-A")
	git(t, folder, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "second")
	h.scriptedModel(t, folder)
	b := h.browser(t)
	b.signIn(t)

	const change = `change it [[tool bash {"command":"cp priv/p.md priv/q.md; cp a.md b.md"}]] [[say finished]]`
	session := h.do(t, "session.create", "", map[string]any{"title": "talk", "directory": folder, "model": "fake/s"})["id"].(string)
	h.do(t, "session.prompt", "", map[string]any{"id": session, "text": change})
	b.shows(t, "/panel/sessions/"+session, "finished")
	job := b.does(t, "/panel/jobs", url.Values{"folder": {folder}, "model": {"fake/s"}, "check": {"true"}, "budget": {"9turns"},
		"task": {change}})
	b.shows(t, job, open)
	b.does(t, "/panel/sources", url.Values{"where": {folder}, "name": {"notes"}, "every": {"60"}, "pin": {testPIN}})
	b.does(t, "/panel/sources/notes/resume", url.Values{"pin": {testPIN}})
	found := func() string { return b.page(t, "/panel/memory?q=walrus") + b.page(t, "/panel/find?q=walrus") }
	if !testenv.Within(2*time.Minute, func() bool { return strings.Contains(found(), secret) }) {
		t.Logf("the search shows: %s", refusedWords(found()))
	}
	start := append(slices.Concat(workPages, everyPage), "/panel/find?q=walrus", "/panel/find?q="+secret, "/panel/memory?q=walrus",
		"/panel/memory?q="+secret, "/panel/sessions/"+session, job)
	pages := b.everything(t, start...)
	for _, at := range []string{"/panel/memory?q=walrus", job, job + "/merge", job + "?diff=beside"} {
		if !strings.Contains(pages[at], secret) {
			t.Fatalf("before anybody denied it, it is not on %s: this test shows nothing", at)
		}
	}

	h.do(t, "grant.add", testPIN, map[string]any{"principal": "*", "effect": "deny", "resource": "folder:" + filepath.Join(folder, "priv"),
		"permissions": []string{"view"}, "data_classes": []string{"*"}})
	seen := 0
	pages = b.everything(t, start...)
	for at, body := range pages {
		if strings.Contains(body, open) {
			seen++
		}
		if i := strings.Index(strings.ReplaceAll(body, "q="+secret, ""), secret); i >= 0 && !strings.Contains(at, secret) {
			t.Errorf("it is denied, and on %s: %s", at, refusedWords(body[max(0, i-300):min(len(body), i+100)]))
		}
	}
	if seen < 2 || len(pages) < 40 {
		t.Errorf("of %d pages %d show what nobody denied", len(pages), seen)
	}
	for _, at := range []string{"/panel/memory?q=walrus", job} {
		if !strings.Contains(pages[at], open) {
			t.Errorf("%s does not show what nobody denied", at)
		}
	}
	if code, _, _ := h.browser(t).ask(t, "GET", "/panel/sessions/"+session, nil); code != http.StatusUnauthorized {
		t.Errorf("a stranger gets %d", code)
	}
}
