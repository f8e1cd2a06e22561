package host

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/repo"
	"tandem/internal/testenv"
)

// A line of SQL gave a workspace or a bookmark to somebody else, leased a path, and let a change past a lease.
func TestARowGivesNothingAway(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { givesNothing(t, filepath.Join(t.TempDir(), "a.db")) })
	t.Run("postgres", func(t *testing.T) { givesNothing(t, testenv.Postgres(t)) })
}

func givesNothing(t *testing.T, dsn string) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	d, err := db.Open(t.Context(), dsn, nil)
	must(err)
	t.Cleanup(func() { d.Close() })
	_, err = d.Migrate(t.Context(), journal.Migrations, Migrations)
	must(err)
	key, err := journal.Key(filepath.Join(t.TempDir(), "journal.key"))
	must(err)
	j := journal.New(d, key)
	_, err = j.Recall(t.Context(), "")
	must(err)
	h, err := New(t.Context(), Config{DB: d, Journal: j})
	must(err)
	ann, bob := op.Caller{Actor: "act_ann", Name: "ann", Tenant: identity.LocalTenant}, op.Caller{Actor: "act_bob", Name: "bob"}
	s := &served{id: "repo_x", name: "project"}
	ctx := op.WithCaller(t.Context(), bob)
	sql := func(queries ...string) {
		t.Helper()
		for _, q := range queries {
			must(d.Write(ctx, func(tx *db.Tx) error { _, err := tx.Exec(q); return err }))
		}
	}

	// As tandem wrote it: ann has a workspace, a bookmark and a lease, and a person let one change of bob's past it.
	l := Lease{ID: "lease_a", Path: "src", Workspace: "anns", Holder: "ann", actor: ann.Actor, Until: d.Now().Add(time.Hour)}
	let := CrossFile{Path: "src/a", Lease: l.ID, Content: "1:aa"}
	key1 := refKey{"bookmark", "feat"}
	must(d.Write(ctx, func(tx *db.Tx) error {
		if err := h.give(tx, s, ann, map[string]author{"anns": {actor: ann.Actor, name: ann.Name}}); err != nil {
			return err
		}
		for _, q := range []string{"INSERT INTO repo_ref VALUES ('local', 'repo_x', 'bookmark', 'feat', 'act_ann', 'ann')",
			"INSERT INTO repo_crossing VALUES ('local', 'repo_x', 'lease_a', 'act_bob', 'src/a', '1:aa')"} {
			if _, err := tx.Exec(q); err != nil {
				return err
			}
		}
		if _, err := tx.Exec("INSERT INTO repo_lease VALUES ('local', 'repo_x', ?, ?, ?, ?, ?, ?, 0)", l.ID, l.Path, l.Workspace, l.actor,
			l.Holder, db.Micros(l.Until)); err != nil {
			return err
		}
		return h.vouch(tx, s, ann, []op.Sealed{author{actor: ann.Actor, name: ann.Name}.seal(s.id, key1), l.seal(s.id),
			passed{l.ID, bob.Actor, let.Path, let.Content}.seal(s.id)})
	}))
	owned := func() (o owner) {
		t.Helper()
		all, err := h.owners(ctx, s)
		must(err)
		judge := &judgement{s: s, owners: all, says: h.says}
		o, _ = judge.ownerOf("anns")
		return o
	}
	moves := func(c op.Caller) bool {
		t.Helper()
		judge := &judgement{ctx: op.WithCaller(ctx, c), s: s, says: h.says,
			refsOf: func() (map[refKey]author, error) { return h.refOwners(ctx, s) }}
		of, known, err := judge.refOwner(key1, repo.RefTarget{"x", "-", "y"})
		must(err)
		return judge.mine(of, known)
	}
	leases := func() int {
		t.Helper()
		all, err := h.leases(ctx, s)
		must(err)
		return len(all)
	}
	asks := func(files ...CrossFile) int {
		t.Helper()
		left, err := h.unlet(ctx, s, files)
		must(err)
		return len(left)
	}
	sound := func(when string) {
		t.Helper()
		j.Rows = []func(context.Context) ([]op.Sealed, error){func(ctx context.Context) ([]op.Sealed, error) { return Rows(ctx, d) }}
		found, err := j.Orphans(ctx)
		must(err)
		if len(found) > 0 {
			t.Errorf("%s: %v", when, found)
		}
	}
	other := CrossFile{Path: "src/a", Lease: l.ID, Content: "1:bb"}
	if o := owned(); o.forged || o.actor != ann.Actor || !moves(ann) || moves(bob) || leases() != 1 || asks(let) != 0 || asks(other) != 1 {
		t.Fatalf("as it was given: %+v %t %t %d %d %d", o, moves(ann), moves(bob), leases(), asks(let), asks(other))
	}
	sound("as it was given")

	// By a line of SQL.
	sql("UPDATE repo_workspace SET actor = 'act_bob', actor_name = 'bob'", "UPDATE repo_ref SET actor = 'act_bob', actor_name = 'bob'",
		"INSERT INTO repo_lease SELECT tenant, repo, 'lease_b', '**', workspace, actor, actor_name, until, 0 FROM repo_lease",
		"INSERT INTO repo_crossing VALUES ('local', 'repo_x', 'lease_a', 'act_bob', 'src/a', '1:bb')")
	if o := owned(); !o.forged {
		t.Errorf("the workspace is %+v", o)
	}
	if moves(bob) {
		t.Error("bob moves the bookmark")
	}
	if n := leases(); n != 1 {
		t.Errorf("%d leases hold", n)
	}
	if asks(other) != 1 {
		t.Error("a change passes the lease that nobody let")
	}
	if found, err := j.Orphans(ctx); err != nil || len(found) != 4 {
		t.Errorf("found are %v %v", found, err)
	}
	sql("DELETE FROM repo_workspace", "DELETE FROM repo_ref", "DELETE FROM repo_lease WHERE id = 'lease_b'",
		"DELETE FROM repo_crossing WHERE content = '1:bb'")
	if o := owned(); !o.forged || moves(bob) {
		t.Errorf("without its row, the workspace is %+v; bob moves the bookmark: %t", o, moves(bob))
	}
	if found, err := j.Orphans(ctx); err != nil || len(found) != 2 {
		t.Errorf("of rows that are gone, found are %v %v", found, err)
	}

	// What a lease says is not changed either, and it is not put back once it was released.
	for _, set := range []string{"path = 'lib'", "workspace = 'x'", "actor = 'act_bob'", "actor_name = 'bob'", "until = until + 1",
		"shared = 1"} {
		sql("CREATE TABLE was AS SELECT * FROM repo_lease", "UPDATE repo_lease SET "+set)
		if leases() != 0 {
			t.Errorf("with %s it holds", set)
		}
		sql("DELETE FROM repo_lease", "INSERT INTO repo_lease SELECT * FROM was", "DROP TABLE was")
	}
	must(d.Write(ctx, func(tx *db.Tx) error { return h.vouch(tx, s, ann, nil, l.seal(s.id)) }))
	if leases() != 0 {
		t.Error("a lease that was released holds again")
	}
}
