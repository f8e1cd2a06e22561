package job

import (
	"path/filepath"
	"slices"
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
		ctx := op.WithSight(op.WithCaller(t.Context(), op.Caller{Tenant: "t", Actor: actor, Name: actor, Kind: op.Person, Present: "pin"}),
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

// A look is a person's, in the panel or with the PIN. What a program of theirs was shown is no look, and what works for itself has none.
// What is written down already is not written again.
func TestAProgramsLookIsNoPersons(t *testing.T) {
	a := newAlone(t, "")
	first := a.git("rev-parse", "HEAD")
	at := a.git("rev-parse", "HEAD~1")
	a.stands(func(j *Job) {
		j.State, j.Base, j.Commit, j.Views = wire.Review, at, first, []viewed{{By: "act_local", Commit: "before"}}
	})
	person := op.Caller{Tenant: "t", Actor: "act_ann", Name: "ann", Kind: op.Person}
	panel, present := person, person
	panel.Door, present.Present = op.DoorPanel, "pin"
	program := op.Caller{Tenant: "t", Actor: "act_local", Name: "local", Kind: op.Local, For: []string{"person:ann"}}
	looks := func(c op.Caller, commit string) error {
		ctx := op.WithCaller(t.Context(), c)
		return a.DB.Write(ctx, func(tx *db.Tx) error {
			_, err := a.viewed(ctx, tx, wire.ViewedIn{ID: "job_1", Commit: commit})
			return err
		})
	}
	says := func(c op.Caller, in wire.DiffIn, looked, shown string, all bool) {
		t.Helper()
		in.ID = "job_1"
		out, err := a.diff(op.WithSight(op.WithCaller(t.Context(), c), op.Sight{File: func(string) bool { return true }}), in)
		if err != nil || out.Looked != looked || out.Shown != shown || out.All() != all {
			t.Errorf("%s by %q: looked at %q, was shown %q, all %v: %v", c.Name, c.Door, out.Looked, out.Shown, out.All(), err)
		}
	}
	mine := wire.DiffIn{Since: wire.MyLook}
	says(program, wire.DiffIn{}, "", "before", true)
	token, agent, session, overMCP := person, program, program, panel
	token.Token = "tok_1"
	agent.Kind, agent.Name, agent.Actor = op.Agent, "builder", "act_builder"
	session.Kind, session.Session = op.Session, "ses_1"
	overMCP.Door = op.DoorMCP
	service := op.Caller{Tenant: "t", Actor: "act_api", Name: "api", Kind: op.Service, For: program.For}
	for _, c := range []op.Caller{agent, session, overMCP, service} {
		if err := looks(c, first); !fault.Is(err, fault.Denied) {
			t.Errorf("%s of the kind %s: %v", c.Name, c.Kind, err)
		}
	}
	for _, c := range []op.Caller{program, token} {
		if err := looks(c, first); (c.Token == "") != (err == nil) || err != nil && !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	if err := a.DB.Write(op.WithCaller(t.Context(), program), func(tx *db.Tx) error {
		_, err := a.viewed(op.WithCaller(t.Context(), program), tx, wire.ViewedIn{ID: "job_1", Commit: first, Myself: true})
		return err
	}); !fault.Is(err, fault.Denied) || fault.Public(err).Data["presence"] != "required" {
		t.Errorf("a program says that it was the person: %v", err)
	}
	says(program, mine, "", first, false)
	says(token, mine, "", first, false)
	says(panel, wire.DiffIn{}, "", "", true)
	if err := looks(panel, first); err != nil {
		t.Fatal(err)
	}
	if err := looks(present, first); !fault.Is(err, fault.Conflict) {
		t.Errorf("the same look again: %v", err)
	}
	for _, c := range []op.Caller{panel, present} {
		says(c, mine, first, "", true)
	}
	says(program, mine, first, first, true) // the panel's look is the terminal's
	says(agent, wire.DiffIn{}, "", "", true)
}

// Where a merge puts a file that somebody may not see under another name, they do not see it there.
func TestADeniedFileIsHiddenUnderTheNameOfAConflict(t *testing.T) {
	a := newAlone(t, "")
	commit := func(words string, do func()) string {
		t.Helper()
		do()
		a.git("add", "-A")
		a.git("commit", "-q", "-m", words)
		return a.git("rev-parse", "HEAD")
	}
	const canary = "canary 81c2f0d9"
	lines := "one\ntwo\nthree\nfour\nfive\nsix\n"
	base := commit("base", func() { a.write("priv/moved.txt", lines); a.write("open.txt", "a\n") })
	theirs := commit("theirs", func() {
		a.write("priv/secret.txt", canary+" aside\n")
		a.write("priv/moved.txt", lines+canary+" moved\n")
	})
	a.git("checkout", "-q", "-B", "ours", base)
	first := commit("ours", func() {
		a.write("priv/secret.txt/in.txt", "x\n")
		a.git("mv", "priv/moved.txt", "moved.txt")
	})
	a.git("merge", "-q", "--no-commit", "-s", "ours", theirs)
	last := commit("together", func() { a.write("open.txt", "b\n") })
	a.stands(func(j *Job) { j.State, j.Base, j.Commit = wire.Review, theirs, last })
	ctx := op.WithCaller(t.Context(), op.Caller{Tenant: "t", Name: "ann", Kind: op.Person})
	ctx = op.WithSight(ctx, op.Sight{File: func(path string) bool {
		return !slices.Contains([]string{"secret.txt", "priv"}, filepath.Base(path)) && !strings.HasSuffix(path, "priv/moved.txt")
	}})
	for _, in := range []wire.DiffIn{{ID: "job_1", Commit: last}, {ID: "job_1", Since: first}} {
		out, err := a.diff(ctx, in)
		if err != nil || strings.Contains(out.Diff, "canary") || !strings.Contains(out.Diff, "+b") || out.Hidden == 0 {
			t.Errorf("%+v: %d hidden, %+v %v\n%s", in, out.Hidden, out.Files, err, out.Diff)
		}
		for _, f := range out.Files {
			if strings.Contains(f.Path+f.From, "secret.txt~") {
				t.Errorf("%+v names %s", in, f.Path)
			}
		}
	}
}

// A branch that was begun anew holds nothing of what the job stood on: the first commit of all is then one of the job's, and has none
// before it.
func TestAFirstCommitHasNothingBeforeIt(t *testing.T) {
	a := newAlone(t, "")
	head, root := a.git("rev-parse", "HEAD"), a.git("rev-list", "--max-parents=0", "HEAD")
	a.git("checkout", "-q", "--orphan", "anew")
	a.git("commit", "-q", "--allow-empty", "-m", "anew")
	a.stands(func(j *Job) { j.State, j.Base, j.Commit = wire.Review, a.git("rev-parse", "HEAD"), head })
	ctx := op.WithSight(op.WithCaller(t.Context(), op.Caller{Tenant: "t", Name: "ann", Kind: op.Person}),
		op.Sight{File: func(string) bool { return true }})
	if out, err := a.diff(ctx, wire.DiffIn{ID: "job_1", Commit: root}); !fault.Is(err, fault.Conflict) {
		t.Errorf("%+v %v", out, err)
	}
	if _, err := a.diff(ctx, wire.DiffIn{ID: "job_1", Commit: head}); err != nil {
		t.Error(err)
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
