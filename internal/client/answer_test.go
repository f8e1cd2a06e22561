package client

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tandem/internal/fault"
)

// endless answers for ever, with what begins an answer.
func endless(t *testing.T, begin string) *Client {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := w.Write([]byte(begin))
		for part := []byte(strings.Repeat("x", 1<<20)); err == nil; {
			_, err = w.Write(part)
		}
	}))
	t.Cleanup(srv.Close)
	return Remote(srv.URL, "", nil)
}

// A server that never ends its answer does not fill this machine's memory.
func TestAnAnswerHasAnEnd(t *testing.T) {
	if err := endless(t, `{"sessions":["`).Call(t.Context(), "session.list", nil, nil); !fault.Is(err, fault.Exhausted) {
		t.Errorf("an answer: %v", err)
	}
	err := endless(t, "data: ").Follow(t.Context(), "/", func(Event) error { return nil })
	if !fault.Is(err, fault.Exhausted) {
		t.Errorf("a line of a stream: %v", err)
	}
}

// What answers with a redirect, or with nothing that lets one in, is no tandem.
func TestWhatIsNoTandem(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/join" {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}
		w.Write([]byte("{}"))
	}))
	defer srv.Close()
	c := Remote(srv.URL, "", nil)
	if err := c.Call(t.Context(), "session.list", nil, nil); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a redirect: %v", err)
	}
	resp, err := c.Do(t.Context(), http.MethodPost, "/join", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var in LoggedIn
	if err := welcome(resp, &in, &in.Secret); !fault.Is(err, fault.Unavailable) || strings.Contains(err.Error(), "%!") {
		t.Errorf("no token: %v", err)
	}
}
