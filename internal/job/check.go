package job

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/job/prepare"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/session"
)

// maxOutput is how much of a check's output is kept: its end.
const maxOutput = 16 << 10

// check runs a job's check on its commit, and with the base's copies of what the check consists of where those differ.
func (r *Room) check(ctx context.Context, j *Job) (e Event, err error) {
	e.Kind = Checked
	if err := r.mayCheck(ctx, j, ""); err != nil {
		return e, err
	}
	if err := r.Tools.Genuine(ctx, j.Repo, j.Base, j.Commit, false); err != nil {
		return e, marked(err)
	}
	changes, err := r.Tools.Changed(ctx, j.Repo, j.Base, j.Commit)
	if err != nil {
		return e, marked(err)
	}
	if e.Tree, err = r.Tools.Tree(ctx, j.Repo, j.Commit); err != nil {
		return e, marked(err)
	}
	p, err := r.parts(ctx, j)
	if err != nil {
		return e, err
	}
	e.Altered = altered(p, changes)
	if e.Own, err = r.run(ctx, j, j.ID, nil); err != nil {
		return e, err
	}
	if e.Own.Verdict == wire.Red {
		if e.Own.Kept, err = r.keeps(ctx, j); err != nil {
			return e, err
		}
	}
	if len(e.Altered) == 0 {
		return e, nil
	}
	e.ByBase, err = r.run(ctx, j, j.ID, e.Altered)
	return e, err
}

// mayCheck refuses a check to whoever may not see all files that it would run on: what it prints and its exit code tell of any of them.
func (r *Room) mayCheck(ctx context.Context, j *Job, commit string) error {
	if j.Check == "" {
		return nil
	}
	out, err := op.Do(op.WithCaller(ctx, j.Caller), r.Rooms, wire.Unseen, wire.UnseenIn{ID: j.ID, Commit: commit})
	if err != nil {
		return err
	}
	if out.Hidden == 0 {
		return nil
	}
	return fault.New(fault.Denied, "job.check", "%d files of the commit are denied to %s, who started the job, and its check would read them",
		out.Hidden, j.Caller.Name).WithNext("start it without --check, or have somebody start it who may see them; " +
		"what is denied: tandem grant list")
}

// keeps says whether the agent may not see all of its own commit: then it does not hear what the check printed, which may hold anything.
func (r *Room) keeps(ctx context.Context, j *Job) (bool, error) { return r.hides(ctx, j, j.Session) }

// hides says whether a session of the job may not see all of its commit.
func (r *Room) hides(ctx context.Context, j *Job, id string) (bool, error) {
	s, err := op.Do(op.WithCaller(ctx, j.Caller), r.Rooms, sessionGet, session.IDIn{ID: id})
	if err != nil {
		return true, err
	}
	out, err := op.Do(op.WithCaller(ctx, s.Caller()), r.Rooms, wire.Unseen, wire.UnseenIn{ID: j.ID})
	return out.Hidden > 0, err
}

// run runs the check once, in the folder of that name: on exactly the commit's files, or with the base's copies of some.
func (r *Room) run(ctx context.Context, j *Job, in string, byBase []string) (*wire.Evidence, error) {
	place, err := r.place(in)
	if err != nil {
		return nil, err
	}
	defer clear(place) //nolint:errcheck // what cannot go now goes with the next one
	tree := filepath.Join(place, "tree")
	if err := r.Tools.Export(ctx, j.Repo, j.Commit, tree); err != nil {
		return nil, err
	}
	ready, release, err := r.needed(ctx, j)
	if err != nil {
		return nil, err
	}
	defer release()
	e := &wire.Evidence{Commit: j.Commit, Command: j.Check, Copies: "job"}
	if byBase != nil {
		e.Copies = "base"
		base := filepath.Join(place, "base")
		if err := r.Tools.Export(ctx, j.Repo, j.Base, base); err != nil {
			return nil, err
		}
		err := overlay(base, tree, byBase)
		if link := (linkInTheWay)(""); errors.As(err, &link) {
			e.Verdict, e.Exit, e.At, e.Output = wire.Red, -1, r.DB.Now(), link.Error()+"\n"
			return e, nil
		}
		if err != nil {
			return nil, err
		}
		if err := os.RemoveAll(base); err != nil {
			return nil, err
		}
	}
	rel, err := filepath.Rel(j.Path, j.Work)
	if err != nil || !filepath.IsLocal(rel) {
		rel = "."
	}
	return e, r.boxed(ctx, j, place, filepath.Join(tree, rel), ready, e)
}

// place is an empty folder for one run.
func (r *Room) place(in string) (string, error) {
	if err := os.MkdirAll(r.Folder, 0o700); err != nil {
		return "", err
	}
	at := filepath.Join(r.Folder, in)
	if err := clear(at); err != nil { // a run that a crash cut off
		return "", err
	}
	return at, os.MkdirAll(filepath.Join(at, "tmp"), 0o700)
}

// clear takes a folder away, also when whoever wrote in it locked folders.
func clear(at string) error {
	if os.RemoveAll(at) == nil {
		return nil
	}
	//nolint:errcheck // what stays locked is what RemoveAll complains about
	filepath.WalkDir(at, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() { // no link is followed: it is not a folder
			os.Chmod(path, 0o700) //nolint:errcheck // as above
		}
		return nil
	})
	return os.RemoveAll(at)
}

// linkInTheWay is a link that a job made where the base has a folder with files of the check.
type linkInTheWay string

func (l linkInTheWay) Error() string {
	return fmt.Sprintf("the job made %s a link, where the base has a folder: the base's copies cannot be put there", printed(string(l)))
}

// unlinked says that no folder above a name is a link.
func unlinked(root *os.Root, name string) error {
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if st, err := root.Lstat(dir); err == nil && st.Mode().Type() == fs.ModeSymlink {
			return linkInTheWay(dir)
		}
	}
	return nil
}

// overlay gives a tree the base's copies of files; one that the base does not have goes. Neither side is followed through a link.
func overlay(base, tree string, files []string) error {
	from, err := os.OpenRoot(base)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenRoot(tree)
	if err != nil {
		return err
	}
	defer to.Close()
	for _, f := range files {
		name := filepath.FromSlash(f)
		if err := unlinked(to, name); err != nil {
			return err
		}
		if err := to.RemoveAll(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		st, err := from.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := to.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if st.Mode().Type() == fs.ModeSymlink {
			target, err := from.Readlink(name)
			if err == nil {
				err = to.Symlink(target, name)
			}
			if err != nil {
				return err
			}
			continue
		}
		data, err := from.ReadFile(name)
		if err != nil {
			return err
		}
		if err := to.WriteFile(name, data, st.Mode().Perm()); err != nil {
			return err
		}
	}
	return nil
}

// boxed runs the command in its box, and writes down what became of it. Only what keeps a check from being run is an error.
func (r *Room) boxed(ctx context.Context, j *Job, place, dir string, ready []prepare.Ready, e *wire.Evidence) error {
	if !r.Box.Works() {
		return fault.New(fault.Conflict, "job.check", "this machine has no sandbox, and a check runs in nothing else").
			WithNext("install bubblewrap (apt install bubblewrap), then: tandem job resume %s", j.ID)
	}
	tree := filepath.Join(place, "tree")
	b, err := r.Box.Alone(tree, filepath.Join(place, "tmp"), dir, j.Check)
	if err != nil {
		return err
	}
	if err := r.provide(&b, tree, ready); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(string(r.Box.Machine.Kind) + "\n" + strings.Join(b.Env, "\n") + "\n" + strings.Join(b.Argv, "\n") + "\n" +
		strings.ReplaceAll(fmt.Sprint(b.Mounts), place, "")))
	e.Environment = hex.EncodeToString(sum[:])
	limited, cancel := context.WithTimeout(ctx, time.Duration(j.Seconds)*time.Second)
	defer cancel()
	cmd, done, err := r.Box.Machine.Command(limited, b)
	if err != nil {
		return err
	}
	var out tail
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, time.Second
	e.At = r.DB.Now()
	began := time.Now()
	full := r.watch(limited, cancel, place)
	err = cmd.Run()
	done()
	cancelled := limited.Err()
	cancel()
	e.Full = full()
	if ctx.Err() != nil { // the server ends, or the job was stopped: the next one runs it again
		return ctx.Err()
	}
	e.Seconds = time.Since(began).Seconds()
	e.Output, e.Bytes, e.Late = out.String(), out.all, cancelled != nil && !e.Full
	var exit *exec.ExitError
	switch {
	case err == nil && !e.Full, errors.Is(err, exec.ErrWaitDelay) && cmd.ProcessState.Success() && !e.Late && !e.Full:
		// one that left something in the background is green, too
		e.Verdict = wire.Green
	case errors.As(err, &exit) || e.Late || e.Full:
		e.Verdict, e.Exit = wire.Red, cmd.ProcessState.ExitCode()
		if !e.Late && !e.Full {
			e.Lacks = string(r.lacking(ctx, j, e.Output))
		}
	default:
		return err
	}
	return nil
}

// tail keeps the end of what is written to it.
type tail struct {
	kept []byte
	all  int64
}

func (t *tail) Write(p []byte) (int, error) {
	t.all += int64(len(p))
	if len(p) > maxOutput {
		t.kept = append(t.kept[:0], p[len(p)-maxOutput:]...)
		return len(p), nil
	}
	if over := len(t.kept) + len(p) - maxOutput; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	t.kept = append(t.kept, p...)
	return len(p), nil
}

func (t *tail) String() string {
	return strings.ToValidUTF8(strings.ReplaceAll(string(t.kept), "\x00", ""), "\uFFFD")
}
