package daemon

import (
	"strings"
	"testing"
	"time"

	"tandem/internal/memory/wire"
	"tandem/internal/models"
	"tandem/internal/provider/scripted"
	"tandem/internal/session"
	"tandem/internal/testenv"
)

// A session of our own loop begins with what the team remembers: quoted, once, within its budget, and only what it may read.
func TestOurOwnLoopBeginsWithABrief(t *testing.T) {
	model := &scripted.Server{}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	k := keptAt(t, "")
	k.must("provider.add", models.ProviderAddIn{ID: "mine", Base: model.URL(), Wire: "anthropic", Keyless: true})
	lesson := k.must("memory.add", wire.AddIn{Text: "The build needs the flag plainplover", Kind: wire.Lesson}).(wire.Changed)
	k.must("memory.add", wire.AddIn{Text: "Elsewhere it needs greyplover", Kind: wire.Lesson, Tier: wire.OfProject, Of: "elsewhere"})
	s := k.must("session.create", session.CreateIn{Title: "mend it", Model: "mine/scripted-1"}).(*session.Session)
	say := func(text string) string {
		turn := k.must("session.prompt", session.PromptIn{ID: s.ID, Text: text + " [[say well]]"}).(*session.Turn)
		testenv.Eventually(t, "the turn ends", 2*time.Minute, func() bool {
			return k.must("session.turns", session.TurnIn{ID: s.ID, Turn: turn.ID}).(session.TurnsOut).Turns[0].State == session.Done
		})
		all := model.Requests()
		return string(all[len(all)-1].Body)
	}
	first := say("first")
	for _, part := range []string{strings.TrimSpace(preface), lesson.ID, "lesson, stated, by ", "plainplover", "first [[say"} {
		if !strings.Contains(first, part) {
			t.Errorf("%q is not in %q", part, first)
		}
	}
	if strings.Contains(first, "greyplover") {
		t.Errorf("it is told of a project that it has nothing to do with: %q", first)
	}
	if second := say("second"); strings.Count(second, "plainplover") != 1 { // in the first message of the conversation
		t.Errorf("it is told twice: %q", second)
	}
	if rec := k.must("memory.show", wire.IDIn{ID: lesson.ID}).(wire.Record); rec.Uses != 1 {
		t.Errorf("uses: %d", rec.Uses)
	}
}
