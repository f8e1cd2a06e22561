package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/inbox/wire"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
	"tandem/internal/settings"
	"tandem/internal/testenv"
)

// ears are ntfy and a webhook at once.
type ears struct {
	mu    sync.Mutex
	heard []heardOf
}

type heardOf struct {
	path, title, click, body string
	at                       time.Time
}

func (e *ears) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, heardOf{r.URL.Path, r.Header.Get("Title"), r.Header.Get("Click"), string(body), time.Now()})
}

// about are the notices on a way that have a word in them.
func (e *ears) about(path, word string) (out []heardOf) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, h := range e.heard {
		if h.path == path && strings.Contains(h.title+h.body, word) {
			out = append(out, h)
		}
	}
	return out
}

// Eight asks of eight sessions, with a webhook and ntfy configured, and nobody was told. Each is told on every way within a second,
// by the session's name; ntfy is told no more than that, and no link that leads nowhere. After a restart nothing is told again.
func TestEveryAskIsToldAtOnce(t *testing.T) {
	all := &ears{}
	srv := httptest.NewServer(all)
	defer srv.Close()
	data := filepath.Join(testenv.Dir(t), "data")
	s, err := settings.Load(map[string]string{"data": data, "secret_keeper": "file", "listen": "127.0.0.1:0",
		"done_webhook": srv.URL + "/hook",
		"ntfy_server":  srv.URL, "ntfy_topic": "topic"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	k := &kept{t: t, settings: s}
	k.start()
	t.Cleanup(func() { k.stop() })
	folder := t.TempDir()
	var sessions []*session.Session
	for i := range 8 {
		out, err := k.d.gate.Invoke(k.ctx(), "session.create", session.CreateIn{Title: fmt.Sprintf("agent-%d", i)})
		if err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, out.(*session.Session))
	}
	ask := func(i int) {
		t.Helper()
		input, _ := json.Marshal(map[string]string{"command": fmt.Sprintf("rm -rf secret-%d", i)})
		_, err := k.d.gate.Invoke(op.WithCaller(t.Context(), sessions[i].Caller()), "session.tool",
			terminal.UseIn{Session: sessions[i].ID, Tool: "Bash", Input: input, Folder: folder})
		if !fault.Is(err, fault.Pending) {
			t.Fatalf("agent-%d: %v", i, err)
		}
	}
	for i, name := range []string{"agent-0", "agent-1", "agent-2", "agent-3", "agent-4", "agent-5", "agent-6", "agent-7"} {
		began := time.Now()
		ask(i)
		for _, way := range []string{"/hook", "/topic"} {
			var got []heardOf
			testenv.Eventually(t, way+": somebody is told of "+name, 30*time.Second, func() bool {
				got = all.about(way, name)
				return len(got) > 0
			})
			if late := got[0].at.Sub(began); late > time.Second {
				t.Errorf("%s was told of %s after %s", way, name, late)
			}
		}
		push := all.about("/topic", name)[0]
		if push.title != "tandem: "+name+" needs an approval" || push.click != "" || strings.Contains(push.body, "secret") ||
			!strings.Contains(push.body, "phone set --address") {
			t.Errorf("ntfy was told %+v", push)
		}
		if hook := all.about("/hook", name)[0]; !strings.Contains(hook.body, fmt.Sprintf("secret-%d", i)) ||
			!strings.Contains(hook.body, "tandem approvals approve ask_") {
			t.Errorf("the webhook was told %s", hook.body)
		}
	}
	testenv.Eventually(t, "what was told is settled: a stop in between would tell it again", 30*time.Second, func() bool {
		var left int
		return k.d.db.QueryRow(t.Context(), "SELECT count(*) FROM notice_way").Scan(&left) == nil && left == 0
	})
	if err := k.stop(); err != nil {
		t.Fatal(err)
	}
	k.start()
	for i := range sessions {
		ask(i) // the same call finds the ask that stands
	}
	if _, err := k.d.gate.Invoke(op.WithCaller(t.Context(), sessions[0].Caller()), "session.tool",
		terminal.UseIn{Session: sessions[0].ID, Tool: "Bash", Input: json.RawMessage(`{"command":"the last one"}`),
			Folder: folder}); !fault.Is(err, fault.Pending) {
		t.Fatal(err)
	}
	var log []byte
	testenv.Eventually(t, "everybody is told after the restart", 30*time.Second, func() bool {
		log, err = os.ReadFile(filepath.Join(data, "events.log"))
		return len(all.about("/hook", "the last one")) > 0 && len(all.about("/topic", "agent-0")) >= 2 &&
			bytes.Contains(log, []byte("the last one"))
	})
	if hooks, pushes := len(all.about("/hook", "")), len(all.about("/topic", "")); hooks != 9 || pushes != 9 {
		t.Errorf("nine asks, and %d calls of the webhook and %d pushes", hooks, pushes)
	}
	if n := strings.Count(string(log), `"type":"ask","status":"waits"`); err != nil || n != 9 || strings.Contains(string(log), `"id":"ses_`) {
		t.Errorf("%d lines of asks in events.log (%v):\n%s", n, err, log)
	}
}

// A name of this machine alone leads nowhere from a phone; the address that a person named, or one beyond this machine, does.
func TestAPushLinksWhereAPhoneGets(t *testing.T) {
	for _, c := range []struct {
		flags map[string]string
		want  string
	}{
		{map[string]string{}, ""},
		{map[string]string{"panel_address": "https://house.example:39731/"}, "https://house.example:39731"},
		{map[string]string{"panel_public": "1"}, ""},
		{map[string]string{"panel_public": "1", "hosts": "house.example"}, "https://house.example:39731"},
	} {
		c.flags["data"] = t.TempDir()
		s, err := settings.Load(c.flags, nil)
		if err != nil {
			t.Fatal(err)
		}
		d := &Daemon{Settings: s, listens: []string{"127.0.0.1:39731"}}
		if s.Given("hosts") {
			d.listens = append(d.listens, "192.0.2.7:39731")
		}
		if got := d.phoneURL(); got != c.want {
			t.Errorf("%v: %q, not %q", c.flags, got, c.want)
		}
	}
}

// A session may prompt a session that it opened, and so could have answered its question in a person's stead.
func TestNoSessionAnswersItsOwnQuestions(t *testing.T) {
	d, _ := walked(t)
	create := func(ctx context.Context, title string) *session.Session {
		t.Helper()
		out, err := d.gate.Invoke(ctx, "session.create", session.CreateIn{Title: title})
		if err != nil {
			t.Fatal(err)
		}
		return out.(*session.Session)
	}
	as := func(id string) context.Context {
		t.Helper()
		s, err := d.rooms.session.Get(t.Context(), identity.LocalTenant, id)
		if err != nil {
			t.Fatal(err)
		}
		return op.WithCaller(t.Context(), s.Caller())
	}
	parent := create(owner(t, d), "parent")
	child := create(as(parent.ID), "child")
	err := d.db.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec("INSERT INTO session_question (tenant, id, session, turn, call, questions, state, answer, created_at) VALUES "+
			"(?, ?, ?, ?, ?, ?, ?, ?, ?)",
			identity.LocalTenant, "que_1", child.ID, "trn_1", "cal_1", `[{"question":"Which?","options":[{"label":"It's this"}]}]`, "pending", "",
			tx.Now())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, ctx := range map[string]context.Context{"the one that opened it": as(parent.ID), "itself": as(child.ID)} {
		if _, err := d.gate.Invoke(ctx, "question.answer", session.AnswerIn{ID: "que_1", Answer: "yes"}); !fault.Is(err, fault.Denied) {
			t.Errorf("%s: %v", name, err)
		}
	}
	waits, err := op.Do(owner(t, d), d.gate, wire.List, wire.In{Kind: wire.Question})
	if err != nil || len(waits.Rows) != 1 || waits.Rows[0].Name != "child" ||
		waits.Rows[0].Next != `tandem session answer que_1 'It'\''s this'` {
		t.Errorf("a person sees %+v, %v", waits, err)
	}
}
