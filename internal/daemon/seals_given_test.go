package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/fault"
)

// A folder was granted to sessions by a line of SQL, and audit verify called the journal sound: what is given to sessions counts like
// everything else that confers authority.
func TestAFolderIsGrantedByAPersonAlone(t *testing.T) {
	wards(t, func(w *ward) {
		ctx, dir, other := t.Context(), t.TempDir(), t.TempDir()
		var out struct{ Folders []struct{ Path string } }
		folders := func() string {
			t.Helper()
			w.must(w.Call(ctx, "folder.list", nil, &out))
			var all []string
			for _, f := range out.Folders {
				all = append(all, f.Path)
			}
			return strings.Join(all, " ")
		}
		w.present("folder.grant", map[string]any{"path": dir, "read_only": true}, nil)
		w.sql("INSERT INTO session_folder (tenant, path, read_only, granted_by, created_at) VALUES ('local', '" + other + "', 0, 'owner', 1)")
		if got := folders(); got != dir {
			t.Errorf("granted are %s", got)
		}
		w.told("the folder " + other + ", granted to sessions for reading and changing")
		w.again("DELETE FROM session_folder WHERE path = '" + other + "'")
		if got := folders(); got != dir || w.finds() != "" {
			t.Errorf("after a start %s is granted: %s", got, w.finds())
		}
		w.sql("UPDATE session_folder SET read_only = 0")
		if got := folders(); got != "" {
			t.Errorf("a folder that was granted for reading is granted as %+v", out.Folders)
		}
		w.sql("DELETE FROM session_folder")
		w.told("vouches for the folder " + dir)
		w.must(w.Call(ctx, "folder.revoke", map[string]any{"path": dir}, nil))
		if said := w.finds(); said != "" {
			t.Errorf("after it was taken back: %s", said)
		}
		var s struct{ ID string }
		w.must(w.Call(ctx, "session.create", map[string]any{"title": "x"}, &s))
		w.sql("INSERT INTO session_unconfined (tenant, session, granted_by, created_at) VALUES ('local', '" + s.ID + "', 'owner', 1)")
		w.told("the commands of " + s.ID + " run without a sandbox")
	})
}

// A row let every agent program in a folder run whatever it likes without asking anybody, and audit verify called the journal sound:
// where permissions are skipped is a grant like others.
func TestPermissionsAreSkippedByAPersonAlone(t *testing.T) {
	wards(t, func(w *ward) {
		ctx, dir := t.Context(), filepath.Join(w.home, "project")
		w.must(os.Mkdir(dir, 0o700))
		var out struct{ Skips []struct{ ID, Folder string } }
		standing := func() int {
			t.Helper()
			w.must(w.Call(ctx, "session.skips", nil, &out))
			return len(out.Skips)
		}
		forged := func(id string) string {
			return "INSERT INTO terminal_skip (tenant, id, folder, owner, asker, created_at, expires_at, revoked_at) VALUES ('local', '" + id +
				"', '" + dir + "', 'owner', 'owner', 1, 9000000000000000, 0)"
		}
		w.sql(forged("skp_forged"))
		if standing() != 0 {
			t.Errorf("a row lets sessions skip their permissions: %+v", out)
		}
		w.told("that sessions in " + dir + " skip their permissions")
		w.again("DELETE FROM terminal_skip")

		w.present("session.skip", map[string]any{"folder": dir}, nil)
		if standing() != 1 || w.finds() != "" {
			t.Fatalf("granted by a person: %+v, %s", out, w.finds())
		}
		id := out.Skips[0].ID
		w.again()
		if standing() != 1 || w.finds() != "" {
			t.Fatalf("after a start: %+v, %s", out, w.finds())
		}
		w.sql("UPDATE terminal_skip SET folder = '/'")
		if standing() != 0 {
			t.Errorf("a row was made wider: %+v", out)
		}
		w.told("says something else")
		w.sql("UPDATE terminal_skip SET folder = '" + dir + "'")
		w.must(w.Call(ctx, "session.unskip", map[string]any{"id": id}, nil))
		w.sql("UPDATE terminal_skip SET revoked_at = 0")
		if standing() != 0 {
			t.Errorf("one that was taken back came back: %+v", out)
		}
		w.told("that sessions in " + dir + " skip their permissions")
		w.again("DELETE FROM terminal_skip")
		if said := w.finds(); said != "" {
			t.Errorf("after it was taken back: %s", said)
		}
	})
}

// A line of SQL gave a provider another address, and its sealed key was sent there with the next turn.
func TestAProviderIsWhereAPersonPutIt(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		add := map[string]any{"id": "ours", "base": "http://127.0.0.1:1", "wire": "chat"}
		w.present("provider.add", add, nil)
		base := func() string {
			t.Helper()
			var out struct{ Providers []struct{ ID, Base string } }
			w.must(w.Call(ctx, "provider.list", nil, &out))
			for _, p := range out.Providers {
				if p.ID == "ours" {
					return p.Base
				}
			}
			return ""
		}
		if got := base(); got != "http://127.0.0.1:1" || w.finds() != "" {
			t.Fatalf("it is at %q: %s", got, w.finds())
		}
		w.sql("UPDATE session_provider SET base = 'http://127.0.0.1:2'")
		if got := base(); got != "" {
			t.Errorf("a row moved it to %s", got)
		}
		w.told("the provider ours at http://127.0.0.1:2")
		w.again("DELETE FROM session_provider")
		w.told("vouches for the provider ours")
		w.present("provider.remove", map[string]any{"id": "ours"}, nil)
		if said := w.finds(); said != "" {
			t.Errorf("after it was removed: %s", said)
		}
		w.present("provider.add", add, nil)
		w.again()
		if got := base(); got != "http://127.0.0.1:1" || w.finds() != "" {
			t.Errorf("added anew it is at %q: %s", got, w.finds())
		}
	})
}

// Somebody made this user's terminal a person in the database, and locked it out: the one who could have mended it, too.
func TestTheTerminalIsWhatTheProgramKnows(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		for _, how := range []string{"UPDATE actor SET kind = 'person' WHERE id = 'act_local'",
			"UPDATE actor SET name = 'nobody', acts_for = '' WHERE id = 'act_local'",
			"UPDATE actor SET disabled_at = 5 WHERE id IN ('act_owner', 'act_api')"} {
			w.sql(how)
			var me struct{ Name, Kind string }
			w.must(w.Call(ctx, "actor.whoami", nil, &me))
			if me.Name != "local" || me.Kind != "local" {
				t.Errorf("after %s it is %+v", how, me)
			}
			w.must(w.Call(ctx, "signin.link", nil, nil))
			if err := w.Call(ctx, "approval.decide", map[string]any{"id": "x", "verdict": "approve"}, nil); fault.Is(err, fault.NotFound) {
				t.Errorf("after %s it decides: %v", how, err)
			}
			w.told("in the database")
			var found struct {
				Findings []struct{ Name, Detail, Mend string }
			}
			w.must(w.Call(ctx, "server.findings", nil, &found))
			if len(found.Findings) == 0 || found.Findings[0].Name != "authority" || !strings.Contains(found.Findings[0].Mend, "audit confirm") {
				t.Errorf("the doctor says %+v", found.Findings)
			}
			w.confirm()
			if said := w.finds(); said != "" {
				t.Errorf("after a person mended it: %s", said)
			}
		}
		w.again("DELETE FROM actor WHERE id = 'act_local'")
		w.must(w.Call(ctx, "actor.whoami", nil, nil))
	})
}

// The row of a sign-in that had run out was deleted by hand, and audit verify missed it for ever.
func TestWhatWouldHaveEndedIsNotMissed(t *testing.T) {
	var by atomic.Int64
	moved = func() time.Time { return time.Now().Add(time.Duration(by.Load())) }
	t.Cleanup(func() { moved = nil })
	w := newWard(t, "")
	w.must(w.Call(t.Context(), "signin.link", nil, nil))
	w.sql("DELETE FROM signin")
	w.told("vouches for the signin")
	by.Store(int64(31 * 24 * time.Hour))
	w.again()
	if said := w.finds(); said != "" {
		t.Errorf("a month later: %s", said)
	}
}
