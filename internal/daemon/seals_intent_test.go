package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"tandem/internal/testenv"
)

// A line of SQL was taken for an effect that a crash had cut off, and finished at the next start: a file was written as whoever the line
// named, though nobody had called, policy was not asked and nobody approved.
func TestAnEffectIsFinishedOnlyIfItWasBegun(t *testing.T) {
	wards(t, func(w *ward) {
		dir := testenv.Dir(t)
		w.present("folder.grant", map[string]any{"path": dir}, nil)
		at := filepath.Join(dir, "made.txt")
		input, err := json.Marshal(map[string]any{"args": map[string]any{"path": at, "content": "by nobody"}})
		w.must(err)
		w.again(fmt.Sprintf(`INSERT INTO gate_intent (seq, tenant, op, caller, input, key, server) VALUES (1, 'local', 'tool.write',
			'{"tenant":"local","actor":"act_local","name":"local","kind":"local","door":"socket"}', '%s', '', '')`, input))
		if text, err := os.ReadFile(at); err == nil {
			t.Errorf("a line of SQL wrote a file: %s", text)
		}
		var left int
		w.must(w.db.QueryRow(t.Context(), "SELECT count(*) FROM gate_intent").Scan(&left))
		if left != 0 {
			t.Errorf("%d such lines are left for the next start", left)
		}
		var page struct {
			Entries []struct{ Type, Phase, Actor string }
		}
		w.present("audit.log", map[string]any{"type": "gate.intent"}, &page)
		if len(page.Entries) != 1 || page.Entries[0].Phase != "unknown" || page.Entries[0].Actor == "local" {
			t.Errorf("the journal says: %+v", page.Entries)
		}
		w.sound("after a line that was not taken")
	})
}
