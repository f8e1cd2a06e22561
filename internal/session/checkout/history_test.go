package checkout_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/session/checkout"
	"tandem/internal/testenv"
)

func committed(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	p.run(p.repo, "git", "init", "-q", "-b", "main")
	p.run(p.repo, "git", "add", "-A")
	p.run(p.repo, "git", "commit", "-qm", "first")
	return p
}

// What is given up in the middle leaves no lock of git's behind: it kept everybody from ever committing there again.
func TestWhatIsGivenUpLeavesNoLock(t *testing.T) {
	p := committed(t)
	base, by := p.run(p.repo, "git", "rev-parse", "HEAD"), checkout.Author{Name: "a", Mail: "a@b"}
	on := checkout.Line{Branch: "main", Parents: []string{base}}
	huge := filepath.Join(p.repo, "huge") // git is at it for a while
	p.write("app/huge", "")
	if err := os.Truncate(huge, 2<<30); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := p.tools.Commit(ctx, p.repo, base, on, "huge", by)
		ended <- err
	}()
	lock := filepath.Join(p.repo, ".git", "index.lock")
	testenv.Eventually(t, "git is at it", time.Minute, func() bool { _, err := os.Stat(lock); return err == nil })
	cancel()
	if err := <-ended; err == nil {
		t.Fatal("it was not given up")
	}
	p.gone(lock)
	if err := os.Remove(huge); err != nil {
		t.Fatal(err)
	}
	p.write("app/b.txt", "b\n")
	if _, err := p.tools.Commit(t.Context(), p.repo, base, on, "small", by); err != nil {
		t.Errorf("the next commit: %v", err)
	}
}

// Whoever can write refs can have git show another commit in place of one. What is checked and looked at is the commit itself.
func TestAReplacedCommitIsShownAsItIs(t *testing.T) {
	p := committed(t)
	base := p.run(p.repo, "git", "rev-parse", "HEAD")
	p.write("app/a.txt", "evil\n")
	p.run(p.repo, "git", "commit", "-qam", "evil")
	evil := p.run(p.repo, "git", "rev-parse", "HEAD")
	p.run(p.repo, "git", "replace", evil, base)
	changed, err := p.tools.Changed(t.Context(), p.repo, base, evil)
	if err != nil || len(changed) != 1 || changed[0].Path != "a.txt" {
		t.Errorf("changed: %+v %v", changed, err)
	}
	if diff, err := p.tools.Patch(t.Context(), p.repo, base, evil, 1<<20, true); err != nil || !strings.Contains(diff, "+evil") {
		t.Errorf("the diff: %s %v", diff, err)
	}
	to := filepath.Join(p.home, "out")
	if err := p.tools.Export(t.Context(), p.repo, evil, to); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(to, "a.txt")); string(text) != "evil\n" {
		t.Errorf("the file: %s %v", text, err)
	}
}

// A repository inside a worktree has a configuration of its own, and what that names is not run. It is refused, unless it is ignored.
func TestARepositoryInAWorktreeIsRefused(t *testing.T) {
	p := committed(t)
	base, by := p.run(p.repo, "git", "rev-parse", "HEAD"), checkout.Author{Name: "a", Mail: "a@b"}
	ran := filepath.Join(p.home, "ran")
	p.write("app/x/in/b.txt", "b\n")
	in := filepath.Join(p.repo, "x", "in")
	p.run(in, "git", "init", "-q")
	p.run(in, "git", "add", "-A")
	p.run(in, "git", "commit", "-qm", "inner")
	p.write("app/x/in/.git/info/attributes", "* filter=evil\n")
	p.run(in, "git", "config", "filter.evil.clean", "touch "+ran+"; cat")
	commit := func() error {
		p.write("app/x/in/b.txt", "c\n") // git would look into it again
		_, err := p.tools.Commit(t.Context(), p.repo, base, checkout.Line{Branch: "main", Parents: []string{base}}, "it", by)
		return err
	}
	if err := commit(); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), in) {
		t.Errorf("beside: %v", err)
	}
	p.write("app/.gitignore", "x\n")
	if err := commit(); err != nil {
		t.Errorf("ignored: %v", err)
	}
	p.run(p.repo, "git", "add", "-f", "x/in") // the agent's own git
	if err := commit(); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), in) {
		t.Errorf("in the index: %v", err)
	}
	p.gone(ran)
}

// An agent can overwrite an object's file: git shows what lies there. That is found out before anybody believes it.
func TestAnOverwrittenObjectIsFoundOut(t *testing.T) {
	p := committed(t)
	base := p.run(p.repo, "git", "rev-parse", "HEAD")
	p.write("app/a.txt", "good\n")
	p.run(p.repo, "git", "commit", "-qam", "more")
	head := p.run(p.repo, "git", "rev-parse", "HEAD")
	genuine := func(diff bool) error { return p.tools.Genuine(t.Context(), p.repo, base, head, diff) }
	if whole, diff := genuine(false), genuine(true); whole != nil || diff != nil {
		t.Fatalf("as it was made: %v, %v", whole, diff)
	}
	object := func(name string) string {
		id := p.run(p.repo, "git", "rev-parse", name)
		return filepath.Join(p.repo, ".git", "objects", id[:2], id[2:])
	}
	swap := func(name, with string) func() {
		at := object(name)
		was, err := os.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		put := func(data []byte) {
			if err := errors.Join(os.Remove(at), os.WriteFile(at, data, 0o444)); err != nil {
				t.Fatal(err)
			}
		}
		evil, err := os.ReadFile(object(with))
		if err != nil {
			t.Fatal(err)
		}
		put(evil)
		return func() { put(was) }
	}
	back := swap(head+":a.txt", base+":a.txt")
	if text := p.run(p.repo, "git", "cat-file", "blob", head+":a.txt"); text != "one" {
		t.Fatalf("git sees through it by itself: %q", text)
	}
	if whole, diff := genuine(false), genuine(true); !fault.Is(whole, fault.Conflict) || !fault.Is(diff, fault.Conflict) {
		t.Errorf("a changed file: %v, %v", whole, diff)
	}
	back()
	back = swap(base+":sub/b.txt", base+":a.txt") // which the two have in common
	if err := genuine(false); !fault.Is(err, fault.Conflict) {
		t.Errorf("a file that the job did not change: %v", err)
	}
	back()
	if err := genuine(false); err != nil {
		t.Errorf("put back: %v", err)
	}
}

// What git prints is read only as far as it is wanted.
func TestALongDiffIsNotReadToItsEnd(t *testing.T) {
	p := committed(t)
	base := p.run(p.repo, "git", "rev-parse", "HEAD")
	p.write("app/a.txt", strings.Repeat("a line of a long file\n", 200_000))
	p.run(p.repo, "git", "commit", "-qam", "long")
	head := p.run(p.repo, "git", "rev-parse", "HEAD")
	diff, err := p.tools.Patch(t.Context(), p.repo, base, head, 1000, true)
	if err != nil || len(diff) != 1001 {
		t.Errorf("%d bytes, %v", len(diff), err)
	}
}
