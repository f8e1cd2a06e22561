package daemon

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/op"
	"tandem/internal/policy/book"
	"tandem/internal/session"
	relays "tandem/internal/session/relay"
	"tandem/internal/testenv"
)

// Through its own socket a session read other sessions' conversations and the audit log. It sees itself and what it opened: every
// operation is called with everything that others' sessions are known by, and nothing that they said, asked, hid or were called is in any
// answer, the streams' included. What it may not see is not found, and a person may grant more.
func TestASessionSeesItsOwn(t *testing.T) {
	d, _ := walked(t)
	const canary = "canary-of-another-session"
	people := owner(t, d)
	do := func(name string, in any) any {
		t.Helper()
		out, err := d.gate.Invoke(people, name, in)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return out
	}
	folder := filepath.Join(t.TempDir(), canary)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	do("folder.grant", session.FolderIn{Path: folder})
	other := do("session.create", session.CreateIn{Title: canary, Directory: folder}).(*session.Session)
	turn := do("session.prompt", session.PromptIn{ID: other.ID, Text: canary}).(*session.Turn)
	do("secret.set", map[string]any{"name": canary, "value": "0123456789abcdef-" + canary})
	do("policy.label", map[string]any{"resource": "folder:" + folder, "class": "confidential"})
	side := relays.Side{Agent: "model"}
	other2 := do("relay.start", relays.StartIn{Task: canary, Lead: side, Worker: side}).(*relays.Relay)

	mine := do("session.create", session.CreateIn{Title: "mine"}).(*session.Session)
	caller := func(id string) op.Caller {
		t.Helper()
		s, err := d.rooms.session.Get(t.Context(), mine.Tenant, id)
		if err != nil {
			t.Fatal(err)
		}
		c := s.Caller()
		c.Door = op.DoorSocket
		return c
	}
	me := caller(mine.ID)
	as := func(c op.Caller, name string, in any) (any, error) {
		return d.gate.Invoke(op.WithCaller(t.Context(), c), name, in)
	}
	kid, err := as(me, "session.create", session.CreateIn{Title: "opened by mine"})
	if err != nil {
		t.Fatal(err)
	}
	var calls sync.WaitGroup // some of them wait
	for _, o := range d.gate.Table().All() {
		if o.Public || o.Changes() && o.Class != op.ClassCall {
			continue
		}
		for _, id := range []string{other.ID, turn.ID, other2.ID, other2.Lead, "canary-of", "", "1", "5"} {
			calls.Go(func() {
				if said := call(d.gate, me, o, filled(o, id)); strings.Contains(said, canary) {
					t.Errorf("%s with %q shows a session what another has: %s", o.Name, id, said)
				}
			})
		}
	}
	calls.Wait()
	path, err := d.sockets.Open(func(context.Context) (op.Caller, error) { return me, nil }, mine.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{"/event?since_seq=0", "/sessions/" + other.ID + "/stream", "/session/" + other.ID + "/event",
		"/terminals/" + other.ID + "/watch", "/tlog/checkpoint"} {
		if said := streamed(t, path, place); strings.Contains(said, canary) || strings.Contains(said, "checkpoint") &&
			place == "/tlog/checkpoint" {
			t.Errorf("%s: %s", place, said)
		}
	}

	// It has itself and what it opened, and what a person grants.
	for _, id := range []string{mine.ID, kid.(*session.Session).ID} {
		if _, err := as(me, "session.messages", session.IDIn{ID: id}); err != nil {
			t.Errorf("its own: %v", err)
		}
	}
	if _, err := as(caller(kid.(*session.Session).ID), "session.messages", session.IDIn{ID: mine.ID}); err == nil {
		t.Error("one that was opened reads the one that opened it")
	}
	list, err := as(me, "session.list", session.ListIn{})
	if out, _ := json.Marshal(list); err != nil || !strings.Contains(string(out), "opened by mine") {
		t.Errorf("its list: %s %v", out, err)
	}
	do("grant.add", book.GrantIn{Principal: "session:" + mine.ID, Resource: "session:/" + other.ID, Permissions: []string{"read"}})
	if _, err := as(me, "session.messages", session.IDIn{ID: other.ID}); err != nil {
		t.Errorf("what a person granted: %v", err)
	}
}

// streams waits until a stream shows something, and is what it showed last.
func streams(t *testing.T, socket, path string, shows func(said string) bool) (said string, ok bool) {
	t.Helper()
	ok = testenv.Within(time.Minute, func() bool { said = streamed(t, socket, path); return shows(said) })
	return said, ok
}

// streamed is what a stream of a session's socket sends in half a second, once it answers.
func streamed(t *testing.T, socket, path string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dial := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	defer dial.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, "GET", "http://tandem"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := dial.RoundTrip(req)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer time.AfterFunc(500*time.Millisecond, cancel).Stop()
	defer resp.Body.Close()
	all, _ := io.ReadAll(resp.Body) // until its time is over
	return string(all)
}
