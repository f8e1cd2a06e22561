package jj

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/internal/repo/stocktest"
	"tandem/internal/testenv"
)

// pair is one repository twice: stock jj works in one copy and this program in
// the other.
type pair struct {
	t           *testing.T
	stock       *stocktest.JJ
	theirs, our string
}

func newPair(t *testing.T, init ...string) *pair {
	t.Setenv("PATH", gitPath(t))
	p := &pair{t: t, stock: stocktest.New(t)}
	p.stock.Configure("ui.editor = 'true'")
	a, b := real(t, t.TempDir()), real(t, t.TempDir())
	p.theirs, p.our = a, b
	p.run(t.Context(), append([]string{"git", "init", "repo"}, init...)...)
	p.theirs, p.our = filepath.Join(a, "repo"), filepath.Join(b, "repo")
	return p
}

// run runs one command in both copies; what both say has to be the same.
func (p *pair) run(ctx context.Context, args ...string) {
	p.t.Helper()
	want, ok := p.stock.Try(p.theirs, args...)
	var out bytes.Buffer
	code := Main(ctx, args, IO{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Env: p.stock.Env(), Dir: p.our})
	if strings.Contains(want, "panicked at") {
		if code == 0 {
			p.t.Fatalf("jj %s: stock panics, ours does it:\n%s", strings.Join(args, " "), out.String())
		}
		return
	}
	want = strings.ReplaceAll(want, filepath.Dir(p.theirs), "$ROOT")
	if got := strings.ReplaceAll(out.String(), filepath.Dir(p.our), "$ROOT"); got != want || ok != (code == 0) {
		p.t.Fatalf("jj %s\nstock (%v):\n%s\nours (%d):\n%s", strings.Join(args, " "), ok, want, code, got)
	}
}

// same asks stock jj in both copies whether they hold the same.
func (p *pair) same() {
	p.t.Helper()
	for _, q := range [][]string{
		{"op", "log", "--no-graph", "-n1", "-T", "id ++ description"},
		{"log", "--no-graph", "-r", "all()", "-T", "commit_id ++ ' ' ++ change_id ++ ' ' ++ bookmarks ++ ' ' ++ tags ++ ' ' ++ " +
			"working_copies ++ '\n'"},
	} {
		q = append(q, "--ignore-working-copy")
		a, b := p.stock.Run(p.theirs, q...), p.stock.Run(p.our, q...)
		if a != b {
			p.t.Fatalf("jj %s\nstock:\n%s\nours:\n%s", strings.Join(q, " "), a, b)
		}
	}
	if a, b := files(p.t, p.theirs), files(p.t, p.our); a != b {
		p.t.Fatalf("files differ\nstock:\n%s\nours:\n%s", a, b)
	}
}

func files(t *testing.T, root string) string {
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == ".jj" || d.Name() == ".git") {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		if d.IsDir() {
			return nil
		}
		rel, _ := filepath.Rel(root, path)
		if d.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			fmt.Fprintf(&b, "%s -> %q\n", rel, target)
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintf(&b, "%s: %v %q\n", rel, info.Mode()&0o100 != 0, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func (p *pair) write(name, text string) {
	for _, dir := range []string{p.theirs, p.our} {
		stocktest.Write(p.t, filepath.Join(dir, name), text)
	}
}

// touch changes a file of both copies in a random way.
func (p *pair) touch(r *rand.Rand) {
	name := []string{"f0", "f1", "f2", "d/f", "d/e/f"}[r.IntN(5)]
	what, text := r.IntN(12), stocktest.Text(r)
	for _, dir := range []string{p.theirs, p.our} {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		switch {
		case err == nil && what < 2:
			os.Remove(path)
		case err == nil && what == 2 && info.Mode().IsRegular():
			os.Chmod(path, info.Mode()^0o111)
		case err != nil && what == 3:
			os.MkdirAll(filepath.Dir(path), 0o755)
			os.Symlink(text[:1], path)
		case err == nil && info.Mode()&os.ModeSymlink != 0:
			os.Remove(path)
		default:
			stocktest.Write(p.t, path, text)
		}
	}
}

// upstream points a branch of both remotes to a commit one of them has.
func (p *pair) upstream(r *rand.Rand) {
	dir := func(repo string) string { return filepath.Join(filepath.Dir(repo), "remote") }
	ids := strings.Fields(p.stock.Git(dir(p.theirs), "for-each-ref", "--format=%(objectname)"))
	if len(ids) == 0 {
		return
	}
	id, name := ids[r.IntN(len(ids))], fmt.Sprintf("refs/heads/up%d", r.IntN(2))
	for _, repo := range []string{p.theirs, p.our} {
		p.stock.Git(dir(repo), "update-ref", name, id)
	}
}

// revision is a random visible commit.
func (p *pair) revision(r *rand.Rand) string { return p.revisionOf(r, "all()") }

func (p *pair) revisionOf(r *rand.Rand, set string) string {
	ids := strings.Fields(p.stock.Run(p.theirs, "log", "--no-graph", "-r", set, "-T", "commit_id.short() ++ ' '", "--ignore-working-copy"))
	if len(ids) == 0 { // nothing was made yet
		return "@"
	}
	return ids[r.IntN(len(ids))]
}

// step is a random command.
func (p *pair) step(r *rand.Rand) []string {
	rev, other, third := p.revision(r), p.revision(r), p.revision(r)
	real := p.revisionOf(r, "all() ~ root()") // git has no root commit to push
	name := string(rune('a' + r.IntN(3)))
	all := [][]string{
		{"new"}, {"new", rev}, {"new", rev, other}, {"new", rev, other, third}, {"new", "-A", rev, "--no-edit"}, {"new", "-B", rev},
		{"commit", "-m", "commit " + name}, {"describe", "-m", "about " + name}, {"describe", rev, "-m", "said " + name},
		{"edit", rev}, {"squash"}, {"squash", "--from", rev, "--into", other, "-u"}, {"squash", "-r", rev, "-m", "both"},
		{"abandon"}, {"abandon", rev}, {"abandon", rev, "--restore-descendants"},
		{"rebase", "-r", rev, "-d", other}, {"rebase", "-s", rev, "-d", other}, {"rebase", "-b", rev, "-d", other},
		{"rebase", "-r", rev, "-A", other}, {"rebase", "-r", rev, "-B", other},
		{"restore", "--from", rev}, {"restore", "-c", rev}, {"duplicate", rev}, {"duplicate", rev, "-d", other},
		{"revert", "-r", rev, "-d", other}, {"parallelize", rev + "::" + other}, {"split", "-r", rev, "-m", "part", "f1"},
		{"absorb"}, {"absorb", "--from", rev}, {"simplify-parents", "-r", rev}, {"restore", "--from", rev, "--into", other, "f1"},
		{"duplicate", rev, "-A", other}, {"duplicate", rev, "-B", other}, {"revert", "-r", rev, "-A", other}, {"op", "revert"},
		{"op", "revert", "@-"},
		{"workspace", "add", "../w" + name}, {"workspace", "forget", "w" + name}, {"workspace", "list"}, {"next"}, {"prev"},
		{"file", "annotate", "f1"},
		{"bookmark", "move", name, "--to", real, "-B"}, {"bookmark", "rename", name, name + "x"}, {"metaedit", rev, "-m", "edited"},
		{"resolve", "--list"},
		{"undo"}, {"redo"}, {"op", "restore", "@-"}, {"op", "log", "-n5"}, {"op", "show"}, {"op", "diff"},
		{"bookmark", "create", name, "-r", real}, {"bookmark", "set", name, "-r", real, "-B"}, {"bookmark", "delete", name}, {"bookmark", "list"},
		{"tag", "set", "t" + name, "-r", real}, {"tag", "list"}, {"metaedit", "--update-change-id", rev},
		{"log"}, {"log", "-r", rev + "::", "-p", "--git"}, {"log", "-r", "::" + rev, "-s"}, {"st"}, {"diff", "--stat"}, {"diff", "-r", rev},
		{"squash", "--from", rev, "--into", other, "-k", "-m", "kept", "f1"}, {"squash", "--from", rev, "-A", other, "-m", "after"},
		{"squash", "f1", "d"},
		{"split", "-r", rev, "-m", "beside", "-p", "f0", "d"}, {"split", "-r", rev, "-m", "on", "-o", other, "f2"},
		{"commit", "-m", "part", "f0"},
		{"rebase", "-s", rev, "-A", other}, {"rebase", "-s", rev, "-B", other, "--skip-emptied"},
		{"rebase", "-r", rev + "|" + other, "-d", third, "--simplify-parents"},
		{"abandon", rev, "--retain-bookmarks"}, {"absorb", "--from", rev, "--into", "::" + other}, {"simplify-parents", "-s", rev},
		{"revert", "-r", rev, "-B", other},
		{"next", "--edit"}, {"prev", "--edit"}, {"next", "--conflict"}, {"op", "abandon", "@--..@-"}, {"op", "log", "-d", "-n3"},
		{"op", "show", "-p", "--summary"},
		{"-R", "../w" + name, "workspace", "update-stale"}, {"-R", "../w" + name, "new", "-m", "there"}, {"workspace", "rename", "main" + name},
		{"workspace", "root"},
		{"bookmark", "forget", name}, {"bookmark", "advance"}, {"bookmark", "track", name, "--remote", "origin"},
		{"bookmark", "untrack", name, "--remote", "origin"}, {"bookmark", "list", "-a"},
		{"tag", "set", "t" + name, "-r", real, "--allow-move"}, {"tag", "delete", "t" + name}, {"file", "show", "-r", rev, "f1"},
		{"file", "chmod", "x", "-r", rev, "f1"},
		{"file", "search", "-r", rev, "-p", "glob:*a*"}, {"file", "untrack", "f2"}, {"file", "track", "f2"},
		{"sparse", "set", "--clear", "--add", "f1"}, {"sparse", "reset"},
		{"git", "push", "--all", "--allow-empty-description"}, {"git", "push", "-r", real, "--allow-empty-description"},
		{"git", "push", "--deleted"}, {"git", "push", "--tracked"}, {"git", "push", "-t", "t" + name},
		{"git", "push", "-b", name, "--allow-empty-description"}, {"git", "push", "--named", "n" + name + "=" + real},
		{"git", "fetch"}, {"git", "fetch", "-b", "up0"}, {"git", "import"}, {"git", "export"}, {"git", "remote", "list"},
		{"git", "remote", "rename", "origin", "origin2"}, {"git", "remote", "rename", "origin2", "origin"},
		{"resolve", "--tool", ":ours", "f1"}, {"resolve", "-r", rev, "--tool", ":theirs"}, {"converge", "--no-interactive"},
		{"evolog", "-p", "-r", rev}, {"show", "--stat", rev},
		{"diff", "--types", "-r", rev}, {"diff", "--name-only", "--from", rev}, {"diff", "--color-words", "-r", rev},
		{"diff", "--git", "-r", rev}, {"diff", "--summary", "-r", rev + ".." + other},
		{"show", rev}, {"evolog"}, {"interdiff", "--from", rev, "--to", other}, {"file", "list", "-r", rev},
		{"diff", "--from", rev, "--to", other, "--git"},
	}
	return all[r.IntN(len(all))]
}

// unborn is what git fsck says of a HEAD that stands nowhere, as stock jj leaves
// it, too.
var unborn = []string{"notice: HEAD points to an unborn branch (main)", "error: HEAD points to something strange (refs/jj/root)"}

// TestRandomCommandsAgainstStock runs the same random commands with stock jj
// and here: the same words, ids, operations and files after each of them.
func TestRandomCommandsAgainstStock(t *testing.T) {
	r := testenv.Random(t)
	for _, how := range []string{"--no-colocate", "--colocate"} {
		t.Run(how[2:], func(t *testing.T) {
			p := newPair(t, how)
			for _, repo := range []string{p.theirs, p.our} {
				p.stock.Git(filepath.Dir(repo), "init", "-q", "--bare", "remote")
			}
			p.run(t.Context(), "git", "remote", "add", "origin", "../remote")
			for range testenv.Rounds(200) {
				for range r.IntN(3) {
					p.touch(r)
				}
				if r.IntN(10) == 0 {
					p.upstream(r)
				}
				p.run(t.Context(), p.step(r)...)
				p.same()
			}
			// What was written here is good in the eyes of others.
			for _, dir := range []string{p.theirs, p.our} {
				p.stock.Run(dir, "debug", "reindex")
			}
			p.same()
			git := p.stock.Run(p.our, "git", "root", "--ignore-working-copy")
			out := p.stock.Fsck(strings.TrimSpace(git))
			for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
				if line != "" && !slices.Contains(unborn, line) {
					t.Fatalf("git fsck:\n%s", out)
				}
			}
		})
	}
}
