package daemon

import (
	"encoding/json"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/server/wire"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/provider"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
	"tandem/internal/settings"
	"tandem/internal/testenv"
)

// A session of tandem run is called by its prompt, which so went through somebody else's server. ntfy is told a name that somebody gave,
// else the session's id; the webhook is one's own, and told the title. A provider's refusal is told at the first try, and once.
func TestNtfyIsNotToldThePrompt(t *testing.T) {
	all := &ears{}
	srv := httptest.NewServer(all)
	defer srv.Close()
	s, err := settings.Load(map[string]string{"data": filepath.Join(testenv.Dir(t), "data"), "secret_keeper": "file", "listen": "127.0.0.1:0",
		"done_webhook": srv.URL + "/hook", "ntfy_server": srv.URL, "ntfy_topic": "topic"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	k := &kept{t: t, settings: s}
	k.start()
	t.Cleanup(func() { k.stop() })
	out, err := k.d.gate.Invoke(k.ctx(), "session.create", session.CreateIn{Title: "move the payroll of Smi…"})
	if err != nil {
		t.Fatal(err)
	}
	one := out.(*session.Session)
	out, err = k.d.gate.Invoke(k.ctx(), "session.prompt", session.PromptIn{ID: one.ID, Text: "move the payroll of Smith & Co"})
	if err != nil {
		t.Fatal(err)
	}
	turn := out.(*session.Turn)
	testenv.Eventually(t, "the turn ends", 30*time.Second, func() bool {
		turn, err = k.d.rooms.session.Turn(t.Context(), one.Tenant, turn.ID)
		return err != nil || turn.State.Ended()
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.d.gate.Invoke(op.WithCaller(t.Context(), one.Caller()), "session.tool", terminal.UseIn{Session: one.ID, Tool: "Bash",
		Input: json.RawMessage(`{"command":"make"}`), Folder: t.TempDir()}); !fault.Is(err, fault.Pending) {
		t.Fatal(err)
	}
	err = k.d.db.Write(t.Context(), func(tx *db.Tx) error {
		for try := range int64(3) {
			refused := session.Retry{Failure: string(provider.RateLimited), Reason: "too many", Attempt: try + 1, Seconds: 2}
			if err := k.d.rooms.session.Retried(tx, one, turn, refused); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ way, word string }{{"/topic", "needs an approval"}, {"/topic", "is rate-limited"}, {"/hook", "too many"}} {
		testenv.Eventually(t, c.way+" is told "+c.word, 30*time.Second, func() bool { return len(all.about(c.way, c.word)) > 0 })
	}
	if n := len(all.about("/topic", "is rate-limited")); n != 1 {
		t.Errorf("three tries, and %d pushes", n)
	}
	for _, push := range all.about("/topic", "") {
		if strings.Contains(push.title+push.body, "payroll") || !strings.Contains(push.title, "session ses_") {
			t.Errorf("ntfy was told %+v", push)
		}
	}
	if len(all.about("/hook", "payroll")) == 0 {
		t.Error("the webhook was not told the title")
	}
	st, err := k.d.status(k.ctx(), nothing{})
	hook := wire.Told{Way: "webhook", Env: "TANDEM_DONE_WEBHOOK", Ends: true}
	if err != nil || len(st.Told) < 3 || st.Told[1] != hook || st.Told[2].Way != "ntfy" {
		t.Errorf("people are told by %+v, %v", st.Told, err)
	}
}
