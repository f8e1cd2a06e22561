package builtin

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/secret"
	"tandem/internal/tool"
)

//go:embed websearch.md
var websearchDoc string

// Search says where to search. Backend is auto, brave, exa, searxng or url; auto takes what is configured, in this order, and
// goes on to the next when one refuses.
type Search struct {
	Backend    string
	BraveKey   string
	ExaKey     string
	SearXNG    string // address of a SearXNG
	URL        string // any address that answers ?q= with {"results":[{"title","url","content"}]}
	Brave, Exa string // the services' own addresses, when empty
	Transport  http.RoundTripper
}

// The sealed values that are keys, where the settings hold none.
const (
	BraveSecret = "search/brave"
	ExaSecret   = "search/exa"
)

type websearch struct{ config func() Search }

// now is the configuration as it stands, with the keys that are sealed.
func (w websearch) now(env *tool.Env) Search {
	s := w.config()
	if env == nil || env.Secret == nil {
		return s
	}
	if s.BraveKey == "" {
		s.BraveKey = env.Secret(BraveSecret)
	}
	if s.ExaKey == "" {
		s.ExaKey = env.Secret(ExaSecret)
	}
	return s
}

type websearchArgs struct {
	Query string `json:"query" jsonschema:"what to look for"`
	Count int    `json:"count,omitempty" jsonschema:"how many results, 8 when left out, 20 at most"`
}

type hit struct{ Title, URL, Text string }

func (w websearch) Spec() tool.Spec {
	return tool.Spec{Name: "websearch", Doc: websearchDoc, Schema: schemaOf[websearchArgs](), Right: "tool.execute", Changes: true,
		Ready: func(env *tool.Env) bool { s := w.now(env); return len(s.backends()) > 0 }}
}

// backend is one way to search.
type backend struct {
	name, host string
	run        func(ctx context.Context, q string, n int) ([]hit, error)
}

// backends lists what is configured, in the order of trying.
func (s Search) backends() []backend {
	if s.Brave == "" {
		s.Brave = "https://api.search.brave.com"
	}
	if s.Exa == "" {
		s.Exa = "https://api.exa.ai"
	}
	all := []struct {
		backend
		ready bool
	}{
		{backend{"brave", hostOf(s.Brave), s.brave(s.Brave)}, s.BraveKey != ""},
		{backend{"exa", hostOf(s.Exa), s.exa(s.Exa)}, s.ExaKey != ""},
		{backend{"searxng", hostOf(s.SearXNG), s.plain(s.SearXNG + "/search")}, s.SearXNG != ""},
		{backend{"url", hostOf(s.URL), s.plain(s.URL)}, s.URL != ""},
	}
	var out []backend
	for _, b := range all {
		if b.ready && (s.Backend == "" || s.Backend == "auto" || s.Backend == b.name) {
			out = append(out, b.backend)
		}
	}
	return out
}

func hostOf(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

func (w websearch) Plan(env *tool.Env, raw json.RawMessage) (*tool.Plan, error) {
	var a websearchArgs
	if err := tool.Decode("websearch", raw, &a); err != nil {
		return nil, err
	}
	if strings.TrimSpace(a.Query) == "" || len(a.Query) > 400 {
		return nil, fault.New(fault.Invalid, "websearch", "a query has 1 to 400 bytes")
	}
	if a.Count <= 0 {
		a.Count = 8
	}
	a.Count = min(a.Count, 20)
	list := w.now(env).backends()
	if len(list) == 0 {
		return nil, fault.New(fault.Conflict, "websearch", "no search is configured").
			WithNext("a person stores a key (tandem secret set search/brave, or search/exa) or names an address (tandem settings set " +
				"search.searxng_url URL, or search.url)")
	}
	touch := op.Touch{Tool: "websearch"}
	for _, b := range list {
		touch.Hosts = append(touch.Hosts, b.host)
	}
	run := func(ctx context.Context) (tool.Result, error) { return search1(ctx, list, a) }
	return &tool.Plan{Title: "search " + a.Query, Resource: op.Resource{Kind: "tool", Path: "/websearch"}, Touch: touch,
		Run: func(ctx context.Context, _ func(string)) (tool.Result, error) { return run(ctx) },
		Recover: func(ctx context.Context) (tool.Result, bool, error) {
			r, err := run(ctx)
			return r, err == nil, err
		}}, nil
}

// search1 asks one backend after the other until one answers. An empty answer is an answer; a failure of all is an error that
// names each.
func search1(ctx context.Context, list []backend, a websearchArgs) (tool.Result, error) {
	var failed []string
	for _, b := range list {
		hits, err := b.run(ctx, a.Query, a.Count)
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return tool.Result{}, cause
			}
			failed = append(failed, b.name+": "+err.Error())
			continue
		}
		var out strings.Builder
		for i, h := range hits[:min(len(hits), a.Count)] {
			fmt.Fprintf(&out, "%d. %s\n   %s\n   %s\n", i+1, h.Title, h.URL, strings.Join(strings.Fields(h.Text), " "))
		}
		if len(hits) == 0 {
			out.WriteString("nothing was found\n")
		}
		return tool.Result{Text: out.String(), Meta: map[string]any{"backend": b.name, "results": len(hits), "failed": failed}}, nil
	}
	return tool.Result{}, fault.New(fault.Unavailable, "websearch", "no search answered: %s", strings.Join(failed, "; "))
}

// lent knows the keys: what a service answers is kept and shown, and it may say the one that it was sent.
func (s Search) lent() *secret.Redactor {
	r := secret.NewRedactor()
	for _, key := range []string{s.BraveKey, s.ExaKey} {
		if key != "" {
			r.Learn([]byte(key))
		}
	}
	return r
}

var errLimited = errors.New("it has had enough for now (rate limited)")

// ask sends a request and reads the JSON of its answer. Keys never come into an error: only the status does.
func (s Search) ask(ctx context.Context, req *http.Request, into any) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	res, err := (&http.Client{Transport: s.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(req.WithContext(ctx))
	if err != nil {
		var f *fault.Error
		if errors.As(err, &f) {
			return errors.New(f.Msg)
		}
		return errors.New("it cannot be reached")
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, 4<<20))
	lent := s.lent()
	switch {
	case res.StatusCode == http.StatusTooManyRequests:
		return errLimited
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("it answered %s", lent.String(res.Status))
	case err != nil:
		return errors.New("its answer broke off")
	}
	if err := json.Unmarshal(lent.JSON(b), into); err != nil {
		return errors.New("its answer is not the JSON that was expected")
	}
	return nil
}

func (s Search) brave(base string) func(context.Context, string, int) ([]hit, error) {
	return func(ctx context.Context, q string, n int) ([]hit, error) {
		req, err := http.NewRequest(http.MethodGet, fmt.Sprintf("%s/res/v1/web/search?q=%s&count=%d", base, url.QueryEscape(q), n), nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Accept", "application/json")
		req.Header.Set("X-Subscription-Token", s.BraveKey)
		var out struct {
			Web struct {
				Results []struct{ Title, URL, Description string }
			}
		}
		err = s.ask(ctx, req, &out)
		var hits []hit
		for _, r := range out.Web.Results {
			hits = append(hits, hit{r.Title, r.URL, r.Description})
		}
		return hits, err
	}
}

func (s Search) exa(base string) func(context.Context, string, int) ([]hit, error) {
	return func(ctx context.Context, q string, n int) ([]hit, error) {
		body, err := json.Marshal(map[string]any{"query": q, "numResults": n,
			"contents": map[string]any{"text": map[string]any{"maxCharacters": 400}}})
		if err != nil {
			return nil, err
		}
		req, err := http.NewRequest(http.MethodPost, base+"/search", bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Api-Key", s.ExaKey)
		var out struct {
			Results []struct{ Title, URL, Text string }
		}
		err = s.ask(ctx, req, &out)
		var hits []hit
		for _, r := range out.Results {
			hits = append(hits, hit{r.Title, r.URL, r.Text})
		}
		return hits, err
	}
}

// plain asks SearXNG, or an address that speaks like it.
func (s Search) plain(base string) func(context.Context, string, int) ([]hit, error) {
	return func(ctx context.Context, q string, _ int) ([]hit, error) {
		u, err := url.Parse(base)
		if err != nil {
			return nil, errors.New("its address is not a URL")
		}
		v := u.Query()
		v.Set("q", q)
		v.Set("format", "json")
		u.RawQuery = v.Encode()
		req, err := http.NewRequest(http.MethodGet, u.String(), nil)
		if err != nil {
			return nil, err
		}
		var out struct {
			Results []struct{ Title, URL, Content string }
		}
		err = s.ask(ctx, req, &out)
		var hits []hit
		for _, r := range out.Results {
			hits = append(hits, hit{r.Title, r.URL, r.Content})
		}
		return hits, err
	}
}
