package client

import (
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/fault"
)

func TestAServersKeyIsTrustedOnFirstUseAndNeverChanges(t *testing.T) {
	ok := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(`{}`)) })
	first, second := httptest.NewUnstartedServer(ok), httptest.NewUnstartedServer(ok)
	first.StartTLS()
	second.StartTLS()
	defer first.Close()
	defer second.Close()
	pins := OpenPins(filepath.Join(t.TempDir(), "known_servers"))
	addr := strings.TrimPrefix(first.URL, "https://")
	get := func(url, name, expect string) error {
		resp, err := Remote(url, "", pins.Transport(name, expect)).Do(t.Context(), "GET", "/", nil, nil)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	if err := get(first.URL, addr, ""); err != nil {
		t.Fatalf("first use: %v", err)
	}
	print, err := pins.Known(addr)
	if err != nil || !strings.HasPrefix(print, "SHA256:") {
		t.Fatalf("known = %q, %v", print, err)
	}
	if err := get(first.URL, addr, print); err != nil {
		t.Errorf("the same key again: %v", err)
	}
	// httptest's servers share one key, so an impostor is one whose name holds another pin.
	if err := pins.Pin(addr, "SHA256:somebody-else"); !fault.Is(err, fault.Denied) {
		t.Errorf("a changed key was accepted: %v", err)
	}
	if err := get(second.URL, "other:1", "SHA256:what-the-invitation-said"); err == nil || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("an invitation's fingerprint was not checked: %v", err)
	}
	if known, _ := pins.Known("other:1"); known != "" {
		t.Errorf("a refused key was remembered: %s", known)
	}
}

// Whoever typed a line that some sender made would have had the key of a known server replaced by it, and its token sent to somebody else.
func TestAnInvitationReplacesNoKnownKey(t *testing.T) {
	far := httptest.NewUnstartedServer(http.NotFoundHandler())
	far.TLS = &tls.Config{MinVersion: tls.VersionTLS13}
	far.StartTLS()
	defer far.Close()
	host, shown := strings.TrimPrefix(far.URL, "https://"), Fingerprint(far.Certificate())
	for _, c := range []struct{ known, named, says, reason string }{
		{"SHA256:before", shown, "which did not announce it", InvitedKey},
		{"SHA256:before", "SHA256:third", "has changed from SHA256:before to " + shown, "key changed"},
		{shown, "SHA256:before", "by which this machine knows it", ""},
		{"", "SHA256:before", "has changed from SHA256:before to " + shown, "key changed"},
	} {
		pins := OpenPins(filepath.Join(t.TempDir(), "known_servers"))
		if c.known != "" {
			if err := pins.Pin(host, c.known); err != nil {
				t.Fatal(err)
			}
		}
		_, err := pins.Meet(t.Context(), Address{Host: host, Invite: "tdj_one", Fingerprint: c.named, Local: true})
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind != fault.Denied || !strings.Contains(f.Msg, c.says) || f.Data["reason"] != c.reason {
			t.Errorf("known %q, named %q: %v", c.known, c.named, err)
		}
		if known, err := pins.Known(host); known != c.known || err != nil {
			t.Errorf("known %q, named %q: known by %q now, %v", c.known, c.named, known, err)
		}
	}
}
