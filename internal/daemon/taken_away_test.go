package daemon

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// Callers and their rights are kept between calls. What is taken away is gone at the very next call all the same, and what is given is
// there.
func TestWhatIsTakenAwayIsGoneAtTheNextCall(t *testing.T) {
	w := newWard(t, "")
	var grant struct{ ID string }
	tokens := map[string]*struct{ ID, Secret string }{"builder": {}, "helper": {}, "keeper": {}}
	for name, token := range tokens {
		w.present("actor.add", map[string]any{"name": name, "kind": "agent"}, nil)
		w.present("token.new", map[string]any{"actor": name}, token)
	}
	door := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", SocketPath(filepath.Join(w.home, ".tandem"), ""))
	}}}
	t.Cleanup(door.CloseIdleConnections)
	put := func(name string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://tandem/resource/away/key", strings.NewReader(`{"value":"x"}`))
		w.must(err)
		req.Header.Set("Authorization", "Bearer "+tokens[name].Secret)
		req.Header.Set("Content-Type", "application/json")
		resp, err := door.Do(req)
		w.must(err)
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		w.must(err)
		return resp.StatusCode
	}
	warm := func(name string, want int) {
		t.Helper()
		for range 5 {
			if got := put(name); got != want {
				t.Fatalf("%s puts: %d, not %d", name, got, want)
			}
		}
	}
	for name := range tokens {
		warm(name, http.StatusOK)
	}
	w.present("grant.add", map[string]any{"principal": "agent:keeper", "resource": "resource:/away", "permissions": []string{"edit"},
		"effect": "deny"},
		&grant)
	warm("keeper", http.StatusForbidden)
	w.present("grant.revoke", map[string]any{"id": grant.ID}, nil)
	warm("keeper", http.StatusOK)
	w.present("token.revoke", map[string]any{"id": tokens["builder"].ID}, nil)
	warm("builder", http.StatusUnauthorized)
	w.present("actor.disable", map[string]any{"name": "helper"}, nil)
	warm("helper", http.StatusUnauthorized)
	warm("keeper", http.StatusOK)
}
