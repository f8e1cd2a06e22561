package proof

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// Restore drills: a server comes back as it was "yesterday", with five agents on another
// machine that have gone on since. Four of them are still there and type what they type
// every day; the fifth is gone with what nobody else had. What was acknowledged is there
// again, or is named as lost.
//
// In make test the served folder alone is put back. With the database it takes longer, and what
// is lost is named only where somebody's watch had heard of it.
func TestRestoreDrills(t *testing.T) {
	drills := map[string]func(t *testing.T, s *server) drill{"server folder": folderDrill}
	if testenv.Soak() {
		drills["whole machine"], drills["PostgreSQL, point in time"] = machineDrill, postgresDrill
	}
	for name, kind := range drills {
		t.Run(name, func(t *testing.T) { runDrill(t, kind) })
	}
}

// drill is a way to lose a day.
type drill struct {
	keep    func() // yesterday: the server is stopped
	mark    func() // yesterday, while it runs again
	putBack func() // today: the server is stopped
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("copy %s: %v\n%s", from, err, out)
	}
}

func folderDrill(t *testing.T, s *server) drill {
	repo, copied := filepath.Join(s.home, "project"), filepath.Join(s.home, "yesterday")
	return drill{keep: func() { copyTree(t, repo, copied) }, mark: func() {}, putBack: func() { copyTree(t, copied, repo) }}
}

func machineDrill(t *testing.T, s *server) drill {
	folder := folderDrill(t, s)
	kept := filepath.Join(s.home, "yesterday-data")
	return drill{keep: func() { folder.keep(); copyTree(t, s.data, kept) }, mark: func() {},
		putBack: func() { folder.putBack(); copyTree(t, kept, s.data) }}
}

func runDrill(t *testing.T, kind func(*testing.T, *server) drill) {
	s := newServer(t)
	d := kind(t, s)
	f := newFleetOn(t, s, filepath.Join(s.home, "project"))
	f.join(5)
	each := max(1, testenv.Rounds(20))
	work := func(agents []*committer, from, to int) {
		t.Helper()
		for n := from; n < to; n++ {
			for _, a := range agents {
				if err := a.commit(n); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	work(f.agents, 0, each)
	s.stop()
	d.keep()
	s.start()
	d.mark()
	work(f.agents, each, 2*each)
	fifth, rest := f.agents[4], f.agents[:4]
	shared := len(fifth.safe)
	// The last thing of all is the fifth's, and nobody has seen it.
	if err := fifth.commit(2 * each); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(fifth.dir); err != nil {
		t.Fatal(err)
	}
	s.stop()
	d.putBack()
	s.start()
	began := time.Now()
	for _, a := range rest {
		for _, line := range [][]string{{"st"}, {"log"}} {
			if out, err := f.tandem(a.dir, line...); err != nil || strings.Contains(out, "warning") {
				t.Errorf("%s: tandem %s: %v\n%s", a.name, line[0], err, out)
			}
		}
	}
	took := time.Since(began)
	work(rest, 3*each, 3*each+1)
	var older struct {
		Lost     []struct{ Operation, Actor, Workspace, Heard string }
		Returned []struct{ Operations int }
	}
	if err := json.Unmarshal([]byte(s.must("repo", "older", "project", "--json")), &older); err != nil {
		t.Fatal(err)
	}
	back := 0
	for _, r := range older.Returned {
		back += r.Operations
	}
	f.agents = rest
	there := f.inRepo()
	f.sound()
	t.Logf("%d commits a day each; %d operations came back within %s of four agents' first commands", each, back, took.Round(time.Millisecond))
	t.Logf("%d commits that were called safe are there; of the fifth's %d the last is gone, %d states are named as lost",
		there, shared+1, len(older.Lost))
	if back == 0 || there != 4*(2*each+1) {
		t.Errorf("%d operations came back, %d commits are there", back, there)
	}
	if len(older.Lost) == 0 {
		t.Error("what nobody has is not named as lost")
	}
}

// postgresDrill keeps the rows in a PostgreSQL of its own and restores that from a base
// backup and its log, up to a point of yesterday; the served folder comes from a copy.
func postgresDrill(t *testing.T, s *server) drill {
	folder := folderDrill(t, s)
	p := testenv.NewCluster(t)
	s.env = append(s.env, "TANDEM_DATABASE="+p.Address())
	return drill{
		keep: func() {
			folder.keep()
			p.Run("pg_basebackup", "-h", p.Dir, "-U", "tandem", "-D", p.Dir+"/base", "-X", "stream")
		},
		mark: func() { p.SQL("SELECT pg_create_restore_point('yesterday')") },
		putBack: func() {
			folder.putBack()
			p.SQL("SELECT pg_switch_wal()")
			p.Restore("yesterday")
		},
	}
}
