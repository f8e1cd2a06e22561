package owner

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/testenv"
)

func TestWhatIsKnownOfAnotherServer(t *testing.T) {
	now := time.Unix(1000, 0)
	held, over := now.Add(time.Second), now
	for _, c := range []struct {
		name   string
		s      Server
		inside bool
		gone   bool
		want   verdict
	}{
		{"a crash on this folder, seen at once", Server{Place: "here", Folder: "/a", Until: held}, false, false, dead},
		{"the process is gone", Server{Place: "here", Folder: "/b", Until: held}, false, true, dead},
		{"a copied folder on this machine", Server{Place: "here", Folder: "/b", Until: held}, false, false, lives},
		{"it sleeps, and its lease has ended", Server{Place: "here", Folder: "/b", Until: over}, false, false, dead},
		{"another machine", Server{Place: "there", Folder: "/a", Until: held}, false, true, unsure},
		{"another machine, long ago by our clock", Server{Place: "there", Folder: "/a", Until: over}, false, false, unsure},
		{"nothing tells where", Server{Folder: "/a", Until: held}, false, true, unsure},
		{"a file of this folder", Server{Place: "there", Folder: "/b"}, true, false, dead},
		{"a file that another daemon here has", Server{Place: "here", Folder: "/b"}, false, false, lives},
		{"a file that a daemon elsewhere had", Server{Place: "there", Folder: "/b"}, false, false, dead},
	} {
		claim := &Claim{Folder: "/a", Inside: c.inside, Lease: Lease, Gone: func(int) bool { return c.gone }, place: "here"}
		if got := claim.judge(c.s, now); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func exam(t *testing.T, test func(t *testing.T, d, other *db.DB)) {
	for name, dsn := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "a.db") },
		"postgres": func(t *testing.T) string { return testenv.Postgres(t) },
	} {
		t.Run(name, func(t *testing.T) {
			at, all := dsn(t), [2]*db.DB{}
			for i := range all {
				d, err := db.Open(t.Context(), at, nil)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { d.Close() })
				if _, err := d.Migrate(t.Context(), Migrations); err != nil {
					t.Fatal(err)
				}
				all[i] = d
			}
			test(t, all[0], all[1])
		})
	}
}

func claim(t *testing.T, d *db.DB, folder string, gone bool) (*Held, error) {
	t.Helper()
	c := &Claim{Installation: "ins_x", Folder: folder, Lease: Lease, Gone: func(int) bool { return gone }}
	if err := c.Wait(t.Context(), d, func(Server) {}); err != nil {
		return nil, err
	}
	return c.Take(t.Context(), d)
}

func put(t *testing.T, d *db.DB) error {
	return d.Write(t.Context(), func(tx *db.Tx) error { _, err := tx.Exec("UPDATE server SET host = host"); return err })
}

// One lives; a second one is refused and hears who it is. Dead, it is taken over from at once; and when it was not dead it writes no more.
func TestOneServerLivesOnADatabase(t *testing.T) {
	exam(t, func(t *testing.T, d, other *db.DB) {
		a, err := claim(t, d, "/a", false)
		if err != nil {
			t.Fatal(err)
		}
		lost := make(chan error, 1)
		a.Keep(t.Context(), func(err error) { lost <- err }, func(err error) { t.Error(err) })
		if _, err := claim(t, other, "/b", false); fault.KindOf(err) != fault.Conflict {
			t.Fatalf("a second one: %v", err)
		}
		b, err := claim(t, other, "/b", true)
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Before) != 1 || b.Before[0].ID != a.ID || b.Fence != a.Fence+1 {
			t.Errorf("it took over from %v with fence %d", b.Before, b.Fence)
		}
		b.Keep(t.Context(), func(err error) { t.Error(err) }, func(err error) { t.Error(err) })
		if err := put(t, d); !errors.Is(err, db.ErrFenced) {
			t.Errorf("the first one wrote on: %v", err)
		}
		if err := <-lost; fault.KindOf(err) != fault.Unavailable {
			t.Errorf("it was told: %v", err)
		}
		if err := put(t, other); err != nil {
			t.Error(err)
		}
		if err := errors.Join(a.End(t.Context()), b.End(t.Context())); err != nil {
			t.Fatal(err)
		}
		if living, err := Living(t.Context(), d); err != nil || len(living) > 0 {
			t.Errorf("after both ended: %v, %v", living, err)
		}
	})
}

// Of a server on another machine only its lease is seen: one that renews it is refused to follow, one that does not is followed, whatever
// the clocks say.
func TestALeaseIsWatched(t *testing.T) {
	s := Server{ID: "srv_a", Place: "there", Until: time.Now().Add(-time.Hour)} // its clock, or ours, is wrong
	c := &Claim{Lease: time.Minute, place: "here", watched: map[string]sight{}}
	for range 2 {
		if c.weigh(s, time.Now()) != unsure {
			t.Error("at first nothing is known")
		}
	}
	c.watched[s.ID] = sight{s.Renewed, time.Now().Add(-2 * time.Minute)}
	if c.weigh(s, time.Now()) != dead {
		t.Error("it did not renew its lease, and still lives")
	}
	s.Renewed++
	if c.weigh(s, time.Now()) != lives {
		t.Error("it renewed its lease, and does not live")
	}
}

// Servers that say the same cluster live beside each other; others are refused and hear what to do. One that died is ended by a fellow,
// and what it left is settled once, by the oldest.
func TestServersOfOneClusterLiveTogether(t *testing.T) {
	at, all := testenv.Postgres(t), [3]*db.DB{}
	for i := range all {
		d, err := db.Open(t.Context(), at, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		all[i] = d
	}
	if _, err := all[0].Migrate(t.Context(), Migrations); err != nil {
		t.Fatal(err)
	}
	start := func(d *db.DB, cluster, home string) (*Held, error) {
		c := &Claim{Installation: "ins_x", Folder: "/" + home, Lease: Lease, Cluster: cluster, Home: home,
			Gone: func(int) bool { return false }}
		if err := c.Wait(t.Context(), d, func(Server) {}); err != nil {
			return nil, err
		}
		return c.Take(t.Context(), d)
	}
	a, err := start(all[0], "team", "")
	if err != nil || !a.Elder {
		t.Fatal(a, err)
	}
	for cluster, next := range map[string]string{"": "--cluster team", "others": "--cluster team"} {
		if _, err := start(all[1], cluster, "b"); fault.KindOf(err) != fault.Conflict || !strings.Contains(fault.Public(err).Next, next) {
			t.Errorf("of the cluster %q: %v", cluster, err)
		}
	}
	b, err := start(all[1], "team", "b")
	if err != nil || b.Elder || len(b.Before) != 0 {
		t.Fatal(b, err)
	}
	who, err := a.Others(t.Context())
	if err != nil || !who.Living[a.ID] || !who.Living[b.ID] || !who.Far[b.ID] || who.Far[a.ID] {
		t.Fatalf("%v, %v", who, err)
	}
	if found, ok, err := At(t.Context(), all[0], "b"); err != nil || !ok || found.ID != b.ID {
		t.Errorf("home b is at %v, %v, %v", found, ok, err)
	}
	b.Keep(t.Context(), func(error) {}, func(err error) { t.Error(err) })
	settled := 0
	settle := func(_ context.Context, left []Server) error { settled += len(left); return nil }
	if _, err := start(all[2], "team", "c"); err != nil {
		t.Fatal(err)
	}
	a.claim.Gone = func(int) bool { return true } // both of them
	for range 2 {
		if err := a.look(t.Context(), settle); err != nil {
			t.Fatal(err)
		}
	}
	if settled != 2 {
		t.Errorf("settled %d times", settled)
	}
	if err := put(t, all[1]); !errors.Is(err, db.ErrFenced) {
		t.Errorf("one that was ended wrote on: %v", err)
	}
	if living, err := Living(t.Context(), all[0]); err != nil || len(living) != 1 || living[0].ID != a.ID {
		t.Errorf("%v, %v", living, err)
	}
}
