package checkout

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tandem/internal/fault"
)

// Author is in whose name a commit is made.
type Author struct{ Name, Mail string }

// Change is a file that differs between two commits.
type Change struct {
	Status byte // A, D, M, R, C, T
	Path   string
	From   string // its former name
}

// Line is the branch of a worktree and the commits that tandem's next one there stands on, the newest first.
type Line struct {
	Branch  string
	Parents []string
}

// Commit commits all that is in a worktree, in somebody's name, on top of the line's parents, and has the worktree stand there on its
// branch. What history the agent itself made, and where it left HEAD, is not taken: of its commits only the subjects are kept, in the
// message. Repositories inside the worktree that the base does not have are refused.
func (t Tools) Commit(ctx context.Context, path, base string, on Line, message string, by Author) (head string, err error) {
	if err := t.addAll(ctx, path, base); err != nil {
		return "", err
	}
	tree, err := t.git(ctx, path, "write-tree")
	if err != nil {
		return "", err
	}
	if err := t.noNewLinks(ctx, path, base, tree); err != nil {
		return "", err
	}
	was, err := t.git(ctx, path, "rev-parse", on.Parents[0]+"^{tree}")
	if err != nil {
		return "", err
	}
	if head = on.Parents[0]; tree != was || len(on.Parents) > 1 {
		// It fails where the agent took its branch away; then there is nothing to keep.
		said, _ := t.git(ctx, path, "log", "-20", "--no-merges", "--invert-grep", "--grep=^Job: ", "--format=- %s",
			on.Parents[0]+".."+refOf(on.Branch))
		if said != "" {
			message += "\n" + said + "\n"
		}
		if head, err = t.make(ctx, path, tree, on.Parents, message, by); err != nil {
			return "", err
		}
	}
	return head, t.stand(ctx, path, on.Branch, head)
}

// Redo makes another commit out of the files of one, on top of it, and has the worktree stand there.
func (t Tools) Redo(ctx context.Context, path string, on Line, message string, by Author) (string, error) {
	head, err := t.make(ctx, path, on.Parents[0]+"^{tree}", on.Parents, message, by)
	if err != nil {
		return "", err
	}
	return head, t.stand(ctx, path, on.Branch, head)
}

// Alone makes a commit of the files of another one on top of the parents: what is between those and that one is not in it. No branch moves.
func (t Tools) Alone(ctx context.Context, repo, commit string, parents []string, message string, by Author) (string, error) {
	return t.make(ctx, repo, commit+"^{tree}", parents, message, by)
}

// Clean says whether a worktree and its branch stand at a commit, with nothing in it that is in no commit.
func (t Tools) Clean(ctx context.Context, path, branch, commit string) bool {
	t.whole, t.limit, t.cut = true, 4<<10, true
	left, err := t.git(ctx, path, "--no-optional-locks", "status", "--porcelain", "--untracked-files=normal", "--no-renames",
		"--ignore-submodules=all")
	if err != nil || left != "" {
		return false
	}
	t.whole = false
	return t.Tip(ctx, path, "HEAD") == commit && (branch == "" || t.Tip(ctx, path, refOf(branch)) == commit)
}

func refOf(branch string) string { return "refs/heads/" + branch }

func (t Tools) make(ctx context.Context, path, tree string, parents []string, message string, by Author) (string, error) {
	args := []string{"-c", "user.name=" + by.Name, "-c", "user.email=" + by.Mail, "commit-tree", tree, "-F", "-"}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	t.in = strings.NewReader(message)
	return t.git(ctx, path, args...)
}

// stand puts a worktree on its branch, and that on a commit whose files are the worktree's; a merge under way is over.
func (t Tools) stand(ctx context.Context, path, branch, head string) error {
	for _, args := range [][]string{{"symbolic-ref", "HEAD", refOf(branch)}, {"update-ref", "--no-deref", refOf(branch), head},
		{"reset", "-q", head}} {
		if _, err := t.git(ctx, path, args...); err != nil {
			return err
		}
	}
	return nil
}

// Export writes the files of a commit into a folder, which it makes: nothing else is in there.
func (t Tools) Export(ctx context.Context, repo, commit, folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	t.index = filepath.Clean(folder) + ".index"
	defer os.Remove(t.index) //nolint:errcheck // its folder goes anyway
	if _, err := t.git(ctx, repo, "read-tree", commit); err != nil {
		return err
	}
	_, err := t.git(ctx, repo, "checkout-index", "--all", "--force", "--prefix="+filepath.Clean(folder)+"/")
	return err
}

// Changed lists the files that differ between two commits.
func (t Tools) Changed(ctx context.Context, repo, from, to string) ([]Change, error) {
	out, err := t.git(ctx, repo, "diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "-z", "-M",
		"--name-status", from, to)
	if err != nil {
		return nil, err
	}
	var all []Change
	fields := strings.Split(out, "\x00")
	for len(fields) >= 2 && fields[0] != "" {
		c := Change{Status: fields[0][0], Path: fields[1]}
		fields = fields[2:]
		if (c.Status == 'R' || c.Status == 'C') && len(fields) > 0 {
			c.From, c.Path, fields = c.Path, fields[0], fields[1:]
		}
		all = append(all, c)
	}
	return all, nil
}

// Counts are how many lines of each file were added and deleted between two commits, by its newer name; none of what is not text.
func (t Tools) Counts(ctx context.Context, repo, from, to string) (map[string][2]int64, error) {
	counted, err := t.counted(ctx, repo, from, to)
	all := map[string][2]int64{}
	for _, f := range counted {
		var n [2]int64
		n[0], _ = strconv.ParseInt(f.added, 10, 64) // - is none
		n[1], _ = strconv.ParseInt(f.deleted, 10, 64)
		all[f.name] = n
	}
	return all, err
}

// counted is a file that differs, by its newer name, with git's count of its lines: - where it is not text.
type counted struct{ name, added, deleted string }

// counted lists the files that differ between two commits, in the order in which their diff names them.
func (t Tools) counted(ctx context.Context, repo, from, to string) (all []counted, err error) {
	out, err := t.git(ctx, repo, "diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "-z", "-M", "--numstat", from, to)
	for fields := strings.Split(out, "\x00"); len(fields) > 0 && fields[0] != ""; {
		f := strings.SplitN(fields[0], "\t", 3)
		if len(f) < 3 {
			break
		}
		name, rest := f[2], fields[1:]
		if name == "" && len(rest) > 1 { // a renamed one is followed by both names
			name, rest = rest[1], rest[2:]
		}
		all, fields = append(all, counted{name, f[0], f[1]}), rest
	}
	return all, err
}

// Refs are where all refs of a repository stand.
func (t Tools) Refs(ctx context.Context, repo string) (map[string]string, error) {
	out, err := t.git(ctx, repo, "for-each-ref", "--format=%(objectname) %(refname)")
	all := map[string]string{}
	for line := range strings.SplitSeq(out, "\n") {
		if at, name, ok := strings.Cut(line, " "); ok {
			all[name] = at
		}
	}
	return all, err
}

// Files lists all files of a commit.
func (t Tools) Files(ctx context.Context, repo, commit string) ([]string, error) {
	out, err := t.git(ctx, repo, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), err
}

// Content is the beginning of a file of a commit, at most so many bytes; of a link it is where that leads, and of what is no file nothing.
func (t Tools) Content(ctx context.Context, repo, commit, file string, most int) (string, error) {
	t.whole, t.limit, t.cut = true, most, true
	if kind, err := t.git(ctx, repo, "cat-file", "-t", commit+":"+file); err != nil || strings.TrimSpace(kind) != "blob" {
		return "", err
	}
	return t.git(ctx, repo, "cat-file", "blob", commit+":"+file)
}

// Touched says whether a line of a file of one commit is another one, or gone, in a later commit; of line 0, whether the file is.
func (t Tools) Touched(ctx context.Context, repo, from, to, file string, line int64) (bool, error) {
	out, err := t.git(ctx, repo, "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--unified=0", from, to, "--",
		":(top,literal)"+file)
	if err != nil || line == 0 || out == "" {
		return out != "", err
	}
	for said := range strings.SplitSeq(out, "\n") {
		var at, n int64 = 0, 1
		if fields := strings.Fields(said); len(fields) > 1 && fields[0] == "@@" {
			if _, err := fmt.Sscanf(fields[1], "-%d,%d", &at, &n); err != nil {
				n = 1
			}
			if line >= at && line < at+n {
				return true, nil
			}
		}
	}
	return strings.Contains(out, "\nBinary files "), nil
}

// Patch is the beginning of the unified diff between two commits, with or without lines in which only blanks are others, and without some
// of the files: a byte more than most says that it goes on.
func (t Tools) Patch(ctx context.Context, repo, from, to string, most int, blanks bool, without ...string) (string, error) {
	args := []string{"diff", "--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=dirty", "--no-color", "-M"}
	if !blanks {
		args = append(args, "--ignore-all-space", "--ignore-blank-lines")
	}
	args = append(args, from, to, "--", ":(top)")
	for _, w := range without {
		args = append(args, ":(top,literal,exclude)"+w)
	}
	t.whole, t.limit, t.cut = true, most+1, true
	return t.git(ctx, repo, args...)
}

// Branch is the branch that a checkout stands on; "" when it stands on none.
func (t Tools) Branch(ctx context.Context, path string) string {
	name, _ := t.git(ctx, path, "symbolic-ref", "--quiet", "--short", "HEAD") // it fails where there is none
	return name
}

// Unsaved counts the files of a checkout with changes that are in no commit, new ones too; 0 where nobody can say.
func (t Tools) Unsaved(ctx context.Context, repo string) (n int64) {
	t.whole, t.limit, t.cut = true, 1<<20, true
	all, err := t.git(ctx, repo, "--no-optional-locks", "status", "--porcelain", "--no-renames", "--ignore-submodules=all")
	if err != nil {
		return 0
	}
	for line := range strings.SplitSeq(all, "\n") {
		if line != "" {
			n++
		}
	}
	return n
}

// Tip is where a ref stands; "" when there is none, or where nobody can say: what is decided by that asks At.
func (t Tools) Tip(ctx context.Context, repo, ref string) string {
	at, _ := t.git(ctx, repo, "rev-parse", "--verify", "--quiet", ref+"^{commit}") // it fails where there is none
	return at
}

// At is where a ref stands; "" when there is none, and an error where nobody can say now.
func (t Tools) At(ctx context.Context, repo, ref string) (string, error) {
	t.unsure = true
	return t.git(ctx, repo, "rev-parse", "--verify", "--quiet", ref+"^{commit}")
}

// Tree is git's name for the files of a commit.
func (t Tools) Tree(ctx context.Context, repo, commit string) (string, error) {
	return t.git(ctx, repo, "rev-parse", "--verify", "--quiet", commit+"^{tree}")
}

// Holds says whether a commit is in the history of another one, as far as anybody can say: what is decided by that asks Has.
func (t Tools) Holds(ctx context.Context, repo, later, earlier string) bool {
	_, err := t.git(ctx, repo, "merge-base", "--is-ancestor", earlier, later)
	return err == nil
}

// Has says whether a commit is in the history of another one, or that nobody can say now.
func (t Tools) Has(ctx context.Context, repo, later, earlier string) (bool, error) {
	left, err := t.git(ctx, repo, "rev-list", "--max-count=1", earlier, "^"+later)
	return err == nil && left == "", err
}

// Out says whether a branch is checked out somewhere, so that moving it would leave files behind.
func (t Tools) Out(ctx context.Context, repo, branch string) (bool, error) {
	all, err := t.git(ctx, repo, "worktree", "list", "--porcelain")
	for line := range strings.SplitSeq(all, "\n") {
		if line == "branch refs/heads/"+branch {
			return true, err
		}
	}
	return false, err
}

// Move moves a ref from where it stood; it is refused when somebody moved it meanwhile. An empty from is a ref that is not there yet.
func (t Tools) Move(ctx context.Context, repo, ref, to, from string) error {
	if from == "" {
		from = strings.Repeat("0", len(to))
	}
	_, err := t.git(ctx, repo, "update-ref", "-m", "tandem: a job was merged", ref, to, from)
	return err
}

// Join brings another commit into a worktree that stands on its line and has nothing uncommitted, by a merge. Files that do not go together
// are named, and stay in the worktree with the marks of a conflict.
func (t Tools) Join(ctx context.Context, path string, on Line, commit, message string, by Author) (head string, conflicts []string,
	err error) {
	at, err := t.git(ctx, path, "rev-parse", "--verify", "HEAD")
	if err != nil {
		return "", nil, err
	}
	if b := t.Branch(ctx, path); at != on.Parents[0] || b != on.Branch {
		return "", nil, fault.New(fault.Conflict, "session.checkout", "%s stands at %.12s on %q, and not at %.12s on %q: somebody moved it",
			path, at, b, on.Parents[0], on.Branch).WithNext("look at it: git -C %s log --oneline --graph HEAD %s", path, on.Parents[0])
	}
	_, failed := t.git(ctx, path, "-c", "user.name="+by.Name, "-c", "user.email="+by.Mail, "merge", "-q", "--no-edit", "--no-verify",
		"-m", message, commit)
	if failed == nil {
		head, err = t.git(ctx, path, "rev-parse", "HEAD")
		return head, nil, err
	}
	if fault.Is(failed, fault.Unavailable) { // nothing of it stays: it is begun again
		_, err := t.git(ctx, path, "reset", "-q", "--merge")
		return "", nil, cmp.Or(err, failed)
	}
	open, err := t.git(ctx, path, "diff", "--no-ext-diff", "--ignore-submodules=all", "--name-only", "--diff-filter=U", "-z")
	if err != nil {
		return "", nil, err
	}
	conflicts = strings.FieldsFunc(open, func(r rune) bool { return r == 0 })
	if len(conflicts) == 0 {
		return "", nil, failed
	}
	return "", conflicts, nil
}

// Begin has a fresh worktree stand at a commit.
func (t Tools) Begin(ctx context.Context, path, commit string) error {
	_, err := t.git(ctx, path, "reset", "-q", "--hard", commit)
	return err
}

// Together makes a commit out of two, without any files: the second merged into the first. It is "" where the two do not go together, or
// git is too old to say so.
func (t Tools) Together(ctx context.Context, repo, onto, commit, message string, by Author) (string, error) {
	tree, err := t.git(ctx, repo, "merge-tree", "--write-tree", "--no-messages", onto, commit)
	if err != nil {
		return "", ctx.Err()
	}
	return t.make(ctx, repo, tree, []string{onto, commit}, message, by)
}

// Top is the folder of the repository that holds a folder.
func (t Tools) Top(ctx context.Context, folder string) (string, error) {
	return t.git(ctx, folder, "rev-parse", "--show-toplevel")
}

// Around is the folder of the repository that holds a folder, also one that is not there any more; "" where no repository does.
func (t Tools) Around(ctx context.Context, folder string) (string, error) {
	for {
		if _, err := os.Lstat(filepath.Join(folder, ".git")); err == nil {
			return t.Top(ctx, folder)
		}
		up := filepath.Dir(folder)
		if up == folder {
			return "", nil
		}
		folder = up
	}
}
