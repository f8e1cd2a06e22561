package daemon

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// Whoever was let in by a request's head acted by its body, which came after the token was revoked, the actor disabled or the PIN
// changed: hours later, if it was sent slowly enough.
func TestARequestThatEndsLateIsAskedAgain(t *testing.T) {
	w := newWard(t, "")
	var revoked, disabled struct{ ID, Secret string }
	for name, token := range map[string]*struct{ ID, Secret string }{"builder": &revoked, "helper": &disabled} {
		w.present("actor.add", map[string]any{"name": name, "kind": "agent"}, nil)
		w.present("grant.add", map[string]any{"principal": "agent:" + name, "resource": "resource:/late", "permissions": []string{"edit"}}, nil)
		w.present("token.new", map[string]any{"actor": name}, token)
	}
	put := func(header string) func() int { return w.held("PUT", "/resource/late/key", header, `{"value":"x"}`) }
	honest := put("Authorization: Bearer " + revoked.Secret)
	if status := honest(); status != http.StatusOK {
		t.Fatalf("a request that comes slowly: %d", status)
	}
	ends := map[string]struct {
		head, name string
		in         any
		send       func() int
	}{
		"a revoked token":   {head: "Authorization: Bearer " + revoked.Secret, name: "token.revoke", in: map[string]any{"id": revoked.ID}},
		"a disabled actor":  {head: "Authorization: Bearer " + disabled.Secret, name: "actor.disable", in: map[string]any{"name": "helper"}},
		"the PIN of before": {head: "Tandem-Pin: 246813", name: "pin.set", in: map[string]any{"pin": "135792"}},
	}
	for _, what := range []string{"a revoked token", "a disabled actor", "the PIN of before"} {
		e := ends[what]
		send := put(e.head)
		w.present(e.name, e.in, nil)
		if status := send(); status != http.StatusUnauthorized {
			t.Errorf("%s: %d", what, status)
		}
	}
}

// held sends a request but for the end of its body; what it returns sends that, a while after the beginning.
func (w *ward) held(method, path, header, body string) func() int {
	w.t.Helper()
	conn, err := net.Dial("unix", SocketPath(filepath.Join(w.home, ".tandem"), ""))
	w.must(err)
	w.t.Cleanup(func() { conn.Close() })
	_, err = fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: tandem\r\n%s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		method, path, header, len(body), body[:len(body)-1])
	w.must(err)
	began := time.Now()
	return func() int {
		w.t.Helper()
		testenv.Eventually(w.t, "the door's word is old", time.Minute, func() bool { return time.Since(began) > 1500*time.Millisecond })
		_, err := io.WriteString(conn, body[len(body)-1:])
		w.must(err)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		w.must(err)
		defer resp.Body.Close()
		return resp.StatusCode
	}
}
