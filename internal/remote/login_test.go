package remote

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/login/wire"
)

// The token of a login goes to the server whose key the person found, whatever became of the list of known servers.
func TestALoginIsForItsServersKey(t *testing.T) {
	var got []string
	hear := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a := r.Header.Get("Authorization"); a != "" {
			got = append(got, a)
		}
	})
	secure, plain := httptest.NewTLSServer(hear), httptest.NewServer(hear)
	defer secure.Close()
	defer plain.Close()
	key := client.Fingerprint(secure.Certificate())
	other := "SHA256:" + strings.Repeat("A", 43)
	for _, c := range []struct {
		what, server, key, known string
		ok                       bool
	}{
		{"the key it had", secure.URL, key, "", true},
		{"another one, and nothing is remembered", secure.URL, other, "", false},
		{"another one, and this one is remembered", secure.URL, other, "ADDR " + key, false},
		{"one that this one came after", secure.URL, other, "was:ADDR " + other + "\nADDR " + key, true},
		{"in the clear", plain.URL, key, "", false},
	} {
		m := New(t.Context(), Config{Known: filepath.Join(t.TempDir(), "known_servers")})
		l := wire.Login{Name: "build", Server: c.server[strings.Index(c.server, "//")+2:], Key: c.key}
		known := strings.ReplaceAll(c.known, "ADDR", l.Server) + "\n"
		if err := os.WriteFile(m.at.Known, []byte(known), 0o600); err != nil {
			t.Fatal(err)
		}
		got = nil
		server, err := m.serverOf(t.Context(), l)
		if err == nil {
			var resp *http.Response
			if resp, err = m.carry(httptest.NewRequestWithContext(t.Context(), "GET", "/", nil), server, "/", "tdm_x"); err == nil {
				resp.Body.Close()
			}
			server.transport.CloseIdleConnections()
		}
		if c.ok != (err == nil) || c.ok != (len(got) == 1) {
			t.Errorf("%s: %v, and the server heard %q", c.what, err, got)
		}
		if !c.ok && !fault.Is(err, fault.Denied) && c.server == secure.URL {
			t.Errorf("%s is told as %v", c.what, err)
		}
	}
}
