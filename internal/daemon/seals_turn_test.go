package daemon

import (
	"fmt"
	"testing"
	"time"

	"tandem/internal/models"
	"tandem/internal/provider/scripted"
	"tandem/internal/session"
	"tandem/internal/testenv"
)

// scripted has sessions answered by a script.
func (w *ward) scripted() *scripted.Server {
	w.t.Helper()
	model := &scripted.Server{}
	w.must(model.Start("127.0.0.1:0"))
	w.t.Cleanup(func() { model.Close() })
	w.present("provider.add", models.ProviderAddIn{ID: "mine", Base: model.URL(), Wire: "anthropic", Keyless: true}, nil)
	return model
}

func (w *ward) until(id string, want ...session.TurnState) (turn session.Turn) {
	w.t.Helper()
	testenv.Eventually(w.t, fmt.Sprint("the turn is ", want), time.Minute, func() bool {
		w.must(w.Call(w.t.Context(), "session.turn", map[string]any{"turn": id}, &turn))
		for _, s := range want {
			if turn.State == s {
				return true
			}
		}
		return false
	})
	return turn
}
