package daemon

import (
	"strings"
	"testing"
	"time"

	"tandem/internal/memory/wire"
	"tandem/internal/models"
	"tandem/internal/testenv"
)

// Everything that a team remembers was sent to whoever a line of SQL named.
func TestAModelReadsMemoryByAPersonsWordAlone(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		state := func() (out wire.ModelOut) {
			w.must(w.Call(ctx, "memory.model", wire.ModelIn{}, &out))
			return out
		}
		w.present("provider.add", models.ProviderAddIn{ID: "mine", Base: "http://127.0.0.1:1/v1", Wire: "chat", Keyless: true}, nil)
		w.present("memory.model_set", wire.ModelSetIn{Endpoint: "mine/vectors"}, nil)
		testenv.Eventually(w.t, "it was tried", time.Minute, func() bool { return state().State == wire.ModelFailed })
		if said := w.finds(); said != "" {
			t.Errorf("of what a person chose: %s", said)
		}
		w.sql("UPDATE memory_model SET ref = 'openai/theirs', problem = ''")
		w.told("the model that reads what is remembered, openai/theirs")
		if s := state(); s.State != wire.ModelFailed || !strings.Contains(s.Problem, "changed in the database") {
			t.Errorf("%+v", s)
		}
		w.present("memory.model_clear", wire.ModelIn{}, nil)
		if said := w.finds(); said != "" {
			t.Errorf("after it was taken away: %s", said)
		}
	})
}
