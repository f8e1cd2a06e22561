package daemon

import (
	"errors"
	"path/filepath"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/testenv"
)

// A copy from before keys were replaced is restored after it, and one from after it again: secrets open, and the journal verifies.
func TestACopyFromBeforeARotationIsRestored(t *testing.T) {
	k := keptAt(t, "")
	k.must("secret.set", obj{"name": "x", "value": "hunter2-hunter2"})
	folder := testenv.Dir(t)
	before, after := filepath.Join(folder, "before"), filepath.Join(folder, "after")
	k.must("server.backup", BackupIn{Path: before})
	for _, key := range []string{"journal", "secret", "tokens"} {
		k.must("server.rotate", obj{"key": key})
	}
	k.must("resource.put", obj{"key": "newer", "value": 1})
	k.must("server.backup", BackupIn{Path: after})
	for _, path := range []string{before, after, before} {
		k.must("server.restore", RestoreIn{Path: path})
		if err := <-k.ended; !errors.Is(err, ErrRestart) {
			t.Fatalf("the daemon ended with %v", err)
		}
		k.start()
		if err := k.d.rooms.secret.Lend(t.Context(), identity.LocalTenant, "x", func(v []byte) error {
			if string(v) != "hunter2-hunter2" {
				t.Errorf("%s: the secret is %q", filepath.Base(path), v)
			}
			return nil
		}); err != nil {
			t.Errorf("%s: the secret: %v", filepath.Base(path), err)
		}
		if rep, err := k.d.journal.Verify(t.Context(), nil); err != nil || !rep.OK {
			t.Errorf("%s: the journal: %+v, %v", filepath.Base(path), rep, err)
		}
		if _, err := k.do("resource.get", obj{"key": "newer"}); path == after && err != nil ||
			path == before && fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s: what came after: %v", filepath.Base(path), err)
		}
		k.must("secret.set", obj{"name": "y", "value": "another-another"})
	}
}
