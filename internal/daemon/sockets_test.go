package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/op"
	remotewire "tandem/internal/remote/wire"
	"tandem/internal/settings"
)

// running is a daemon in this process, on its socket alone.
func running(t *testing.T) (*Daemon, *client.Client) {
	t.Helper()
	home := t.TempDir()
	s, err := settings.Load(nil, []string{"HOME=" + home})
	if err != nil {
		t.Fatal(err)
	}
	ready := make(chan *Daemon, 1)
	d := &Daemon{Settings: s, Version: "test", OnDemand: true, Console: &bytes.Buffer{}, Ready: func(d *Daemon) { ready <- d }}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the daemon ended with %v", err)
		}
	})
	select {
	case <-ready:
	case err := <-ended:
		ended <- nil
		t.Fatalf("the daemon did not start: %v", err)
	case <-time.After(20 * time.Second):
		t.Fatal("the daemon did not become ready")
	}
	return d, client.Socket(SocketPath(filepath.Join(home, ".tandem"), ""))
}

func TestASessionsSocketIsThatSessionAndNobodyElse(t *testing.T) {
	d, local := running(t)
	caller := op.Caller{Tenant: "local", Actor: "ses_1", Name: "ses_1", Kind: op.Session, For: []string{"agent:builder", "person:owner"},
		Door: op.DoorSocket, Session: "ses_1"}
	path, err := d.sockets.Open(func(context.Context) (op.Caller, error) { return caller, nil }, "ses_1")
	if err != nil {
		t.Fatal(err)
	}
	c := client.Socket(path)
	var who struct{ Name, Kind string }
	if err := c.Call(t.Context(), "actor.whoami", nil, &who); err != nil || who.Name != "ses_1" || who.Kind != "session" {
		t.Fatalf("whoami = %+v, %v", who, err)
	}
	// It cannot become somebody else by a header, nor stop the server, nor prove presence.
	for name, want := range map[string]fault.Kind{"server.stop": fault.Denied, "pin.set": fault.Denied, "signin.link": fault.Denied,
		"token.new": fault.Denied} {
		in := map[string]json.RawMessage{}
		switch name {
		case "pin.set":
			in["pin"] = json.RawMessage(`"123456789"`)
		case "token.new":
			in["actor"] = json.RawMessage(`"owner"`)
		}
		if err := c.WithPIN("123456").Call(t.Context(), name, in, nil); !fault.Is(err, want) && !fault.Is(err, fault.NotFound) {
			t.Errorf("%s by a session: %v, want %v", name, err, want)
		}
	}
	// Nor does it change as whom this machine works at a server that it has joined.
	if err := local.Call(t.Context(), "workspace.trust", remotewire.TrustIn{Server: "build.example.org:1",
		Token: "tdm_the-machines-own"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Call(t.Context(), "workspace.trust", remotewire.TrustIn{Server: "build.example.org:1",
		Token: "tdm_of-somebody-else"}, nil); !fault.Is(err,
		fault.Denied) {
		t.Errorf("a session changed the machine's token: %v", err)
	}
	if err := c.Call(t.Context(), "workspace.trust",
		remotewire.TrustIn{Server: "other.example.org:1", Token: "tdm_of-its-own-server"}, nil); err != nil {
		t.Errorf("a session at a server that nobody has joined: %v", err)
	}
	d.sockets.Close("ses_1")
	if err := c.Call(t.Context(), "actor.whoami", nil, nil); err == nil {
		t.Error("a closed session's socket still answers")
	}
}

func TestTheControlSocketGivesEverydayRightsOnly(t *testing.T) {
	_, c := running(t)
	if err := c.Call(t.Context(), "resource.put", map[string]any{"key": "a", "value": 1}, nil); err != nil {
		t.Errorf("an everyday call: %v", err)
	}
	if err := c.Call(t.Context(), "token.new", map[string]any{"actor": "owner", "decide": true, "expires_in_secs": 60}, nil); !fault.Is(err,
		fault.Denied) {
		t.Errorf("minting without presence: %v", err)
	}
	if err := c.WithPIN("wrong-one").Call(t.Context(), "token.new", map[string]any{"actor": "owner"}, nil); !fault.Is(err, fault.Denied) {
		t.Errorf("a PIN where none is set: %v", err)
	}
	// The first PIN is trusted on first use; the next one needs it.
	if err := c.Call(t.Context(), "pin.set", map[string]any{"pin": "246813"}, nil); err != nil {
		t.Fatalf("first PIN: %v", err)
	}
	if err := c.Call(t.Context(), "pin.set", map[string]any{"pin": "999999a"}, nil); !fault.Is(err, fault.Denied) {
		t.Errorf("a second PIN without the first: %v", err)
	}
	if err := c.WithPIN("246813").Call(t.Context(), "token.new", map[string]any{"actor": "owner", "decide": true, "expires_in_secs": 60},
		nil); err != nil {
		t.Errorf("minting with presence: %v", err)
	}
	// Wrong PINs are counted, and then everybody waits.
	var last error
	for range 5 {
		last = c.WithPIN("000000x").Call(t.Context(), "token.list", nil, nil)
	}
	if !fault.Is(last, fault.Exhausted) {
		t.Errorf("the fifth wrong PIN: %v, want a pause", last)
	}
	resp, err := c.Do(t.Context(), http.MethodGet, "/global/health", nil, nil)
	if err != nil {
		t.Fatalf("health: %v", err)
	}
	resp.Body.Close()
}
