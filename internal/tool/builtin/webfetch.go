package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/tool"
)

//go:embed webfetch.md
var webfetchDoc string

// webfetch reads one page through a guarded transport.
type webfetch struct{ transport http.RoundTripper }

type webfetchArgs struct {
	URL string `json:"url" jsonschema:"http:// or https:// address"`
	Raw bool   `json:"raw,omitempty" jsonschema:"the page as it is, not as text"`
}

const (
	maxPage     = 2 << 20
	maxPageText = 100 << 10
	pageTimeout = 30 * time.Second
)

func (webfetch) Spec() tool.Spec {
	return tool.Spec{Name: "webfetch", Doc: webfetchDoc, Schema: schemaOf[webfetchArgs](), Right: "tool.execute", Changes: true}
}

func (w webfetch) Plan(_ *tool.Env, raw json.RawMessage) (*tool.Plan, error) {
	var a webfetchArgs
	if err := tool.Decode("webfetch", raw, &a); err != nil {
		return nil, err
	}
	u, err := url.Parse(a.URL)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, fault.New(fault.Invalid, "webfetch", "%.100q is not an http or https address without a password", a.URL)
	}
	return &tool.Plan{Title: "fetch " + u.Redacted(), Resource: op.Resource{Kind: "tool", Path: "/webfetch"},
		Touch: op.Touch{Tool: "webfetch", Hosts: []string{strings.ToLower(u.Hostname())}},
		Run:   func(ctx context.Context, _ func(string)) (tool.Result, error) { return w.fetch(ctx, u, a.Raw) },
		// Reading a page again does no harm.
		Recover: func(ctx context.Context) (tool.Result, bool, error) {
			r, err := w.fetch(ctx, u, a.Raw)
			return r, err == nil, err
		}}, nil
}

// fetch follows redirects within the host only: another host is another decision, so the model is told its address instead.
func (w webfetch) fetch(ctx context.Context, u *url.URL, raw bool) (tool.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	var elsewhere *url.URL
	c := &http.Client{Transport: w.transport, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if len(via) > 5 || !strings.EqualFold(next.URL.Hostname(), u.Hostname()) {
			elsewhere = next.URL
			return http.ErrUseLastResponse
		}
		return nil
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return tool.Result{}, fault.New(fault.Invalid, "webfetch", "the address cannot be asked for")
	}
	req.Header.Set("User-Agent", "tandem")
	req.Header.Set("Accept", "text/html, text/*;q=0.9, application/json;q=0.8, */*;q=0.1")
	res, err := c.Do(req)
	if err != nil {
		var f *fault.Error
		if errors.As(err, &f) {
			return tool.Result{}, f
		}
		return tool.Result{}, fault.New(fault.Unavailable, "webfetch", "%s cannot be read: %w", u.Hostname(), err)
	}
	defer res.Body.Close()
	if elsewhere != nil {
		return tool.Result{Text: "the page moved to " + elsewhere.Redacted() + "; ask for that address if you want it",
			Meta: map[string]any{"status": res.StatusCode}}, nil
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxPage))
	if err != nil {
		return tool.Result{}, fault.New(fault.Unavailable, "webfetch", "the page broke off: %w", err)
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	text := string(body)
	switch {
	case kind == "text/html" && !raw:
		text = pageText(text)
	case strings.HasPrefix(kind, "text/"), strings.HasSuffix(kind, "json"), strings.HasSuffix(kind, "xml"), kind == "":
	default:
		return tool.Result{}, fault.New(fault.Invalid, "webfetch", "the page is %.60s, which cannot be read as text", kind)
	}
	text = strings.ToValidUTF8(text, "�")
	if len(text) > maxPageText {
		text = strings.ToValidUTF8(text[:maxPageText], "") + "\n… (cut)"
	}
	return tool.Result{Text: fmt.Sprintf("%s\n\n%s", res.Status, text), Error: res.StatusCode >= 400,
		Meta: map[string]any{"status": res.StatusCode, "bytes": len(body)}}, nil
}

// pageText is what a person would read of a page.
func pageText(page string) string {
	z := html.NewTokenizer(strings.NewReader(page))
	var out strings.Builder
	skip := 0
	for {
		switch z.Next() {
		case html.ErrorToken:
			return squeeze(out.String())
		case html.TextToken:
			if skip == 0 {
				out.Write(z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, attrs := z.TagName()
			tag := string(name)
			switch tag {
			case "script", "style", "noscript", "svg", "template":
				skip++
			case "a":
				for attrs {
					var k, v []byte
					k, v, attrs = z.TagAttr()
					if string(k) == "href" && strings.HasPrefix(string(v), "http") {
						out.WriteString(" <" + string(v) + "> ")
					}
				}
			case "p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "pre":
				out.WriteByte('\n')
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); skip > 0 {
				switch string(name) {
				case "script", "style", "noscript", "svg", "template":
					skip--
				}
			}
		}
	}
}

func squeeze(s string) string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.Join(strings.Fields(html.UnescapeString(line)), " "); line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}
