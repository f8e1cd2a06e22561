package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/repo/host"
)

// Whoever wrote to the database leased paths in somebody else's workspace, and in everybody's way. Pushes are in the script repo_sealed.
func TestAWorkspaceIsWhosePushedIt(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		w.serve()
		mint(t, w.Daemon, op.Agent, "bob")
		bob, err := w.identity.Caller(ctx, "local", "bob", op.DoorHTTP)
		w.must(err)
		w.must(w.Call(ctx, "workspace.claim", host.ClaimIn{Repo: "project", Name: "ours"}, nil))
		lease := func(path string) error {
			return w.Call(ctx, "repo.lease", host.LeaseIn{Repo: "project", Workspace: "ours", Path: path}, nil)
		}
		leased := func() (out []string) {
			var list host.LeasesOut
			w.must(w.Call(ctx, "repo.leases", host.RepoIn{Repo: "project"}, &list))
			for _, l := range list.Items {
				out = append(out, l.Path+" "+l.Workspace)
			}
			return out
		}
		w.must(lease("src"))
		w.must(lease("src")) // renewed
		w.again()
		if got := strings.Join(leased(), ", "); got != "src ours" || w.finds() != "" {
			t.Fatalf("leased: %s; %s", got, w.finds())
		}

		// A workspace that was given away takes no lease, and one that was named in the database is nobody's.
		w.sql("CREATE TABLE was AS SELECT * FROM repo_workspace", "UPDATE repo_workspace SET actor = '"+bob.Actor+"', actor_name = 'bob'")
		for who, c := range map[string]op.Caller{"bob": bob, "its owner": {}} {
			call := func() error { return lease("docs") }
			if c.Actor != "" {
				call = func() error {
					in := host.LeaseIn{Repo: "project", Workspace: "ours", Path: "docs"}
					_, err := w.gate.Invoke(op.WithCaller(ctx, c), "repo.lease", in)
					return err
				}
			}
			if err := call(); err == nil || !fault.Is(err, fault.Denied) {
				t.Errorf("%s leases in a workspace that was given away: %v", who, err)
			}
		}
		w.told("that bob has the workspace ours of ")
		w.sql("DELETE FROM repo_workspace")
		w.told("vouches for the workspace ")
		var got host.ClaimOut
		w.must(w.Call(ctx, "workspace.claim", host.ClaimIn{Repo: "project", Name: "ours"}, &got))
		if got.Name == "ours" {
			t.Error("a workspace whose row is gone is anybody's")
		}
		w.sql("DELETE FROM repo_workspace WHERE name = 'ours'", "INSERT INTO repo_workspace SELECT * FROM was", "DROP TABLE was")
		w.must(lease("docs"))

		// Leases that nobody asked for, and such as say something else.
		w.must(w.Call(ctx, "repo.release", host.ReleaseIn{Repo: "project", Workspace: "ours", Path: "docs"}, nil))
		w.sql("CREATE TABLE was AS SELECT * FROM repo_lease",
			"INSERT INTO repo_lease SELECT tenant, repo, 'lease_x', '**', workspace, actor, actor_name, until, 0 FROM was")
		if got := strings.Join(leased(), ", "); got != "src ours" {
			t.Errorf("leased, by a line of SQL: %s", got)
		}
		w.told("the lease of ** by ")
		w.must(lease("docs"))
		for _, row := range []string{"path = 'lib'", "workspace = 'x'", "actor = '" + bob.Actor + "'", "actor_name = 'bob'",
			"until = until + 1", "shared = 1"} {
			w.sql("DELETE FROM repo_lease", "INSERT INTO repo_lease SELECT * FROM was", "UPDATE repo_lease SET "+row)
			if got := leased(); len(got) > 0 {
				t.Errorf("with %s it is leased: %q", row, got)
			}
		}
		w.sql("DELETE FROM repo_lease", "INSERT INTO repo_lease SELECT * FROM was")
		w.must(w.Call(ctx, "repo.release", host.ReleaseIn{Repo: "project", Workspace: "ours", Path: "src"}, nil))
		w.sql("INSERT INTO repo_lease SELECT * FROM was")
		if got := leased(); len(got) > 0 {
			t.Errorf("a released lease that was put back: %q", got)
		}
		w.sql("DELETE FROM repo_lease", "DROP TABLE was")
		if said := w.finds(); said != "" {
			t.Errorf("put right: %s", said)
		}
	})
}

// A server from before the journal vouched for workspaces and leases keeps those it has, and asks a person to look.
func TestWorkspacesFromBeforeAreAdoptedOnce(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		w.serve()
		var served struct{ Items []host.Repository }
		w.must(w.Call(ctx, "repo.list", nil, &served))
		me, err := w.identity.Caller(ctx, "local", "local", op.DoorSocket)
		w.must(err)
		made := func(name string) []string {
			of, until := served.Items[0].ID, time.Now().Add(time.Hour).UnixMicro()
			return []string{
				fmt.Sprintf("INSERT INTO repo_workspace VALUES ('local', '%s', '%s', '%s', 'local', 1, 1)", of, name, me.Actor),
				fmt.Sprintf("INSERT INTO repo_lease VALUES ('local', '%s', 'lease_%s', '%[2]s', '%[2]s', '%s', 'local', %d, 0)",
					of, name, me.Actor, until)}
		}
		lease := func(name string) error {
			return w.Call(ctx, "repo.lease", host.LeaseIn{Repo: "project", Workspace: name, Path: name}, nil)
		}
		w.must(os.Remove(w.file("journal.kinds"))) // as the program before left it
		w.again(made("ours")...)
		w.must(lease("ours"))
		if n := w.journal.Waiting(); n != 1 { // the lease was renewed
			t.Errorf("%d wait to be confirmed", n)
		}
		w.confirm()
		w.again(made("theirs")...)
		w.refused("a lease in a workspace that came later", lease("theirs"), fault.Denied)
		w.told("has the workspace theirs of ")
		w.told("the lease of theirs by ")
	})
}

// serve has it serve a repository.
func (w *ward) serve() {
	w.t.Helper()
	w.repo = filepath.Join(w.home, "project")
	w.must(os.Mkdir(w.repo, 0o755))
	w.again()
}
