package job

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	"tandem/internal/testenv"
	"tandem/test/bookmark"
)

// station is a repository with approved jobs that wait in the queue of main, and servers that may die.
type station struct {
	*alone
	jobs []string
	seal bool // rows count only while the journal vouches for them
	die  int  // before which step of the queue the server dies; 0: it lives
	// kills says how many steps later it dies, each time anew.
	kills func() int
	died  int
	at    int
	over  int // jobs that a serve before is done with
	fence int64
}

// nobody answers for sessions: what goes back to an agent stops there, and workspaces are taken back by the room itself.
type nobody struct{}

func (nobody) Invoke(_ context.Context, name string, in any) (any, error) {
	switch in := in.(type) {
	case wire.UnseenIn:
		return wire.UnseenOut{}, nil
	case session.IDIn:
		if name == string(sessionGet) {
			return &session.Session{ID: in.ID}, nil
		}
		return nil, op.NoSuch("session", in.ID)
	}
	return nil, fault.New(fault.Conflict, name, "nobody works here")
}

// add has a job wait that writes files, in a workspace of its own.
func (s *station) add(name, check string, files map[string]string) {
	s.t.Helper()
	s.addOn("", name, check, files)
}

// addOn has a job wait that stands on another one; on none where on is "".
func (s *station) addOn(on, name, check string, files map[string]string) {
	s.t.Helper()
	id, path := "job_"+name, filepath.Join(filepath.Dir(s.repo), "app-"+name)
	base := s.git("rev-parse", "main")
	if on != "" {
		base = s.read("job_" + on).Commit
	}
	s.git("worktree", "add", "-q", "-b", "tandem/"+name, path, base)
	for f, text := range files {
		if err := os.WriteFile(filepath.Join(path, f), []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	s.git("-C", path, "add", "-A")
	s.git("-C", path, "commit", "-q", "-m", name)
	commit := s.git("-C", path, "rev-parse", "HEAD")
	j := &Job{Tenant: "t", Branch: "tandem/" + name, Work: path, Job: wire.Job{ID: id, State: wire.Queued, Task: name, Check: check,
		Seconds: 60, Bound: 3, Repo: s.repo, Base: base, Onto: "main", Path: path, Commit: commit, Approved: commit,
		ApprovedBy: "ann", Session: "ses_" + name, Agent: "m/m", Turns: 2, QueuedAt: time.Unix(int64(100+len(s.jobs)), 0)}}
	j.Verdict, s.jobs = wire.Unchecked, append(s.jobs, id)
	if on != "" {
		j.On, j.Held = "job_"+on, true
		if err := s.DB.Write(s.t.Context(), func(tx *db.Tx) error {
			_, err := s.change(tx, "t", j.On, func(lower *Job) error { lower.Above = append(lower.Above, id); return nil })
			return err
		}); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := s.DB.Write(s.t.Context(), func(tx *db.Tx) error {
		approved := *j
		j.State = wire.Checking
		if err := s.insert(tx, j); err != nil {
			return err
		}
		// its check was green before it was approved
		if err := s.settleIn(tx, j, Event{Kind: Checked, Own: &wire.Evidence{Commit: commit, Command: check, Copies: "job",
			Verdict: wire.Green}}); err != nil {
			return err
		}
		_, err := s.change(tx, "t", id, func(now *Job) error { *now = approved; now.Verdict = wire.Green; return nil })
		return err
	}); err != nil {
		s.t.Fatal(err)
	}
}

// server is the next server on the rows of a station: a later one than all before.
func (s *station) server() *Room {
	s.t.Helper()
	jn := s.Journal
	if !s.seal {
		_, key, err := ed25519.GenerateKey(nil)
		if err != nil {
			s.t.Fatal(err)
		}
		jn = journal.New(s.DB, key)
	}
	s.fence++
	r := New(s.DB, jn, slog.New(slog.NewTextHandler(s.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})), everybody)
	r.Sealed = s.seal
	r.Rooms, r.Tools, r.Box, r.Folder, r.Train = nobody{}, checkout.Tools{Env: s.env}, s.Box, s.Folder, s.Train
	r.Owner = owner.Server{ID: fmt.Sprint(s.fence), Fence: s.fence}
	r.TakeBack = func(_ context.Context, _, path string) error { return os.RemoveAll(path) }
	return r
}

// serve runs servers, one after the other, until every job is merged or stopped.
func (s *station) serve() {
	s.t.Helper()
	patience := 3 * time.Minute
	if testenv.Soak() {
		patience = 15 * time.Minute // what runs for hours shares its machine
	}
	open, end := slices.Clone(s.jobs[s.over:]), time.Now().Add(patience)
	for {
		ctx, cancel := context.WithCancel(s.t.Context())
		r := s.server()
		r.Step = func(j *Job) {
			line, err := r.waiting(context.WithoutCancel(ctx), "t", s.repo, "main")
			q, wrong := r.queue(context.WithoutCancel(ctx), "t", s.repo, "main")
			if err != nil || wrong != nil || j.State != wire.Queued || leads(q.Train, line) != j.ID {
				return
			}
			if s.at++; s.at == s.die {
				cancel()
			}
		}
		if s.kills != nil {
			s.die = s.at + s.kills()
		}
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		for ; len(open) > 0 && ctx.Err() == nil; pause(ctx, nil, 10*time.Millisecond) {
			if time.Now().After(end) {
				s.t.Fatalf("nothing was done for %s, and %d jobs wait: %s", patience, len(open), s.explain(open))
			}
			left := len(open)
			open = slices.DeleteFunc(open, func(id string) bool {
				j := s.read(id)
				return j.State == wire.Merged || j.State == wire.Stopped || s.stuck(j)
			})
			if len(open) < left {
				end = time.Now().Add(patience)
			}
		}
		over := ctx.Err() == nil
		if !over {
			s.died++
		}
		cancel()
		if err := <-ended; err != nil {
			s.t.Fatal(err)
		}
		if over {
			s.over = len(s.jobs)
			return
		}
	}
}

// explain says of jobs that wait where they stand, and how their queue does.
func (s *station) explain(open []string) string {
	var out strings.Builder
	q, err := s.queue(s.t.Context(), "t", s.repo, "main")
	said, _ := json.Marshal(q)
	fmt.Fprintf(&out, "main at %s, queue %s %v", s.git("rev-parse", "main"), said, err)
	for _, id := range open {
		j := s.read(id)
		fmt.Fprintf(&out, "\n%s is %s at %.12s on %.12s (%s), on %q held %v, altered %v", id, j.State, j.Commit, j.Base, j.Reason, j.On, j.Held,
			j.Altered)
	}
	return out.String()
}

// stuck says that a job waits in the queue for one below it that went back.
func (s *station) stuck(j *Job) bool {
	for j.State == wire.Queued && j.Held {
		if j = s.read(j.On); j.State == wire.Stopped {
			return true
		}
	}
	return false
}

func (s *station) read(id string) *Job {
	s.t.Helper()
	j, err := s.get(s.t.Context(), "t", id)
	if err != nil {
		s.t.Fatal(err)
	}
	return j
}

// places are the commits at which main ever stood, oldest first.
func (s *station) places() []string {
	all := strings.Fields(s.git("reflog", "show", "--format=%H", "refs/heads/main"))
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all
}

func newStation(t *testing.T) *station {
	a := newAlone(t, "true")
	if err := a.DB.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec("DELETE FROM job")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	a.git("config", "core.logAllRefUpdates", "always")
	a.git("switch", "-q", "--detach", "main")
	return &station{alone: a}
}

// harm is red where two files are there together, and says so whenever it runs.
const harm = `test ! -e left.txt || test ! -e right.txt`

// Several jobs get into the branch with one move when they are green together. Where they are not, those before the one that is red
// do, and that one goes back, as does one that does not go together with the others. The branch only ever stands at commits whose checks
// were green on exactly that; also when the server dies before any step (make soak: before each).
func TestATrainMergesWhatIsGreenTogether(t *testing.T) {
	steps := 0
	every := 4
	if testenv.Soak() {
		every = 1
	}
	for die := 0; die <= steps; die += every {
		t.Run(fmt.Sprint("dies before step ", die), func(t *testing.T) {
			s := newStation(t)
			s.die, s.Train = die, 4
			s.add("a", harm, map[string]string{"a.txt": "a\n"})
			s.add("left", harm, map[string]string{"left.txt": "x\n"})
			s.add("right", harm, map[string]string{"right.txt": "x\n"})
			s.add("b", "test -e b.txt", map[string]string{"b.txt": "b\n"})
			s.add("c", harm, map[string]string{"c.txt": "c\n"})
			s.add("clash", harm, map[string]string{"a.txt": "another\n"})
			s.serve()
			if die == 0 {
				steps = s.at
			}
			s.judge(map[string]string{"a": "", "left": "", "b": "", "c": "", "right": "fail the check", "clash": "do not go together"})
		})
	}
	if steps < 8 {
		t.Errorf("the queue took %d steps: too few to have been a train", steps)
	}
}

// judge looks where jobs ended ("" is merged, else what its agent was to hear), and whether each commit of main was checked.
func (s *station) judge(ends map[string]string) {
	s.t.Helper()
	for name, heard := range ends {
		j := s.read("job_" + name)
		if heard == "" && (j.State != wire.Merged || !s.Tools.Holds(s.t.Context(), s.repo, "main", j.Commit)) ||
			heard != "" && (j.State != wire.Stopped || !strings.Contains(j.Prompt, heard)) {
			s.t.Errorf("%s is %s (%s); its agent was to hear: %s", name, j.State, j.Reason, j.Prompt)
		}
	}
	green := map[string]map[string]bool{} // commands that were green, by commit
	for _, id := range s.jobs {
		all, err := s.evidence(s.t.Context(), "t", id)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, e := range all {
			if e.Verdict == wire.Green && green[e.Commit] == nil {
				green[e.Commit] = map[string]bool{}
			}
			if e.Verdict == wire.Green {
				green[e.Commit][e.Command] = true
			}
		}
		if j := s.read(id); j.Approved == j.Commit && j.Check != "" { // its check was green before it was approved
			green[j.Commit] = map[string]bool{j.Check: true}
		}
	}
	s.independently()
	prev := ""
	for i, at := range s.places() {
		if i > 0 {
			for _, id := range s.jobs {
				j := s.read(id)
				came := j.State == wire.Merged && s.Tools.Holds(s.t.Context(), s.repo, at, j.Commit) &&
					!s.Tools.Holds(s.t.Context(), s.repo, prev, j.Commit)
				if came && j.Check != "" && !green[at][j.Check] {
					s.t.Errorf("main was moved to %.12s with %s, whose check was not green there", at, id)
				}
			}
			files := s.git("ls-tree", "--name-only", at)
			if strings.Contains(files, "left.txt") && strings.Contains(files, "right.txt") {
				s.t.Errorf("main stood at %.12s, which is red", at)
			}
		}
		prev = at
	}
	if q, err := s.queue(s.t.Context(), "t", s.repo, "main"); err != nil || q.Train != nil {
		s.t.Errorf("a train is left: %+v %v", q.Train, err)
	}
}

// independently has another program say whether main only ever stood where checks had passed, from the journal and the repository.
func (s *station) independently() {
	s.t.Helper()
	var lines bytes.Buffer
	for from := int64(0); ; {
		page, err := s.Journal.Read(s.t.Context(), "t", from, 500, journal.Filter{})
		if err != nil {
			s.t.Fatal(err)
		}
		for _, e := range page {
			text, err := json.Marshal(e)
			if err != nil {
				s.t.Fatal(err)
			}
			lines.Write(append(text, '\n'))
			from = e.Seq
		}
		if len(page) < 500 {
			break
		}
	}
	entries, err := bookmark.Read(&lines)
	if err != nil {
		s.t.Fatal(err)
	}
	v, err := bookmark.Judge(entries, bookmark.Repository{Path: s.repo, Env: s.env}, "main")
	if err != nil || v.Places == 0 || v.Jobs == 0 || len(v.Wrong) > 0 {
		s.t.Errorf("an independent look at main: %+v %v", v, err)
	}
}

// All that are green together get in with one move of the branch; one at a time there are as many moves as jobs.
func TestATrainMovesTheBranchOnce(t *testing.T) {
	for train, moves := range map[int]int{1: 4, 4: 1, 16: 1} {
		t.Run(fmt.Sprint(train), func(t *testing.T) {
			s := newStation(t)
			s.Train = train
			for _, n := range []string{"a", "b", "c", "d"} {
				s.add(n, "true", map[string]string{n + ".txt": n})
			}
			began := len(s.places())
			s.serve()
			s.judge(map[string]string{"a": "", "b": "", "c": "", "d": ""})
			if got := len(s.places()) - began; got != moves {
				t.Errorf("main was moved %d times, want %d", got, moves)
			}
		})
	}
}

// A server that died between the move of the branch and its row knows its own move again, also of a protected branch.
func TestATrainThatMovedTheBranchIsWrittenDown(t *testing.T) {
	s := newStation(t)
	s.Train = 4
	s.add("a", "true", map[string]string{"a.txt": "a"})
	s.add("b", "true", map[string]string{"b.txt": "b"})
	if _, err := s.set(op.WithCaller(t.Context(), op.Caller{Tenant: "t"}), wire.QueueIn{Folder: s.repo, Branch: "main"},
		func(q *wire.Queue, tip string) { q.Protected, q.Tip = true, tip }); err != nil {
		t.Fatal(err)
	}
	s.Rooms = nobody{}
	w := &worker{woken: make(chan struct{}, 1)}
	for landing := ""; landing == ""; {
		if err := s.advance(t.Context(), s.read("job_a"), w); err != nil {
			t.Fatal(err)
		}
		q, err := s.queue(t.Context(), "t", s.repo, "main")
		if err != nil || q.Train == nil {
			t.Fatalf("there is no train: %+v %v", q, err)
		}
		if landing = q.Train.Landing; landing != "" {
			s.git("update-ref", "refs/heads/main", landing)
		}
	}
	s.serve()
	s.judge(map[string]string{"a": "", "b": ""})
	if q, err := s.queue(t.Context(), "t", s.repo, "main"); err != nil || q.Paused || q.Tip != s.git("rev-parse", "main") {
		t.Errorf("the queue takes its own move for somebody's: %+v %v", q, err)
	}
}

// A train's checks run in a folder of their own: the folder of a job in it is that job's, which may be checked there meanwhile. A job that
// leaves the queue wakes who leads the train.
func TestATrainLeavesTheFoldersOfItsJobsAlone(t *testing.T) {
	s := newStation(t)
	s.Rooms, s.Train = nobody{}, 4
	s.add("a", "true", map[string]string{"a.txt": "a"})
	s.add("b", "test -e b.txt", map[string]string{"b.txt": "b"})
	own := filepath.Join(s.Folder, "job_b", "tree")
	if err := os.MkdirAll(own, 0o700); err != nil {
		t.Fatal(err)
	}
	w := &worker{woken: make(chan struct{}, 1)}
	for green := 0; green < 2; {
		if err := s.advance(t.Context(), s.read("job_a"), w); err != nil {
			t.Fatal(err)
		}
		q, err := s.queue(t.Context(), "t", s.repo, "main")
		if err != nil || q.Train == nil || q.Train.Red != 0 {
			t.Fatalf("there is no green train: %+v %v", q, err)
		}
		green = q.Train.Green
	}
	if _, err := os.Stat(own); err != nil {
		t.Errorf("the train's check took the folder of another check away: %v", err)
	}
	ctx := op.WithCaller(t.Context(), op.Caller{Tenant: "t", Name: "ann"})
	s.base, s.live = t.Context(), map[string]*worker{"job_a": w, "job_b": {woken: make(chan struct{}, 1)}}
	if err := s.DB.Write(ctx, func(tx *db.Tx) error {
		_, err := s.move(ctx, tx, "job_b", Event{Kind: Unqueued, Text: "ann took it out"})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-w.woken:
	default:
		t.Error("nobody told the leader of the train that a job left the queue")
	}
}

// A train whose people cannot be asked about now waits: that is no word about them.
func TestATrainWaitsForTheDatabase(t *testing.T) {
	s := newStation(t)
	s.add("a", "true", map[string]string{"a.txt": "a"})
	a := s.read("job_a")
	for kind, waits := range map[fault.Kind]bool{fault.Unavailable: true, fault.Unauthenticated: false} {
		s.people.Known = func(context.Context, string, string) error { return fault.New(kind, "identity", "no") }
		why, err := s.broken(t.Context(), a, &wire.Train{Base: a.Base, Cars: []wire.Car{{Job: a.ID, From: a.Commit}}}, []*Job{a}, a.Base)
		if waits != (err != nil) || waits != (why == "") {
			t.Errorf("%v: it ends because %q, or waits because %v", kind, why, err)
		}
	}
}
