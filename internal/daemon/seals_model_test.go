package daemon

import (
	"strings"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/memory/wire"
	"tandem/internal/models"
	"tandem/internal/session"
	"tandem/internal/testenv"
)

// What sessions are told that name no model went to another provider by a line of SQL, and without its row a token could say which.
func TestTheDefaultModelIsWhatWasChosen(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		for _, id := range []string{"mine", "theirs"} {
			w.present("provider.add", models.ProviderAddIn{ID: id, Base: "http://127.0.0.1:1/v1", Wire: "chat", Keyless: true}, nil)
		}
		made := func() (string, error) {
			var s session.Session
			err := w.Call(ctx, "session.create", map[string]any{"title": "x"}, &s)
			return s.Model, err
		}
		w.must(w.Call(ctx, "provider.default", models.DefaultIn{Model: "mine/a"}, nil)) // the first is no move
		w.again()
		if model, err := made(); err != nil || model != "mine/a" {
			t.Fatalf("%s %v", model, err)
		}
		if said := w.finds(); said != "" {
			t.Errorf("as it was chosen: %s", said)
		}
		for _, change := range []string{"UPDATE session_default SET model = 'theirs/a'", "UPDATE session_default SET model = ''",
			"DELETE FROM session_default"} {
			w.sql(change)
			_, err := made()
			w.refused("a session, after "+change, err, fault.Denied)
			if err := w.Call(ctx, "provider.default", models.DefaultIn{Model: "theirs/a"}, nil); err == nil {
				t.Errorf("after %s anybody says which", change)
			}
			w.told("the default model")
		}
		w.present("provider.default", models.DefaultIn{Model: "mine/b"}, nil)
		if model, err := made(); err != nil || model != "mine/b" || w.finds() != "" {
			t.Errorf("said anew: %s %v %s", model, err, w.finds())
		}
	})
}

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
