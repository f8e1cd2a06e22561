package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/source/wire"
	"tandem/internal/testenv"
)

// A folder of the server's machine was bound, or let in, by a line of SQL, and read with the eyes of a person who never said so.
func TestAFolderIsBoundByAPersonAlone(t *testing.T) {
	wards(t, func(w *ward) {
		ctx, dir := t.Context(), testenv.Dir(w.t)
		w.must(os.WriteFile(filepath.Join(dir, "a.md"), []byte("The owl sleeps.\n"), 0o600))
		state := func(name string) wire.ShowOut {
			var out wire.ShowOut
			w.must(w.Call(ctx, "source.show", wire.NameIn{Name: name}, &out))
			return out
		}
		for _, name := range []string{"moved", "let-in", "kept"} {
			w.present("source.add", wire.AddIn{Name: name, From: wire.From{Folder: dir}}, nil)
		}
		if said := w.finds(); said != "" {
			t.Errorf("of what a person bound: %s", said)
		}
		other := testenv.Dir(w.t)
		w.sql("UPDATE source SET folder = '" + other + "' WHERE name = 'moved'")
		w.told("the source moved, which reads " + other)
		if err := w.WithPIN("246813").Call(ctx, "source.resume", wire.NameIn{Name: "moved"}, nil); !fault.Is(err, fault.Denied) {
			t.Errorf("a person lets in what another chose: %v", err)
		}
		w.again("UPDATE source SET state = 'active', wanted = 1 WHERE name <> 'kept'")
		for _, name := range []string{"moved", "let-in"} {
			testenv.Eventually(w.t, name+" is quarantined", time.Minute, func() bool { return state(name).State == wire.Quarantined })
			if s := state(name); s.Files != 0 || !strings.Contains(s.Reason, "changed in the database") {
				t.Errorf("%+v", s.Source)
			}
			w.present("source.revoke", wire.NameIn{Name: name}, nil)
		}
		if said := w.finds(); said != "" {
			t.Errorf("after they were revoked: %s", said)
		}
		if err := w.WithPIN("246813").Call(ctx, "source.resume", wire.NameIn{Name: "kept"}, nil); fault.Is(err, fault.Unavailable) {
			w.t.Skip(err)
		} else {
			w.must(err)
		}
		testenv.Eventually(w.t, "it is imported", time.Minute, func() bool { return !state("kept").ImportedAt.IsZero() })
		w.must(w.Call(ctx, "source.quarantine", wire.ReasonIn{Name: "kept"}, nil))
		if said := w.finds(); said != "" {
			t.Errorf("of what people did: %s", said)
		}
		w.sql("UPDATE source SET state = 'active' WHERE name = 'kept'")
		w.told("the source kept")
	})
}
