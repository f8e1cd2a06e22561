package client

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tandem/internal/fault"
)

// A stream that breaks off in the middle says why, in words.
func TestABrokenStreamSaysWhy(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte("id: 1\ndata: a\n\nid: 2"))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}))
	defer srv.Close()
	var heard []string
	err := Remote(srv.URL, "", nil).Follow(t.Context(), "/", func(e Event) error { heard = append(heard, e.ID+string(e.Data)); return nil })
	if !fault.Is(err, fault.Unavailable) || strings.Contains(err.Error(), "%!") || !strings.Contains(err.Error(), "EOF") {
		t.Errorf("err = %v", err)
	}
	if len(heard) != 1 || heard[0] != "1a" {
		t.Errorf("heard %q", heard)
	}
}
