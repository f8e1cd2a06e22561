package job

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/owner"
	"tandem/internal/session"
	"tandem/internal/session/checkout"
	"tandem/internal/tool"
)

// everybody may still do what they began.
var everybody = People{
	Still: func(context.Context, op.Caller) error { return nil },
	Known: func(context.Context, string, string) error { return nil },
}

// sessions stand in for the session room behind the gate: one session, whose turns write what they are told and end at once. They outlive
// the server, as rows do, and know their keys.
type sessions struct {
	tools checkout.Tools

	mu    sync.Mutex
	keys  map[string]*session.Turn
	turns []*session.Turn
	path  string
	after func(name string) // what happens when an operation is done, before its caller hears of it
}

func (s *sessions) Invoke(ctx context.Context, name string, in any) (any, error) {
	out, err := s.invoke(ctx, name, in)
	s.after(name)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return out, err
}

func (s *sessions) invoke(ctx context.Context, name string, in any) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch in := in.(type) {
	case session.CheckoutIn:
		c, err := s.tools.Add(context.WithoutCancel(ctx), in.Kind, in.Directory, in.Name)
		s.path = c.Path
		return c, err
	case session.CreateIn:
		return &session.Session{ID: "ses_1", Model: "m/m"}, nil
	case session.PromptIn:
		key := op.CallerFrom(ctx).Idempotency
		if t := s.keys[key]; t != nil {
			return t, nil
		}
		t := &session.Turn{ID: fmt.Sprint("turn_", len(s.turns)+1), State: session.Done, CreatedAt: time.Now()}
		s.keys[key], s.turns = t, append(s.turns, t)
		text := "wrong\n"
		if strings.Contains(in.Text, "It failed: exit code 3") {
			text = "right\n"
		}
		return t, os.WriteFile(filepath.Join(s.path, "answer.txt"), []byte(text), 0o600)
	case session.TurnIn:
		for _, t := range s.turns {
			if t.ID == in.Turn {
				return session.TurnsOut{Turns: []*session.Turn{t}}, nil
			}
		}
	case session.IDIn:
		if name == string(sessionGet) {
			return &session.Session{ID: in.ID}, nil
		}
		err := s.tools.Discard(context.WithoutCancel(ctx), checkout.Checkout{Kind: checkout.Worktree, Repo: filepath.Dir(s.path) + "/app",
			Path: s.path, Name: "tandem/" + strings.TrimPrefix(filepath.Base(s.path), "app-")})
		return session.DiscardOut{OK: err == nil}, err
	case wire.UnseenIn:
		return wire.UnseenOut{}, nil
	}
	return nil, fault.New(fault.NotFound, name, "there is no %T", in)
}

// takeBack is what the session room does with a checkout in which nobody works.
func (s *sessions) takeBack(ctx context.Context, _, path string) error {
	name := filepath.Base(path)
	repo, seat := filepath.Join(filepath.Dir(path), "app"), strings.TrimPrefix(name, "app-")
	return s.tools.Discard(ctx, checkout.Checkout{Kind: checkout.Worktree, Repo: repo, Path: path, Name: "tandem/" + seat})
}

// A server that dies before or after anything that a job does is followed by one that goes on: each prompt is given once, each commit is
// checked, and the job is in review, with a red check on the way.
func TestAJobOutlivesTheServerWhereverItDies(t *testing.T) {
	box, err := tool.FindSandbox(t.Context(), tool.AnySandbox)
	if err != nil || !box.Works() {
		t.Fatalf("checks run in a sandbox, and none works here: %v", err)
	}
	for _, place := range []string{"nowhere", "step planned", "session.checkout", "session.create", "step working", "session.prompt",
		"session.turns", "step checking", "session.get", "step sent back", "session.discard",
		"step queued 1", "step queued 2", "step queued 3"} {
		t.Run(place, func(t *testing.T) { outlive(t, box, place) })
	}
}

func outlive(t *testing.T, box *tool.Sandbox, place string) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repo := filepath.Join(home, "app")
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", repo, "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if err := os.Mkdir(repo, 0o755); err != nil {
		t.Fatal(err)
	}
	git("init", "-q", "-b", "main")
	git("commit", "-q", "--allow-empty", "-m", "first")
	d, err := db.Open(t.Context(), filepath.Join(home, "a.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Migrate(t.Context(), journal.Migrations, Migrations); err != nil {
		t.Fatal(err)
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	tools := checkout.Tools{Env: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}}
	far := &sessions{tools: tools, keys: map[string]*session.Turn{}, after: func(string) {}}
	died, queued := false, 0
	serve := func(fence int64) (*Room, context.CancelFunc, chan error) {
		ctx, cancel := context.WithCancel(t.Context())
		r := New(d, journal.New(d, key), slog.New(slog.DiscardHandler), everybody)
		r.Rooms, r.Tools, r.Box, r.Folder = far, tools, box, filepath.Join(home, "jobs")
		r.Owner, r.TakeBack = owner.Server{ID: fmt.Sprint(fence), Fence: fence}, far.takeBack
		die := func(at string) {
			if at == place && !died {
				died = true
				cancel()
			}
		}
		r.Step, far.after = func(j *Job) {
			if j.State == wire.Queued { // it is brought together, checked, merged
				queued++
				die(fmt.Sprint("step queued ", queued))
				return
			}
			die("step " + string(j.State))
		}, die
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		return r, cancel, ended
	}
	caller := op.WithCaller(t.Context(), op.Caller{Tenant: "t", Actor: "act_1", Name: "ann", Kind: op.Person})
	r, cancel, ended := serve(1)
	var id string
	if err := d.Write(caller, func(tx *db.Tx) error {
		j, err := r.start(caller, tx, wire.StartIn{Task: "answer", Folder: repo, Agent: "m/m", Check: "grep -q right answer.txt || exit 3"})
		if err == nil {
			id = j.ID
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	until := func(state wire.State) *Job {
		t.Helper()
		for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); pause(t.Context(), nil, 10*time.Millisecond) {
			j, err := r.get(t.Context(), "t", id)
			if err != nil {
				t.Fatal(err)
			}
			if j.State == state && (state != wire.Merged || j.Path == "") {
				return j
			}
			if j.State == wire.Stopped {
				t.Fatalf("it stopped: %s", j.Reason)
			}
			select {
			case err := <-ended: // the server died: another one starts
				if err != nil {
					t.Fatal(err)
				}
				r, cancel, ended = serve(r.Owner.Fence + 1)
			default:
			}
		}
		t.Fatalf("it is not %s after two minutes", state)
		return nil
	}
	j := until(wire.Review)
	evidence, err := r.evidence(t.Context(), "t", id)
	if err != nil || len(evidence) != 2 || evidence[0].Verdict != wire.Red || evidence[1].Verdict != wire.Green ||
		evidence[1].Commit != j.Commit {
		t.Errorf("evidence: %+v %v", evidence, err)
	}
	if len(far.turns) != 2 || j.Turns != 2 {
		t.Errorf("%d turns were taken, and the job says %d: each prompt is given once", len(far.turns), j.Turns)
	}
	git("switch", "-q", "--detach") // main is checked out nowhere
	caller = op.WithSight(caller, op.Sight{File: func(string) bool { return true }})
	if strings.HasPrefix(place, "step queued") {
		git("commit", "-q", "--allow-empty", "-m", "of a person")
		git("branch", "-f", "main", "HEAD")
		if _, err := r.enqueue(caller, wire.QueueAddIn{ID: id, Commit: j.Commit}); err != nil {
			t.Fatal(err)
		}
	} else if _, err := r.merge(caller, wire.MergeIn{ID: id, Commit: j.Commit}); err != nil {
		t.Fatal(err)
	}
	j = until(wire.Merged)
	if got := git("rev-parse", "main"); got != j.Commit {
		t.Errorf("main stands at %s, and the job was merged at %s", got, j.Commit)
	}
	if evidence, err = r.evidence(t.Context(), "t", id); err != nil || evidence[len(evidence)-1].Verdict != wire.Green ||
		evidence[len(evidence)-1].Commit != j.Commit {
		t.Errorf("what was merged was not checked: %+v %v", evidence, err)
	}
	if left := git("worktree", "list"); strings.Contains(left, "job-") {
		t.Errorf("workspaces are left: %s", left)
	}
	if died == (place == "nowhere") {
		t.Errorf("the server did not die at %s", place)
	}
	cancel()
	<-ended
}
