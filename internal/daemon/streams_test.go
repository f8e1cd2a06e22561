package daemon

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"tandem/internal/identity"
	"tandem/internal/op"
)

// A token that is revoked ends what was opened with it.
func TestAnOpenStreamEndsWithItsToken(t *testing.T) {
	d, base := walked(t)
	secret := mint(t, d, op.Agent, "builder")
	c, err := d.identity.Bearer(t.Context(), secret, op.DoorHTTP)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	open := map[string]io.Reader{}
	for _, path := range []string{"/event", "/global/event", "/resource/events"} {
		req, err := http.NewRequestWithContext(ctx, "GET", base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+secret)
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", path, resp.Status)
		}
		open[path] = resp.Body
	}
	if _, err := d.gate.Invoke(owner(t, d), "token.revoke", identity.TokenIn{ID: c.Token}); err != nil {
		t.Fatal(err)
	}
	for path, body := range open {
		if _, err := io.Copy(io.Discard, body); err != nil {
			t.Errorf("%s goes on: %v", path, err)
		}
	}
}
