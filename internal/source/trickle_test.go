package source

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/internal/fault"
	"tandem/internal/source/wire"
)

// trickling answers every page with a byte a second, but for those that are ready.
type trickling struct{ ready map[string]string }

func (s trickling) RoundTrip(r *http.Request) (*http.Response, error) {
	page, ok := s.ready[r.URL.Path]
	body := io.NopCloser(strings.NewReader(page))
	if !ok {
		body = drops{r.Context()}
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, Body: body, Request: r}, nil
}

type drops struct{ ctx context.Context }

func (d drops) Read(p []byte) (int, error) {
	select {
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	case <-time.After(time.Second):
		return copy(p, "x"), nil
	}
}
func (drops) Close() error { return nil }

// A site that sends a byte a second holds up its import for half a minute a page and twenty minutes in all, and what it did not send is not
// called gone.
func TestAPageThatTricklesIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened, err := openSite(resolved{From: wire.From{URL: "http://site.example/", Depth: 1, Pages: 100, Inside: true}})
		if err != nil {
			t.Fatal(err)
		}
		s := opened.(*site)
		s.client.Transport = trickling{}
		began := time.Now()
		if err := s.ask(t.Context()); !fault.Is(err, fault.Unavailable) || time.Since(began) > pageTime {
			t.Errorf("robots.txt: %v after %s", err, time.Since(began))
		}
		var links strings.Builder
		for i := range 90 {
			links.WriteString(`<a href="/slow` + strings.Repeat("x", i) + `">x</a>`)
		}
		s.client.Transport = trickling{map[string]string{"/robots.txt": "", "/": "<html><p>Turnip." + links.String(),
			"/slow": "<html><p>Beetroot."}}
		at, err := url.Parse("http://site.example/slowx")
		if err != nil {
			t.Fatal(err)
		}
		began = time.Now()
		if _, err := s.page(t.Context(), at, map[string]bool{}, &listing{}); !fault.Is(err, fault.Unavailable) || time.Since(began) > 2*pageTime {
			t.Errorf("a page: %v after %s", err, time.Since(began))
		}
		began = time.Now()
		out, err := s.list(t.Context())
		if err != nil || len(out.files) != 2 || len(out.unread) == 0 || time.Since(began) > siteTime+pageTime {
			t.Errorf("%d read, %d not, %v after %s", len(out.files), len(out.unread), err, time.Since(began))
		}
	})
}
