package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/policy/book"
	remotewire "tandem/internal/remote/wire"
	"tandem/internal/repo/host"
	"tandem/internal/session"
	"tandem/internal/testenv"
)

// A session's own socket passes a workspace's requests on to the server of its repository, which knows the machine and not the session.
// What is denied to the session in the copy here came back from there, whole. It is refused, by the repository's id and by its name;
// another repository of that server, and the user whose machine this is, are not.
func TestADenialHoldsForWhatIsFetched(t *testing.T) {
	far := newTracked(t)
	list, err := far.d.gate.Invoke(owner(t, far.d), "repo.list", nil)
	if err != nil {
		t.Fatal(err)
	}
	id := list.(host.ListOut).Items[0].ID

	d, _ := walked(t)
	people := owner(t, d)
	do := func(name string, in any) any {
		t.Helper()
		out, err := d.gate.Invoke(people, name, in)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return out
	}
	address := strings.TrimPrefix(far.base, "http://")
	do("workspace.trust", remotewire.TrustIn{Server: address, Token: far.token})
	copied := testenv.Dir(t) + "/copy"
	kept := filepath.Join(copied, ".jj", "repo", "tandem")
	if err := os.MkdirAll(kept, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(kept, "replica.json"), fmt.Appendf(nil, `{"id":%q}`, id), 0o644); err != nil {
		t.Fatal(err)
	}
	do("folder.grant", session.FolderIn{Path: copied})
	s := do("session.create", session.CreateIn{Title: "far", Directory: copied}).(*session.Session)
	socket := func(c op.Caller) string {
		c.Door = op.DoorSocket
		path, err := d.sockets.Open(func(context.Context) (op.Caller, error) { return c, nil }, s.ID+string(c.Kind))
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	mine := socket(s.Caller())
	ways := []string{"/remote/" + address + "/repo/" + id + "/commits/" + far.commits[0],
		"/remote/" + address + "/repo/project/commits/" + far.commits[0], "/remote/" + address + "/repo/project/leases"}
	for _, way := range ways {
		if said, ok := streams(t, mine, way, far.holds); !ok {
			t.Fatalf("%s shows nothing before anything is denied: %.300s", way, said)
		}
	}
	do("grant.add", book.GrantIn{Principal: "session:*", Effect: "deny", Resource: "folder:" + copied + "/priv",
		Permissions: []string{"view"}})
	withheld := func(said string) bool { return strings.Contains(said, "part of this repository is kept from you") }
	for _, way := range append(ways, "/remote/"+address+"/repo/"+id+"/git/info/refs?service=git-upload-pack") {
		if said, ok := streams(t, mine, way, withheld); !ok {
			t.Errorf("%s: %.300s", way, said)
		}
	}
	unserved := func(said string) bool { return strings.Contains(said, "not served here") }
	if said, ok := streams(t, mine, "/remote/"+address+"/repo/repo_01m7jhpsmn4k8xvdwtj521nt06", unserved); !ok {
		t.Errorf("another repository: %.300s", said)
	}
	local, err := d.identity.Caller(t.Context(), identity.LocalTenant, "local", op.DoorSocket)
	if err != nil {
		t.Fatal(err)
	}
	if said, ok := streams(t, socket(local), ways[0], far.holds); !ok {
		t.Errorf("the user of this machine: %.300s", said)
	}
}
