package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	inbox "tandem/internal/inbox/wire"
	"tandem/internal/models"
	"tandem/internal/provider/scripted"
	"tandem/internal/session"
	"tandem/internal/testenv"
)

// A turn of our own loop failed (a provider's 400), and whoever had walked away was never told: no row in the inbox, no line in events.log,
// while a terminal's failed turn told both. It is told like that one, and the row goes with the next turn.
func TestAFailedTurnOfOurOwnLoopIsTold(t *testing.T) {
	model := &scripted.Server{}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	k := keptAt(t, "")
	k.must("provider.add", models.ProviderAddIn{ID: "mine", Base: model.URL(), Wire: "anthropic", Keyless: true})
	s := k.must("session.create", session.CreateIn{Title: "fix it", Model: "mine/scripted-1"}).(*session.Session)
	prompt := func(text string) *session.Turn {
		turn := k.must("session.prompt", session.PromptIn{ID: s.ID, Text: text}).(*session.Turn)
		testenv.Eventually(t, "the turn ends", 2*time.Minute, func() bool {
			turn = k.must("session.turns", session.TurnIn{ID: s.ID, Turn: turn.ID}).(session.TurnsOut).Turns[0]
			return turn.State.Ended()
		})
		return turn
	}
	rows := func() (out []inbox.Row) {
		for _, r := range k.must("inbox.list", inbox.In{}).(inbox.Out).Rows {
			if r.Session == s.ID {
				out = append(out, r)
			}
		}
		return out
	}
	turn := prompt("[[err 400]]")
	if turn.State != session.Failed {
		t.Fatalf("the turn is %s", turn.State)
	}
	if got := rows(); len(got) != 1 || got[0].Kind != inbox.Ended || got[0].Name != "fix it" ||
		!strings.HasPrefix(got[0].What, "its turn failed: ") || !strings.HasPrefix(got[0].Next, "tandem session prompt "+s.ID) {
		t.Errorf("the inbox says %+v", got)
	}
	told := func() string {
		data, _ := os.ReadFile(filepath.Join(k.d.data, "events.log"))
		return string(data)
	}
	testenv.Eventually(t, "events.log says so", time.Minute, func() bool { return strings.Contains(told(), `"status":"failed"`) })
	prompt("[[say well then]]")
	if got := rows(); len(got) != 0 {
		t.Errorf("after the next turn the inbox says %+v", got)
	}
	if n := strings.Count(told(), `"status":"failed"`); n != 1 {
		t.Errorf("it was told %d times: %s", n, told())
	}
}
