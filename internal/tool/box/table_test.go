package box_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/testenv"
	"tandem/internal/tool/box"
)

const (
	tableDoc   = "../../../docs/terminals.md"
	tableBegin = "<!-- version control in a box: generated -->\n"
	tableEnd   = "<!-- end of version control in a box -->\n"
)

// commands are the rows of the table: what people type. Each begins in a place of its own, with two commits.
var commands = []struct{ name, line string }{
	{"`git status`, `log`, `show`, `diff`, `blame`", "git status && git log --oneline && git show && git diff HEAD~1 && git blame a.txt"},
	{"`git add`, `commit`, `commit --amend`", "echo x > n.txt && git add n.txt && git commit -qm two && git commit -q --amend -m too"},
	{"`git branch`, `switch`, `checkout`, `tag`",
		"git branch t0 && git switch -q -c t1 && git checkout -q t0 && git tag v1 && git tag -a v2 -m two"},
	{"`git merge`", "git switch -q -c side && echo s > s.txt && git add s.txt && git commit -qm side && git switch -q - && git merge " +
		"-q --no-ff --no-edit side"},
	{"`git stash`, `restore`, `reset`, `clean`",
		"echo y > a.txt && git stash -q && git stash pop -q && git restore a.txt && git reset -q --hard && git clean -fdq"},
	{"`git rebase`", "git switch -q -c re HEAD~1 && echo r > r.txt && git add r.txt && git commit -qm re && git rebase -q -"},
	{"`git cherry-pick`, `revert`", "git revert --no-edit HEAD && git cherry-pick HEAD~1"},
	{"`git branch -D`, `tag -d`", "git branch gone && git branch -q -D gone && git tag gone && git tag -d gone"},
	{"`git fetch PATH`, `pull PATH`", "git fetch -q $PWD HEAD && git pull -q --no-rebase $PWD HEAD"},
	{"`git gc`, `pack-refs`", "git gc -q"},
	{"`git worktree add`", "git worktree add -q --detach /tmp/w HEAD~1"},
	{"`git submodule add`", "git init -q inner && git -C inner commit -q --allow-empty -m one && git -c protocol.file.allow=always " +
		"submodule --quiet add $PWD/inner mod && git config submodule.mod.url"},
	{"`git config`, `remote add`", "git config user.name x && git remote add o https://example.org/x"},
	{"`git branch --set-upstream-to`", "git branch up && git branch -q --set-upstream-to=up && git rev-parse -q @{u}"},
	{"`git init`, `clone` below the folder", "git init -q fresh && git clone -q . cloned"},
	{"writing a hook", "echo true > $(git rev-parse --git-common-dir)/hooks/pre-push"},
	{"`jj status`, `log`, `diff`", "jj status && jj log && jj diff"},
	{"`jj describe`, `new`, `commit`", "echo j > j.txt && jj describe -m one && jj new && echo k > k.txt && jj commit -m two"},
	{"`jj bookmark`, `squash`, `undo`",
		"echo j > j.txt && jj commit -m one && jj bookmark create b -r @- && echo k > j.txt && jj squash -m x && jj undo"},
	{"`jj rebase`", "echo j > j.txt && jj commit -m one && jj rebase -s @- -d 'root()'"},
	{"`jj git export`, `git import`", "jj git export && jj git import"},
	{"`jj config set --repo`", "jj config set --repo user.name x"},
	{"`jj workspace add`", "mkdir -p in && jj workspace add in/jw"},
}

// Which commands of version control work in a box: docs/terminals.md has the table, and it is what is found. Both boxes do the same, that
// of a
// command of our loop and that of an agent's program. With TANDEM_UPDATE=1 the table is written anew.
func TestTheTableOfVersionControl(t *testing.T) {
	m := find(t, box.Bubblewrap)
	jj := testenv.Tool(t, "jj")
	places := []struct {
		title string
		jj    bool
		make  func(t *testing.T) (folder, dir string)
	}{
		{"a repository", true, func(t *testing.T) (string, string) { return colocated(t, jj) }},
		{"a worktree whose repository lies elsewhere", false, func(t *testing.T) (string, string) {
			dir, _ := colocated(t, "")
			out := project(t)
			git(t, dir, "worktree", "add", "-q", "-b", "mine", filepath.Join(out, "w"))
			return filepath.Join(out, "w"), filepath.Join(out, "w")
		}},
	}
	who := "export HOME=/tmp GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org " +
		"JJ_USER=a JJ_EMAIL=a@example.org PATH=$PATH:" + filepath.Dir(jj) + "\n"
	var table strings.Builder
	table.WriteString("| command |")
	for _, p := range places {
		table.WriteString(" in " + p.title + " |")
	}
	table.WriteString("\n|---|" + strings.Repeat("---|", len(places)) + "\n")
	words := make([][]string, len(commands))
	for _, p := range places {
		for whose, program := range []bool{false, true} {
			for i, c := range commands {
				word := "–"
				if p.jj || !strings.Contains(c.name, "jj ") {
					folder, dir := p.make(t)
					b := box.Box{Dir: dir, Mounts: append(box.Read(filepath.Dir(jj)), box.Write(folder)...), Whole: program, Network: program}
					b.Worktrees(folder)
					if err := b.Keep(folder); err != nil {
						t.Fatal(err)
					}
					said := run(t, m, b, uint32(os.Getuid()), who+c.line+" && echo WOR''KED")
					if word = "refused"; strings.HasSuffix(strings.TrimSpace(said), "WORKED") {
						word = "works"
					}
					t.Logf("%s, %v: %s: %s\n%s", p.title, program, c.name, word, said)
				}
				if whose == 0 {
					words[i] = append(words[i], word)
				} else if last := words[i][len(words[i])-1]; last != word {
					t.Errorf("%s in %s: %s in a command's box, %s in a program's", c.name, p.title, last, word)
				}
			}
		}
	}
	for i, c := range commands {
		fmt.Fprintf(&table, "| %s | %s |\n", c.name, strings.Join(words[i], " | "))
	}
	text, err := os.ReadFile(tableDoc)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), tableBegin)
	have, tail, found := strings.Cut(rest, tableEnd)
	switch {
	case !found:
		t.Fatalf("%s has no place for the table", tableDoc)
	case os.Getenv("TANDEM_UPDATE") != "":
		if err := os.WriteFile(tableDoc, []byte(head+tableBegin+table.String()+tableEnd+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	case have != table.String():
		t.Errorf("docs/terminals.md says\n%s\nbut it is\n%s\nIf this is meant: "+
			"TANDEM_UPDATE=1 go test -run TestTheTableOfVersionControl ./internal/tool/box", have, table.String())
	}
}

// colocated is a repository of git with two commits, and of jj as well where there is one.
func colocated(t *testing.T, jj string) (folder, dir string) {
	t.Helper()
	dir = project(t)
	git(t, dir, "init", "-q", "-b", "main")
	for _, text := range []string{"one\n", "two\n"} {
		if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		git(t, dir, "add", "-A")
		git(t, dir, "commit", "-qm", strings.TrimSpace(text))
	}
	if jj != "" {
		cmd := exec.CommandContext(t.Context(), jj, "git", "init", "--colocate")
		cmd.Dir, cmd.Env = dir, append(testenv.Env(t), "JJ_USER=p", "JJ_EMAIL=p@example.org")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("jj git init: %v %s", err, out)
		}
		git(t, dir, "switch", "-q", "main")
	}
	return dir, dir
}
