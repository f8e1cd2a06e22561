package panel

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"tandem/internal/panel/browsertest"
)

const dashboard = `
name = "dash"
[inputs.doc]
type = "object"
[[node]]
id = "board"
inputs = { doc = "input.doc" }
[node.make]
from = "doc"
[node.output.page]
artifact = "html"
`

// wild tries what a page can try: a script, and requests of every kind.
const wild = `<html><head><meta http-equiv="refresh" content="0;url=FAR/refresh"><link rel="stylesheet" href="FAR/style">` +
	`<link rel="prefetch" href="FAR/prefetch"><style>@import "FAR/import"; body { background: url(FAR/background) }</style>` +
	`<script src="FAR/script"></script></head><body onload="document.body.setAttribute('data-ran', '1')"><h1>Wild</h1>` +
	`<img src="FAR/image" onerror="document.body.setAttribute('data-ran', '2')"><iframe src="FAR/frame"></iframe>` +
	`<object data="FAR/object"></object><video src="FAR/video" autoplay></video><svg><image href="FAR/svg"/></svg>` +
	`<script>document.body.setAttribute('data-ran', '3'); fetch('FAR/fetch'); new Image().src = 'FAR/new'; ` +
	`navigator.sendBeacon('FAR/beacon')</script></body></html>`

// In a real browser a page that an automation made runs no script and asks nobody for anything, whatever it holds; a dashboard is drawn.
// The same page without our headers does both: the test would see it.
func TestAMadePageIsQuietInABrowser(t *testing.T) {
	h := startHouse(t)
	b := h.browser(t)
	b.signIn(t)
	var mu sync.Mutex
	asked, page := map[string]bool{}, ""
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path == "/page" {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, page)
			return
		}
		asked[r.URL.Path] = true
	}))
	defer far.Close()
	hostile := strings.ReplaceAll(wild, "FAR", far.URL)
	page = strings.Replace(hostile, `<meta http-equiv="refresh"`, `<meta name="none"`, 1)

	made := func(text, input string) {
		at := b.does(t, "/panel/automations", url.Values{"text": {text}})
		digest := digestToSwitch.FindStringSubmatch(b.page(t, at))[1]
		b.does(t, at+"/on", url.Values{"digest": {digest}, "pin": {testPIN}})
		b.shows(t, b.does(t, at+"/run", url.Values{"input": {input}}), "completed")
	}
	made(paged, "page="+hostile)
	made(dashboard, `doc={"title":"Week 42","sections":[{"title":"Tasks","chart":{"kind":"bar",`+
		`"labels":["a","b"],"series":[{"name":"n","values":[1,2]}]}},{"title":"Words","text":"<script>alert(1)</script>"}]}`)

	var got map[string]struct {
		Asked, Dialogs []string
		Ran, Shows     bool
		At             string
	}
	look := h.base + "/panel/artifacts/"
	browsertest.Run(t, "testdata/made.cjs", map[string]any{"base": h.base, "code": h.code(t), "shots": browsertest.Shots(t, "panel"),
		"pages": map[string]string{"wild": look + "paged.put.value/look", "dashboard": look + "dash.board.page/look"}}, &got)
	for name, p := range got {
		if p.Ran || len(p.Asked) > 0 || len(p.Dialogs) > 0 || !p.Shows || !strings.HasPrefix(p.At, look) {
			t.Errorf("%s: %+v", name, p)
		}
	}
	mu.Lock()
	if len(asked) > 0 || len(got) != 2 {
		t.Errorf("%d pages, and they asked for %v", len(got), asked)
	}
	mu.Unlock()

	browsertest.Run(t, "testdata/made.cjs", map[string]any{"base": h.base, "code": h.code(t), "shots": browsertest.Shots(t, "panel"),
		"pages": map[string]string{"unguarded": far.URL + "/page"}}, &got)
	mu.Lock()
	defer mu.Unlock()
	if p := got["unguarded"]; !p.Ran || len(asked) < 5 {
		t.Errorf("without our headers it is as quiet: %+v %v", p, asked)
	}
}
