package daemon

import (
	"slices"
	"strings"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/policy/book"
	"tandem/internal/repo/host"
	"tandem/internal/space/peer"
)

// Whoever was denied a folder of a repository leased a pattern around it, and had it; or was refused because somebody had something in
// there, and so learned that. A lease covers nothing that is denied to who asks for it, and the refusal is the same whatever is there.
func TestALeaseTakesNothingThatIsDenied(t *testing.T) {
	h := newTracked(t)
	as := func(name, does string, in any) (any, error) {
		t.Helper()
		return h.d.gate.Invoke(op.WithCaller(t.Context(), h.callers[name]), does, in)
	}
	for _, name := range []string{"bob", "robot"} {
		if _, err := as(name, "workspace.claim", host.ClaimIn{Repo: "project", Name: name + "s"}); err != nil {
			t.Fatal(err)
		}
	}
	lease := func(name, path string) error {
		t.Helper()
		_, err := as(name, "repo.lease", host.LeaseIn{Repo: "project", Workspace: name + "s", Path: path})
		return err
	}
	h.do("repo.lease", host.LeaseIn{Repo: "project", Workspace: "anns", Path: "docs/.env"})
	h.do("grant.add", book.GrantIn{Principal: "agent:bob", Effect: "deny", Resource: "folder:" + h.root + "/priv",
		Permissions: []string{"view"}})

	patterns := []string{"**", "*", "**/p.txt", "*/" + h.words[1] + ".txt", "pri?/p.txt", "p*", "*.md", "priv", "priv/**", "priv/nothing"}
	told := func() (out []string) {
		for _, p := range patterns {
			err := lease("bob", p)
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("%s, which could cover what is denied: %v", p, err)
				continue
			}
			out = append(out, fault.Public(err).Msg)
		}
		return out
	}
	held := told()
	h.do("repo.release", host.ReleaseIn{Repo: "project", Workspace: "anns", Path: "priv/" + h.words[1] + ".txt"})
	if free := told(); !slices.Equal(held, free) {
		t.Errorf("a refusal tells whether somebody has something in there: %q, and then %q", held, free)
	}
	for _, p := range []string{"open.txt", "docs"} { // keys that the house keeps lie anywhere
		if err := lease("bob", p); err != nil {
			t.Errorf("%s, of which nothing is denied: %v", p, err)
		}
	}

	// Who is denied nothing takes patterns as ever, and is told who is in the way.
	if err := lease("robot", "**/open.txt"); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "open.txt is leased to bob") {
		t.Error(err)
	}
	if err := lease("robot", "src/**/p.txt"); err != nil {
		t.Error(err)
	}
	out, err := as("bob", "repo.leases", host.RepoIn{Repo: "project"})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range out.(host.LeasesOut).Items {
		if strings.Contains(l.Path, "p.txt") || strings.Contains(l.Path, ".env") {
			t.Errorf("the lease of %s is told to who is denied what it is about", l.Path)
		}
	}

	// In a space it is the same: the folder is a checkout of the repository.
	if _, err := as("robot", "space.reserve", peer.ReserveIn{Path: "priv/p.txt"}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"**", "priv/p.txt", "priv", "*/p.txt"} {
		if _, err := as("bob", "space.reserve", peer.ReserveIn{Path: p}); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s in a space: %v", p, err)
		}
	}
	listed, err := as("bob", "space.reserve", peer.ReserveIn{Path: "open.txt"})
	if err != nil || strings.Contains(listed.(peer.Leases).Text, "priv") || !strings.Contains(listed.(peer.Leases).Text, "open.txt") {
		t.Errorf("%v, %v", listed, err)
	}
}
