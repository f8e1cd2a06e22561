package replica

import (
	"strings"
	"testing"

	"tandem/internal/repo"
)

// Each program's files are recognised at the root and below it, in the letters that
// some file system takes for the same, and no others are.
func TestFilesThatCommand(t *testing.T) {
	for _, x := range commanded {
		var paths []string
		for _, d := range x.dirs {
			paths = append(paths, d+"/settings.json", d+"/hooks/run.sh", d) // the last as a link
		}
		paths = append(paths, x.files...)
		for _, p := range paths {
			for _, spelt := range []string{p, strings.ToUpper(p), "sub/folder/" + p, strings.ReplaceAll(p, "/", ".\u200c/") + " ."} {
				if !(commanding{}).Match(repo.Path(spelt)) {
					t.Errorf("%s: %q is not recognised", x.name, spelt)
				}
			}
		}
	}
	for _, p := range []string{"README.md", "claude", "src/claude.go", "docs/agents.txt", ".github/workflows/ci.yml", ".github", "cursor/x",
		".gitignore", "Makefile", "vscode/settings.json"} {
		if (commanding{}).Match(repo.Path(p)) {
			t.Errorf("%q is taken for a file that commands", p)
		}
	}
}

type entry struct {
	kind repo.Kind
	text string
}

// treeOf makes a tree of files and links by their paths; at most one folder deep.
func treeOf(t *testing.T, s repo.Store, files map[string]entry) repo.MergedTree {
	t.Helper()
	var root repo.Tree
	dirs := map[string]repo.Tree{}
	for p, e := range files {
		id, err := s.PutFile(t.Context(), []byte(e.text))
		if err != nil {
			t.Fatal(err)
		}
		v := repo.TreeValue{Kind: e.kind, ID: string(id)}
		if dir, name, deep := strings.Cut(p, "/"); deep {
			dirs[dir] = append(dirs[dir], repo.Entry{Name: name, Value: v})
		} else {
			root = append(root, repo.Entry{Name: p, Value: v})
		}
	}
	put := func(tree repo.Tree) repo.TreeID {
		repo.SortTree(tree)
		id, err := s.PutTree(t.Context(), tree)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	for name, d := range dirs {
		root = append(root, repo.Entry{Name: name, Value: repo.TreeValue{Kind: repo.Subtree, ID: string(put(d))}})
	}
	return repo.MergedTree{IDs: repo.Resolved(put(root))}
}

// A link in the place of a folder that commands agents brings in whatever it leads
// to, now and later; it used to come unasked.
func TestLinksThatCommand(t *testing.T) {
	s := emptyStore(t)
	r := &Replica{Store: s, Config: Config{First: "w"}}
	file := func(text string) entry { return entry{repo.File, text} }
	plain := treeOf(t, s, map[string]entry{"docs/x": file("1"), "a": file("a")})
	hold := func(from, to repo.MergedTree) (paths []string) {
		t.Helper()
		held, err := r.Commanding(t.Context(), s, "w", from, &repo.Commit{Tree: to, Parents: []repo.CommitID{repo.RootCommitID}})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range held {
			paths = append(paths, string(h.Path))
		}
		return paths
	}
	if got := hold(repo.EmptyTree(), plain); len(got) > 0 { // the beginning is the owner's choice
		t.Fatalf("held at the beginning: %v", got)
	}
	link := map[string]entry{"docs/x": file("1"), "a": file("a"), ".Claude": {repo.Symlink, "docs"}}
	linkedTree := treeOf(t, s, link)
	for range 2 { // asked again until it is answered
		if got := strings.Join(hold(plain, linkedTree), " "); got != ".Claude docs/x" {
			t.Errorf("a link brings %q", got)
		}
	}
	link["docs/x"] = file("2")
	if got := strings.Join(hold(linkedTree, treeOf(t, s, link)), " "); got != "docs/x" {
		t.Errorf("a change behind a link holds %q", got)
	}
	on := treeOf(t, s, map[string]entry{"a": file("a"), ".github": {repo.Symlink, "gh"}, "gh/copilot-instructions.md": file("obey")})
	if got := strings.Join(hold(plain, on), " "); got != "gh/copilot-instructions.md" {
		t.Errorf("a link on the way holds %q", got)
	}
	chain := map[string]entry{"a": {repo.Symlink, "docs"}, "docs/x": file("7"), ".codex": {repo.Symlink, "./a"}}
	chained := treeOf(t, s, chain)
	if got := strings.Join(hold(plain, chained), " "); got != ".codex a docs/x" {
		t.Errorf("a chain of links holds %q", got)
	}
	chain["docs/x"] = file("3")
	if got := strings.Join(hold(chained, treeOf(t, s, chain)), " "); got != "docs/x" {
		t.Errorf("a change behind a chain holds %q", got)
	}
	out := treeOf(t, s, map[string]entry{"docs/x": file("1"), "a": file("b"), ".codex": {repo.Symlink, "../elsewhere"}})
	if got := strings.Join(hold(plain, out), " "); got != ".codex" {
		t.Errorf("a link out of the tree holds %q", got)
	}
}
