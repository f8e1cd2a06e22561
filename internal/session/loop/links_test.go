package loop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/policy/book"
	"tandem/internal/tool"
)

// What is denied or labelled by a path that goes through a link is the thing that lies there: a denial of ~/c/k with ~/c a link to
// ~/code was kept as it was written, and matched nothing. It holds whoever wrote it how, whether the link was there first or came
// later, and when the link leads elsewhere afterwards it holds for both.
func TestADenialThroughALinkHoldsForTheThing(t *testing.T) {
	h := newHouseWith(t, "", tool.Bubblewrap)
	files := []string{"a.txt", "priv/p.txt", "plain/real/q.txt", "docs/customers/ann.txt", "ruled/r.txt", "later/l.txt", "globs/deep/g.key",
		"tooled/t.txt", "second/moved/m.txt"}
	planted := h.plant(files...)
	up := filepath.Dir(h.dir)
	link := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	c := filepath.Join(up, "c")
	link(h.dir, c)
	link("real", filepath.Join(h.dir, "plain", "alias"))
	moving := filepath.Join(up, "moving")
	if err := os.MkdirAll(filepath.Join(h.dir, "first", "moved"), 0o755); err != nil {
		t.Fatal(err)
	}
	link(filepath.Join(h.dir, "first"), moving)
	h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Resource: "tool:/", Permissions: []string{"execute"}})
	deny := func(in book.GrantIn) book.GrantOut {
		t.Helper()
		in.Principal, in.Effect, in.Permissions = "session:*", "deny", []string{"view"}
		return h.do(person, "grant.add", in).(book.GrantOut)
	}
	got := deny(book.GrantIn{Resource: "folder:" + c + "/priv"})
	if got.Resource != "folder:"+h.dir+"/priv" || got.Written != c+"/priv" {
		t.Errorf("kept as %s, written %s", got.Resource, got.Written)
	}
	deny(book.GrantIn{Resource: "folder:" + h.dir + "/plain/alias"})
	deny(book.GrantIn{Resource: "folder:" + up + "/new/later"})
	deny(book.GrantIn{Resource: "folder:/", Only: []string{c + "/globs/**/*.key"}})
	deny(book.GrantIn{Resource: "*:/", Tools: []string{"*(path: " + c + "/tooled/**)"}})
	deny(book.GrantIn{Resource: "folder:" + moving + "/moved"})
	h.do(person, "policy.label", book.LabelIn{Resource: "folder:" + c + "/docs/customers", Class: "customer_data"})
	h.do(person, "policy.edit", book.EditIn{Rules: `forbid (principal is Session, action, resource in Folder::"` + c + `/ruled");`})
	link(h.dir, filepath.Join(up, "new"))
	if err := os.Remove(moving); err != nil {
		t.Fatal(err)
	}
	link(filepath.Join(h.dir, "second"), moving)

	s := h.session()
	for _, name := range files[1:] {
		ways := map[string]string{
			"read": h.call(s, "read", args{"path": name}), "read through the link": h.call(s, "read", args{"path": filepath.Join(c, name)}),
			"grep": h.call(s, "grep", args{"pattern": "canary"}), "cat": h.call(s, "bash", args{"command": "cat " + name}),
			"find": h.call(s, "bash", args{"command": "find . -type f | xargs cat; cat plain/alias/*"}),
		}
		for way, out := range ways {
			if strings.Contains(out, planted[name]) {
				t.Errorf("%s is denied through a link, and %s shows it: %.300s", name, way, out)
			}
		}
	}
	if got := h.call(s, "bash", args{"command": "cat a.txt"}) + h.call(s, "grep", args{"pattern": "canary"}); strings.Count(got,
		planted["a.txt"]) != 2 {
		t.Errorf("what nobody denied is gone: %.500s", got)
	}
	out := h.do(person, "policy.label", book.LabelIn{Resource: "folder:" + c + "/docs/customers"}).(book.LabelOut)
	if len(out.Labels) != 0 {
		t.Errorf("taken off by the path that it was put on with: %v", out.Labels)
	}
}
