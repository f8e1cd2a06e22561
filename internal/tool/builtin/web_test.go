package builtin

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"tandem/internal/egress"
	"tandem/internal/fault"
	"tandem/internal/tool"
)

func runTool(t *testing.T, tl tool.Tool, args any) (tool.Result, error) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	p, err := tl.Plan(&tool.Env{}, raw)
	if err != nil {
		return tool.Result{}, err
	}
	return p.Run(t.Context(), nil)
}

func TestWebfetch(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another host was asked") }))
	defer other.Close()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Write([]byte(`<html><head><style>x{}</style><script>alert("no")</script></head><body><h1>Title</h1><p>One &amp; ` +
				`two <a href="https://a.example/x">link</a></p></body></html>`))
		case "/moved":
			http.Redirect(w, r, "/page", http.StatusFound)
		case "/away":
			http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1), http.StatusFound)
		case "/image":
			w.Header().Set("Content-Type", "image/png")
		default:
			w.WriteHeader(404)
		}
	}))
	defer site.Close()
	guard := &egress.Guard{Origins: []string{site.URL}}
	f := webfetch{guard.Transport()}
	for path, want := range map[string]string{"/page": "200 OK\n\nTitle\nOne & two <https://a.example/x> link", "/moved": "Title\nOne",
		"/away": "the page moved to http://localhost", "/none": "404"} {
		if r, err := runTool(t, f, m{"url": site.URL + path}); err != nil || !strings.Contains(r.Text, want) ||
			strings.Contains(r.Text, "alert") {
			t.Errorf("%s: %q %v", path, r.Text, err)
		}
	}
	if _, err := runTool(t, f, m{"url": site.URL + "/image"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("an image: %v", err)
	}
	for _, bad := range []string{"ftp://x", "file:///etc/passwd", "http://u:p@x/", "nonsense", "http://"} {
		if _, err := runTool(t, f, m{"url": bad}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := runTool(t, f, m{"url": other.URL}); !fault.Is(err, fault.Denied) {
		t.Errorf("an address inside: %v", err)
	}
}

// A search service knows the key that it was sent. It does not come back in what was found, nor in what went wrong, in any spelling.
func TestASearchsKeyDoesNotComeBack(t *testing.T) {
	const key = `BSA-"0123456789/abcdef+`
	status := http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		is := r.Header.Get("X-Subscription-Token")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(map[string]any{"web": map[string]any{"results": []any{m{"title": "as lent " + is,
			"url":         "https://b.example/?k=" + url.QueryEscape(is),
			"description": "base64 " + base64.StdEncoding.EncodeToString([]byte(is)) + " end"}}}})
	}))
	defer srv.Close()
	s := websearch{func() Search {
		return Search{Brave: srv.URL, BraveKey: key, Transport: (&egress.Guard{Origins: []string{srv.URL}}).Transport()}
	}}
	r, err := runTool(t, s, m{"query": "cats"})
	if err != nil || !strings.Contains(r.Text, "as lent [secret]") || !strings.Contains(r.Text, "https://b.example/?k=[secret]") {
		t.Errorf("what was found: %s %v", r.Text, err)
	}
	for _, form := range []string{key, "0123456789", url.QueryEscape(key), base64.StdEncoding.EncodeToString([]byte(key))[:24]} {
		if strings.Contains(r.Text, form) {
			t.Errorf("the key comes back as %s: %s", form, r.Text)
		}
	}
	status = http.StatusForbidden
	if _, err := runTool(t, s, m{"query": "cats"}); err == nil || strings.Contains(err.Error(), "0123456789") {
		t.Errorf("what went wrong: %v", err)
	}
}

// Stand-ins that speak the documented protocols. When one is rate limited, auto goes on to the next.
func TestWebsearchFallsThrough(t *testing.T) {
	limited := true
	mux := http.NewServeMux()
	mux.HandleFunc("GET /res/v1/web/search", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Subscription-Token") != "brave-key" || limited {
			w.WriteHeader(429)
			return
		}
		w.Write([]byte(`{"web":{"results":[{"title":"B","url":"https://b.example","description":"from brave for ` + r.URL.Query().Get("q") +
			`"}]}}`))
	})
	mux.HandleFunc("POST /search", func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Query string }
		if r.Header.Get("X-Api-Key") != "exa-key" || json.NewDecoder(r.Body).Decode(&q) != nil {
			w.WriteHeader(401)
			return
		}
		w.Write([]byte(`{"results":[{"title":"E","url":"https://e.example","text":"from exa for ` + q.Query + `"}]}`))
	})
	mux.HandleFunc("GET /sx/search", func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(`{"results":[{"title":"S","url":"https://s.example","content":"from searxng, ` + r.URL.Query().Get("format") + `"}]}`))
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	tr := (&egress.Guard{Origins: []string{srv.URL}}).Transport()
	base := Search{Brave: srv.URL, Exa: srv.URL, Transport: tr}
	both := base
	both.BraveKey, both.ExaKey = "brave-key", "exa-key"
	if r, err := runTool(t, websearch{func() Search { return both }}, m{"query": "cats"}); err != nil ||
		!strings.Contains(r.Text, "from exa for cats") || r.Meta["backend"] != "exa" {
		t.Errorf("%+v %v", r, err)
	}
	limited = false
	if r, err := runTool(t, websearch{func() Search { return both }}, m{"query": "cats"}); err != nil ||
		!strings.Contains(r.Text, "from brave for cats") {
		t.Errorf("%+v %v", r, err)
	}
	sx := base
	sx.SearXNG = srv.URL + "/sx"
	if r, err := runTool(t, websearch{func() Search { return sx }}, m{"query": "cats"}); err != nil ||
		!strings.Contains(r.Text, "from searxng, json") {
		t.Errorf("%+v %v", r, err)
	}
	only := both
	only.Backend, only.ExaKey = "exa", "wrong"
	if _, err := runTool(t, websearch{func() Search { return only }}, m{"query": "cats"}); !fault.Is(err, fault.Unavailable) ||
		!strings.Contains(err.Error(), "401") || strings.Contains(err.Error(), "wrong") {
		t.Errorf("%v", err)
	}
	if _, err := runTool(t, websearch{func() Search { return base }}, m{"query": "cats"}); !fault.Is(err, fault.Conflict) ||
		!strings.Contains(err.Error(), "no search is configured") {
		t.Errorf("%v", err)
	}
}
