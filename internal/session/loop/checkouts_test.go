package loop

import (
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/policy/book"
	"tandem/internal/session"
	"tandem/internal/tool"
)

// What is denied in one checkout of a repository appears in no tool's output in another, on the disk or only in its history.
func TestACanaryThatIsDeniedInAnotherCheckoutStaysWhereItIs(t *testing.T) {
	h := newHouseWith(t, "", tool.Bubblewrap)
	h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Resource: "tool:/", Permissions: []string{"execute"}})
	files := []string{"a.txt", "priv/p.txt", "docs/customers/ann.txt", "gone/g.txt"}
	planted := h.plant(files...)
	main := h.dir
	h.git("init", "-q")
	h.git("add", "-A")
	h.git("commit", "-q", "-m", "all")
	tree := filepath.Join(filepath.Dir(main), "tree")
	h.git("worktree", "add", "-q", tree)
	h.do(person, "folder.grant", session.FolderIn{Path: tree})
	h.do(person, "grant.add", book.GrantIn{Principal: "*", Effect: "deny", Resource: "folder:" + main + "/priv",
		Permissions: []string{"view"}})
	h.do(person, "grant.add", book.GrantIn{Principal: "*", Effect: "deny", Resource: "folder:" + main + "/gone",
		Permissions: []string{"view"}})
	h.do(person, "policy.label", book.LabelIn{Resource: "folder:" + main + "/docs/customers", Class: "customer_data"})
	h.dir = tree
	h.git("rm", "-q", "-r", "gone")
	s := h.session()
	for _, name := range files[1:] {
		for way, out := range everyWay(h, s, name) {
			if strings.Contains(out, planted[name]) {
				t.Errorf("%s is denied in %s, and %s shows it in %s: %.300s", name, main, way, tree, out)
			}
		}
	}
	if got := h.call(s, "bash", args{"command": "cat a.txt"}) + h.call(s, "grep", args{"pattern": "canary"}); strings.Count(got,
		planted["a.txt"]) != 2 {
		t.Errorf("what nobody denied is gone: %.500s", got)
	}
}
