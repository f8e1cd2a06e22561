package job

import (
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
)

// A look is somebody's own, and about all of the newest commit. What came since is what the job did: what came in from the branch meanwhile
// is not in it, and what did not go together is, as it was resolved.
func TestWhatCameSinceALookIsTheJobsOwn(t *testing.T) {
	a := newAlone(t, "")
	commit := func(name, text string) string {
		t.Helper()
		a.write(name, text)
		a.git("add", "-A")
		a.git("commit", "-q", "-m", "more "+name)
		return a.git("rev-parse", "HEAD")
	}
	base := commit("both.txt", "one\n")
	first := commit("both.txt", "ours\n")
	a.git("checkout", "-q", "-b", "theirs", base)
	theirs := commit("both.txt", "theirs\n")
	a.git("checkout", "-q", "-")
	a.stands(func(j *Job) { j.State, j.Base, j.Commit, j.Onto = wire.Review, base, first, "theirs" })
	as := func(actor string) (func(commit string) error, func(in wire.DiffIn) (wire.DiffOut, error)) {
		ctx := op.WithSight(op.WithCaller(t.Context(), op.Caller{Tenant: "t", Actor: actor, Name: actor, Kind: op.Person}),
			op.Sight{File: func(string) bool { return true }})
		return func(commit string) error {
				return a.DB.Write(ctx, func(tx *db.Tx) error {
					_, err := a.viewed(ctx, tx, wire.ViewedIn{ID: "job_1", Commit: commit})
					return err
				})
			}, func(in wire.DiffIn) (wire.DiffOut, error) {
				in.ID = "job_1"
				return a.diff(ctx, in)
			}
	}
	looks, ann := as("ann")
	_, ben := as("ben")
	if err := looks(base); !fault.Is(err, fault.Conflict) {
		t.Errorf("a look at another commit: %v", err)
	}
	if err := looks(first); err != nil {
		t.Fatal(err)
	}
	a.git("merge", "-q", "--no-commit", "-s", "ours", "theirs")
	a.write("both.txt", "resolved\n")
	a.git("add", "-A")
	a.git("commit", "-q", "-m", "together")
	last := a.git("rev-parse", "HEAD")
	a.stands(func(j *Job) { j.Base, j.Commit = theirs, last })

	out, err := ann(wire.DiffIn{Since: wire.MyLook})
	if err != nil || !out.All() || out.Since != first || !strings.Contains(out.Diff, "+resolved") || !strings.Contains(out.Diff, "-<<<<<<<") {
		t.Errorf("since the look: %+v %v", out, err)
	}
	if out, err := ann(wire.DiffIn{Since: wire.MyLook, Blanks: true}); err != nil || out.All() {
		t.Errorf("without blanks it is not all: %+v %v", out, err)
	}
	if _, err := ben(wire.DiffIn{Since: wire.MyLook}); !fault.Is(err, fault.Conflict) {
		t.Errorf("who did not look: %v", err)
	}
	if out, err := ben(wire.DiffIn{Since: first}); err != nil || out.All() || out.Since != first {
		t.Errorf("since a commit that one did not look at: %+v %v", out, err)
	}
	if out, err := ben(wire.DiffIn{Commit: last}); err != nil || !out.Part || !strings.Contains(out.Diff, "+resolved") || len(out.Steps) != 2 {
		t.Errorf("the merge alone: %+v %v", out, err)
	}
	for _, in := range []wire.DiffIn{{Commit: base}, {Since: theirs}, {Commit: "0"}, {Since: "--all"}} {
		if _, err := ben(in); !fault.Is(err, fault.NotFound) {
			t.Errorf("%+v: %v", in, err)
		}
	}
}

// A picture is shown as it was and as it is, to whoever may see its file; what a browser would run is none.
func TestAPictureIsShown(t *testing.T) {
	a := newAlone(t, "")
	const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\x01"
	a.write("logo.png", png+"was")
	a.write("kept.png", png)
	a.write("page.png", "<html><script>alert(1)</script>\x00")
	a.git("add", "-A")
	a.git("commit", "-q", "-m", "pictures")
	base := a.git("rev-parse", "HEAD")
	a.git("mv", "logo.png", "mark.png")
	a.write("mark.png", png+"was, and is more than half of that")
	a.write("secret.png", png)
	a.write("page.png", "<html><script>alert(2)</script>\x00")
	a.write("huge.png", png+strings.Repeat("x", maxImage))
	a.git("add", "-A")
	a.git("commit", "-q", "-m", "others")
	head := a.git("rev-parse", "HEAD")
	a.stands(func(j *Job) { j.State, j.Base, j.Commit = wire.Review, base, head })
	ctx := op.WithSight(op.WithCaller(t.Context(), op.Caller{Tenant: "t", Name: "ann", Kind: op.Person}),
		op.Sight{File: func(path string) bool { return filepath.Base(path) != "secret.png" }})
	out, err := a.image(ctx, wire.ImageIn{ID: "job_1", Commit: head, Path: "mark.png"})
	if err != nil || out.Type != "image/png" || !strings.HasPrefix(string(out.Data), png+"was, and") {
		t.Errorf("%s %q %v", out.Type, out.Data, err)
	}
	for _, c := range []struct {
		commit, path string
		want         fault.Kind
	}{{head, "kept.png", fault.NotFound}, {head, "page.png", fault.NotFound}, {head, "secret.png", fault.NotFound},
		{head, "../mark.png", fault.NotFound}, {"HEAD", "mark.png", fault.NotFound}, {base, "mark.png", fault.NotFound},
		{head, "huge.png", fault.Exhausted}} {
		if out, err := a.image(ctx, wire.ImageIn{ID: "job_1", Commit: c.commit, Path: c.path}); !fault.Is(err, c.want) || out.Data != nil {
			t.Errorf("%s: %v", c.path, err)
		}
	}
}
