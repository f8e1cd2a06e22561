package daemon

import (
	"os"
	"slices"
	"strings"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/provider"
)

// A server from before the journal vouched for providers, connectors and skipped permissions keeps those it has: they are adopted at the
// first start, and a person is asked to look. What appears after that is nobody's.
func TestRowsOfALateKindAreAdoptedOnce(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		added := func(id string) string {
			return "INSERT INTO session_provider (tenant, id, name, base, wire, keyless, model) VALUES ('local', '" + id +
				"', '', 'http://127.0.0.1:1', 'chat', 1, '')"
		}
		offered := func(id string) bool {
			t.Helper()
			var out struct{ Providers []struct{ ID, Base string } }
			w.must(w.Call(ctx, "provider.list", nil, &out))
			return slices.ContainsFunc(out.Providers, func(p struct{ ID, Base string }) bool { return p.ID == id && p.Base == "http://127.0.0.1:1" })
		}
		w.must(os.Remove(w.file("journal.kinds"))) // as the program before left it
		w.again(added("ours"),
			"INSERT INTO session_folder (tenant, path, read_only, granted_by, created_at) VALUES ('local', '/x', 0, 'owner', 1)")
		if !offered("ours") || w.journal.Waiting() != 1 {
			t.Fatalf("from before: offered %t, %d wait to be confirmed", offered("ours"), w.journal.Waiting())
		}
		w.told("the folder /x")
		w.confirm()
		w.again("DELETE FROM session_folder", added("theirs"))
		if !offered("ours") || offered("theirs") {
			t.Errorf("later: ours %t, theirs %t", offered("ours"), offered("theirs"))
		}
		w.told("the provider theirs")
	})
}

// A gateway under the name of a preset was the preset again after a change of its row: what was meant for it went to the public address.
func TestAnAddedProviderIsNeverThePresetOfItsName(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		w.present("provider.add", map[string]any{"id": "openai", "base": "http://127.0.0.1:1/v1", "wire": "chat", "keyless": true}, nil)
		asks := func() error {
			return w.rooms.models.Open(ctx, "local", "openai", func(provider.Model) error { return nil })
		}
		w.must(asks())
		for _, change := range []string{"UPDATE session_provider SET name = 'x'", "DELETE FROM session_provider"} {
			w.sql(change)
			if err := asks(); !fault.Is(err, fault.Denied) {
				t.Errorf("after %s: %v", change, err)
			}
		}
		w.present("provider.remove", map[string]any{"id": "openai"}, nil)
		if err := asks(); err == nil || !strings.Contains(err.Error(), "no key for OpenAI is stored") {
			t.Errorf("the preset: %v", err)
		}
	})
}
