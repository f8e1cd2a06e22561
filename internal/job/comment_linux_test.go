package job

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/session"
)

// Comments on lines wait until a person sends the job back, go to the agent as one message, and are answered when their lines changed.
func TestCommentsGoBackTogether(t *testing.T) {
	a := newAlone(t, "")
	a.write("lines.txt", "one\ntwo\nthree\n")
	a.git("add", "-A")
	a.git("commit", "-q", "-m", "lines")
	a.stands(func(j *Job) {
		j.State, j.Session, j.Agent, j.Turns, j.Branch, j.Commit = wire.Review, "ses_1", "m/m", 1, "job", a.git("rev-parse", "HEAD")
	})
	caller := op.WithSight(op.WithCaller(t.Context(), op.Caller{Tenant: "t", Name: "ann", Kind: op.Person}),
		op.Sight{File: func(path string) bool { return filepath.Base(path) != "secret.txt" }})
	say := func(file string, line int64, commit string) error {
		_, err := a.comment(caller, wire.CommentIn{ID: "job_1", File: file, Line: line, Commit: commit, Text: "about " + file})
		return err
	}
	for _, c := range []struct {
		file string
		line int64
		want fault.Kind
	}{{"lines.txt", 4, fault.Invalid}, {"none.txt", 1, fault.NotFound}, {"secret.txt", 1, fault.NotFound},
		{"../lines.txt", 1, fault.NotFound}} {
		if err := say(c.file, c.line, a.job.Commit); !fault.Is(err, c.want) {
			t.Errorf("%s:%d: %v", c.file, c.line, err)
		}
	}
	if err := say("lines.txt", 1, a.job.Base); !fault.Is(err, fault.Conflict) {
		t.Errorf("on another commit: %v", err)
	}
	send := func(text string) (j *wire.Job, err error) {
		err = a.DB.Write(caller, func(tx *db.Tx) error {
			j, err = a.back(caller, tx, wire.BackIn{ID: "job_1", Text: text})
			return err
		})
		return j, err
	}
	if _, err := send(""); !fault.Is(err, fault.Invalid) {
		t.Errorf("with nothing to say: %v", err)
	}
	for _, line := range []int64{2, 3, 0} {
		if err := say("lines.txt", line, a.job.Commit); err != nil {
			t.Fatal(err)
		}
	}
	bound, err := a.bindBack(caller, wire.BackIn{ID: "job_1"})
	if err != nil || len(bound) != 1 || strings.Count(bound[0].Value, "lines.txt") != 6 {
		t.Errorf("an approval holds for %+v: %v", bound, err)
	}
	if j, err := send("and a test"); err != nil || j.State != wire.SentBack || len(j.Comments) != 0 {
		t.Fatalf("%+v %v", j, err)
	}
	j, err := a.get(t.Context(), "t", "job_1")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"\n1. lines.txt:2\nabout lines.txt\n", "\n2. lines.txt:3\n", "\n3. lines.txt\n", "and a test"} {
		if !strings.Contains(j.Prompt, part) {
			t.Errorf("the agent does not hear %q: %s", part, j.Prompt)
		}
	}
	if _, err := send(""); !fault.Is(err, fault.Invalid) {
		t.Errorf("they are sent twice: %v", err)
	}
	a.Rooms = &script{do: map[string]func(context.Context, any) (any, error){
		"session.prompt": func(context.Context, any) (any, error) {
			a.write("lines.txt", "zero\none\nnot two\nthree\n")
			return &session.Turn{ID: "turn_2"}, nil
		},
		"session.turns": func(context.Context, any) (any, error) {
			return session.TurnsOut{Turns: []*session.Turn{{ID: "turn_2", State: session.Done, CreatedAt: time.Now()}}}, nil
		}}}
	if j = a.rest(); j.State != wire.Review {
		t.Fatalf("it is %s: %s", j.State, j.Reason)
	}
	for i, want := range []bool{true, false, true} {
		if c := j.Comments[i]; !c.Sent || c.Answered != want {
			t.Errorf("comment %d: %+v", i+1, c)
		}
	}
	a.stands(func(j *Job) { j.Comments[0].File = "secret.txt" })
	if shown, err := a.read(caller, wire.IDIn{ID: "job_1"}); err != nil || len(shown.Comments) != 2 {
		t.Errorf("who may not see a file sees what is said about it: %+v %v", shown.Comments, err)
	}
}
