package job

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	forge "tandem/internal/forge/wire"
	"tandem/internal/id"
	"tandem/internal/job/wire"
	"tandem/internal/op"
)

// Ops is this room's front door.
func (r *Room) Ops() []op.Op {
	one := func(in wire.IDIn) op.Resource { return at(in.ID) }
	return append(r.queueOps(),
		op.Binding(wire.Start.State(op.Spec{Right: "job.create", Method: "POST", Path: "/jobs",
			Doc: "Start a job: one piece of code work, in a checkout of its own, from a task to a merged change.\n" +
				"It works by itself until a person has to look."},
			func(wire.StartIn) op.Resource { return at("") }, r.start), r.bindStart),
		wire.List.Read(op.Spec{Right: "job.list", Masked: true, Method: "GET", Path: "/jobs", Doc: "List jobs, newest first."},
			func(wire.ListIn) op.Resource { return at("") }, r.list),
		wire.Get.Read(op.Spec{Right: "job.read", Method: "GET", Path: "/jobs/{id}", Doc: "Read a job with the evidence of its checks."},
			one, r.read),
		wire.Diff.Read(op.Spec{Right: "job.read", Method: "GET", Path: "/jobs/{id}/diff",
			Doc: "Read what a job changed, as a diff: all of it, one commit, or what came since the caller's last look."},
			func(in wire.DiffIn) op.Resource { return at(in.ID) }, r.diff),
		wire.Viewed.State(op.Spec{Right: "job.read", Method: "POST", Path: "/jobs/{id}/viewed", MCP: "-",
			Doc: "Say that you looked at all that a job changed. It approves nothing: later you can see what came since."},
			func(in wire.ViewedIn) op.Resource { return at(in.ID) }, r.viewed),
		wire.Image.Read(op.Spec{Right: "job.read", Method: "GET", Path: "/jobs/{id}/image", MCP: "-",
			Doc: "Read a picture that a job changed, as it stands in a commit."},
			func(in wire.ImageIn) op.Resource { return at(in.ID) }, r.image),
		wire.Wait.Read(op.Spec{Right: "job.read", Method: "GET", Path: "/jobs/{id}/wait", Waits: true,
			Doc: "Wait until a job needs somebody or is over."}, func(in wire.WaitIn) op.Resource { return at(in.ID) }, r.wait),
		op.Binding(wire.Send.State(op.Spec{Right: "job.prompt", Method: "POST", Path: "/jobs/{id}/send",
			Doc: "Tell a job's agent something, with its next turn."}, func(in wire.SendIn) op.Resource { return at(in.ID) }, r.send),
			func(ctx context.Context, in wire.SendIn) ([]op.Bound, error) { return r.bindAgent(ctx, in.Agent) }),
		wire.CommentOn.Effect(op.Spec{Right: "job.prompt", Method: "POST", Path: "/jobs/{id}/comments",
			Doc: "Comment on a line of a job's commit. Its agent hears all comments as one message when the job is sent back."},
			func(in wire.CommentIn) op.Resource { return at(in.ID) }, r.comment, nil),
		op.Binding(wire.Back.State(op.Spec{Right: "job.prompt", Method: "POST", Path: "/jobs/{id}/back",
			Doc: "Send a job back to its agent, with the comments that it has not heard."},
			func(in wire.BackIn) op.Resource { return at(in.ID) }, r.back), r.bindBack),
		wire.Check.State(op.Spec{Right: "job.prompt", Method: "POST", Path: "/jobs/{id}/check",
			Doc: "Run a job's check again, on its newest commit."}, one,
			func(ctx context.Context, tx *db.Tx, in wire.IDIn) (*wire.Job, error) {
				return r.move(ctx, tx, in.ID, Event{Kind: Recheck})
			}),
		wire.Stop.State(op.Spec{Right: "job.prompt", Method: "POST", Path: "/jobs/{id}/stop",
			Doc: "Stop a job. Its workspace stays until it is discarded, so that it can go on."},
			func(in wire.StopIn) op.Resource { return at(in.ID) },
			func(ctx context.Context, tx *db.Tx, in wire.StopIn) (*wire.Job, error) {
				j, err := r.move(ctx, tx, in.ID, Event{Kind: Stop, Discard: in.Discard, By: op.CallerFrom(ctx).Name,
					Text: op.CallerFrom(ctx).Name + " stopped it"})
				if in.Discard && fault.Is(err, fault.Denied) {
					return r.giveUp(ctx, tx, in.ID)
				}
				return j, err
			}),
		op.Binding(wire.Resume.State(op.Spec{Right: "job.prompt", Method: "POST", Path: "/jobs/{id}/resume",
			Doc: "Let a stopped job go on, in the same conversation and the same files, or with another agent in the same files."},
			func(in wire.ResumeIn) op.Resource { return at(in.ID) }, r.resume),
			func(ctx context.Context, in wire.ResumeIn) ([]op.Bound, error) { return r.bindAgent(ctx, in.Agent) }),
		wire.Prepare.State(op.Spec{Right: "job.write", Present: true, People: true, Method: "POST", Path: "/jobs/{id}/prepare", MCP: "-",
			Doc: "Let what a job's changed lock files name be fetched for its check, from the named registries.\n" +
				"Needs a person present, and is bound to what the lock files say."},
			func(in wire.PrepareIn) op.Resource { return at(in.ID) }, r.allow),
		op.Binding(wire.Inspect.State(op.Spec{Right: "job.prompt", Method: "POST", Path: "/jobs/{id}/review",
			Doc: "Have another agent look at a job in review. What it says is shown beside the checks; it approves nothing."},
			func(in wire.ReviewIn) op.Resource { return at(in.ID) }, r.reviewOp), r.bindReview),
		wire.Unseen.Read(op.Spec{Right: "job.read", Masked: true, MCP: "-",
			Doc: "Count the files of a job's commit that the caller may not see. A job asks it for its own session."},
			func(in wire.UnseenIn) op.Resource { return at(in.ID) }, r.unseen),
		wire.Merge.Effect(op.Spec{Right: "job.write", Present: true, People: true, Method: "POST", Path: "/jobs/{id}/merge", MCP: "-",
			Doc: "Merge a job's commit into its repository. Needs a person present, and is bound to the commit that the person saw."},
			func(in wire.MergeIn) op.Resource { return at(in.ID) }, r.merge, r.recover))
}

// bindStart is the words of a board's task, and the model that would do the work. Which program an agent is stands in settings.
func (r *Room) bindStart(ctx context.Context, in wire.StartIn) (out []op.Bound, err error) {
	if in.From != "" {
		words, err := r.wordsFrom(ctx, in.From, in.Space)
		if err != nil {
			return nil, err
		}
		out = append(out, op.Bound{Name: "task " + in.From, Value: words})
	}
	if wire.Program(in.Agent) {
		return out, nil
	}
	model, err := r.Model(ctx, in.Agent)
	return append(out, model...), err
}

// wordsFrom are the words of a board's task or of a forge's issue.
func (r *Room) wordsFrom(ctx context.Context, from, space string) (words string, err error) {
	if in, issue := forge.ParseIssue(from); issue {
		return r.issue(ctx, in)
	}
	words, _, err = r.words(ctx, from, space)
	return words, err
}

func (r *Room) start(ctx context.Context, tx *db.Tx, in wire.StartIn) (*wire.Job, error) {
	bad := func(format string, args ...any) *fault.Error {
		return fault.New(fault.Invalid, "job.start", format, args...)
	}
	if in.Seconds == 0 {
		in.Seconds = DefaultSeconds
	}
	if in.Bound == 0 {
		in.Bound = DefaultBound
	}
	switch {
	case in.From != "" && in.Task != "":
		return nil, bad("a job has a task of its own or one of a board, and not both").
			WithNext("say more later: tandem job send JOB TEXT")
	case in.On != "" && in.Folder+in.Repo+in.Onto != "" || len(in.On) > 100:
		return nil, bad("a job that stands on another one has that one's repository and branch, and no others").
			WithNext("leave out the folder, the repository and the branch: tandem job start TASK --on %s", fault.Clip(in.On, 40))
	case in.From != "" && (!from(in.From) || len(in.Space) > 200):
		return nil, bad("%.40q is no task of a board, as T-a1b2c3, and no issue of a forge, as work#12", in.From).
			WithNext("see them: tandem board --ready, tandem forge list")
	case in.From == "" && (strings.TrimSpace(in.Task) == "" || len(in.Task) > MaxTask):
		return nil, bad("a task has between 1 and %d bytes", MaxTask)
	case in.Repo != "" && in.Folder != "" || len(in.Repo) > 200:
		return nil, bad("a job works in a folder or in a repository that is named, and not both")
	case in.On == "" && in.Repo == "" && !filepath.IsAbs(in.Folder):
		return nil, bad("folder should be an absolute path, not %.200q", in.Folder)
	case in.Onto != "" && !wire.Branch(in.Onto):
		return nil, bad("%.60q is no name of a branch", in.Onto).WithNext("see them: git branch")
	case in.Seconds < 1 || in.Seconds > MaxSeconds:
		return nil, bad("a check lasts between 1 and %d seconds", MaxSeconds)
	case in.Bound < 1 || in.Bound > MaxBound:
		return nil, bad("bound lies between 1 and %d", MaxBound)
	case len(in.Check) > 4096 || strings.ContainsRune(in.Check, 0):
		return nil, bad("a check is a command of at most 4096 bytes")
	case min(in.Budget.Cents, in.Budget.Tokens, in.Budget.Turns) < 0:
		return nil, bad("a budget is not negative")
	case known("", in.Agent) != nil:
		return nil, known("job.start", in.Agent)
	case wire.Program(in.Agent) && in.Budget.Cents > 0:
		return nil, bad("what a turn of %s costs is not known here", in.Agent).
			WithNext("limit its tokens or turns instead: --budget 200000tokens")
	}
	c := op.CallerFrom(ctx).Later(op.DoorInside)
	if err := r.roomFor(ctx, tx, c); err != nil {
		return nil, err
	}
	j := &Job{Tenant: c.Tenant, Caller: c, Job: wire.Job{ID: id.New("job"), State: wire.Planned, Task: in.Task, Agent: in.Agent,
		Check: in.Check, Seconds: in.Seconds, Bound: in.Bound, Budget: in.Budget, Folder: in.Folder, Named: in.Repo,
		From: in.From, Onto: in.Onto, Knowledge: in.Knowledge, Verdict: wire.Unchecked, By: c.Name, MadeAt: tx.Now(), MovedAt: tx.Now()}}
	if j.Board() {
		j.Space = in.Space
	} else if words, asked := op.BoundIn(ctx, "task "+in.From); asked && in.From != "" {
		j.Task = words // an issue may be rewritten by now: what was approved is what the agent hears
	}
	if in.On != "" {
		if err := r.puts(ctx, tx, j, in.On); err != nil {
			return nil, err
		}
	}
	if err := r.insert(tx, j); err != nil {
		return nil, err
	}
	op.Row(ctx, j.seal())
	op.Note(ctx, "job", j.ID)
	tx.AfterCommit(func() { r.wake(j.Tenant, j.ID) })
	return &j.Job, nil
}

// from says whether something can be what a job is for.
func from(text string) bool {
	_, issue := forge.ParseIssue(text)
	return issue || boardTask.MatchString(text)
}

// move applies what somebody wants done to a job.
func (r *Room) move(ctx context.Context, tx *db.Tx, id string, e Event) (*wire.Job, error) {
	c := op.CallerFrom(ctx)
	var was Job
	j, err := r.change(tx, c.Tenant, id, func(j *Job) error {
		was = *j
		if e.Kind == Told { // its agent acts on this one's words, too
			j.Caller.Prompted = c.Prompts(j.Caller.Prompted, j.Caller.Chain())
		}
		if e.Sent {
			j.hear(j.Voices)
		}
		if err := j.Apply(e, tx.Now()); err != nil {
			return err
		}
		op.Note(ctx, "from", was.State)
		op.Note(ctx, "state", j.State)
		return nil
	})
	if err != nil {
		return nil, err
	}
	op.Row(ctx, j.seal())
	tx.AfterCommit(func() { r.wake(j.Tenant, j.ID) })
	if err := r.lift(tx, &was, j); err != nil {
		return nil, err
	}
	if was.State == wire.Queued && j.State != wire.Queued { // the train that it was in ends
		tx.AfterCommit(func() { r.others(context.WithoutCancel(ctx), j) })
	}
	j.unnamed()
	j.masksStack(ctx)
	j.Comments, j.Reviews = nil, nil // those on files that the caller may not see are not for it; who reads the job has the others
	return &j.Job, nil
}

func (r *Room) send(ctx context.Context, tx *db.Tx, in wire.SendIn) (*wire.Job, error) {
	if strings.TrimSpace(in.Text) == "" || len(in.Text) > MaxTask {
		return nil, fault.New(fault.Invalid, "job.send", "what the agent is told has between 1 and %d bytes", MaxTask)
	}
	if err := known(string(wire.Send), in.Agent); err != nil {
		return nil, err
	}
	return r.move(ctx, tx, in.ID, Event{Kind: Told, Text: in.Text, Agent: in.Agent})
}

func (r *Room) resume(ctx context.Context, tx *db.Tx, in wire.ResumeIn) (*wire.Job, error) {
	if err := known(string(wire.Resume), in.Agent); err != nil {
		return nil, err
	}
	return r.move(ctx, tx, in.ID, Event{Kind: Resume, Agent: in.Agent})
}

// bindAgent is the model that would go on with a job; nothing where nobody is named, or a program, which stands in settings.
func (r *Room) bindAgent(ctx context.Context, agent string) ([]op.Bound, error) {
	if agent == "" || wire.Program(agent) {
		return nil, nil
	}
	return r.Model(ctx, agent)
}

func (r *Room) list(ctx context.Context, in wire.ListIn) (wire.ListOut, error) {
	if in.Limit <= 0 {
		in.Limit = 50
	}
	out := wire.ListOut{Jobs: []*wire.Job{}}
	var listed []*Job
	defer func() { r.takenIn(ctx, listed...) }()
	const page = 500
	for before := ""; ; { // those that the caller may not see take nobody's place
		where, args := "tenant = ? AND (? = '' OR state = ?)", []any{op.CallerFrom(ctx).Tenant, string(in.State), string(in.State)}
		if before != "" {
			where, args = where+" AND id < ?", append(args, before)
		}
		all, err := r.rows(ctx, where+" ORDER BY id DESC LIMIT ?", append(args, page)...)
		if err != nil {
			return out, err
		}
		for _, j := range all {
			j.Comments, j.Reviews = nil, nil
			j.unnamed()
			j.masksStack(ctx)
			if before = j.ID; op.May(ctx, "job.list", at(j.ID)) {
				out.Jobs, listed = append(out.Jobs, &j.Job), append(listed, j)
			}
			if len(out.Jobs) == min(in.Limit, 500) {
				return out, nil
			}
		}
		if len(all) < page {
			return out, nil
		}
	}
}

func (r *Room) read(ctx context.Context, in wire.IDIn) (*wire.Job, error) {
	j, err := r.shown(ctx, op.CallerFrom(ctx).Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	j.Needs = r.needs(ctx, j)
	r.takenIn(ctx, j)
	j.Pull = r.Pull(ctx, j.Tenant, j.ID)
	return r.seen(ctx, j)
}

// needs is what the job's agent waits for while it has a turn.
func (r *Room) needs(ctx context.Context, j *Job) []wire.Need {
	if j.State != wire.Working || j.Session == "" {
		return nil
	}
	return r.Needs(ctx, j.Session)
}

// seen is a job with its evidence. What a check printed may hold anything of the files that it ran on: whoever may not see all of these
// does not see it.
func (r *Room) seen(ctx context.Context, j *Job) (out *wire.Job, err error) {
	if j.Evidence, err = r.evidence(ctx, j.Tenant, j.ID); err != nil {
		return nil, err
	}
	j.masksStack(ctx)
	j.Below = r.below(ctx, j)
	j.Comments = slices.DeleteFunc(j.Comments, func(c wire.Comment) bool { return !sees(ctx, j.Repo, c.File) })
	all := map[string]bool{}
	whole := func(commit string) bool {
		if _, asked := all[commit]; !asked {
			n, err := r.hidden(ctx, j, commit)
			all[commit] = err == nil && n == 0
		}
		return all[commit]
	}
	for i, e := range j.Evidence {
		if !whole(e.Commit) {
			j.Evidence[i].Output, j.Evidence[i].Hidden = "", true
		}
	}
	if !whole(j.Commit) {
		j.unnamed()
	}
	for i, e := range j.Reviews {
		if !whole(e.Commit) {
			j.Reviews[i].Text, j.Reviews[i].Hidden = "", true
		}
	}
	return &j.Job, nil
}

// hidden counts the files of the base and of a commit that the caller may not see.
func (r *Room) hidden(ctx context.Context, j *Job, commit string) (n int, err error) {
	for _, c := range []string{j.Base, commit} {
		files, err := r.Tools.Files(ctx, j.Repo, c)
		if err != nil {
			return 0, err
		}
		for _, f := range files {
			if !sees(ctx, cmp.Or(j.Path, j.Repo), f) {
				n++
			}
		}
	}
	return n, nil
}

func (r *Room) wait(ctx context.Context, in wire.WaitIn) (*wire.Job, error) {
	if in.Seconds <= 0 {
		in.Seconds = 60
	}
	end := time.Now().Add(time.Duration(min(in.Seconds, 600)) * time.Second)
	var j *Job
	for look := 0; ; look++ {
		now, err := r.peek(ctx, op.CallerFrom(ctx).Tenant, in.ID)
		if err == nil && (j == nil || now.state != j.state || now.body != j.body) { // else it is as it was
			j, err = r.shown(ctx, op.CallerFrom(ctx).Tenant, in.ID)
		}
		if err != nil {
			return nil, err
		}
		if look%10 == 0 { // the inbox is read from many rooms, once a second is enough
			j.Needs = r.needs(ctx, j)
		}
		if j.State.Waits() || len(j.Needs) > 0 || in.Begun && j.State != wire.Planned || !time.Now().Before(end) {
			return r.seen(ctx, j)
		}
		pause(ctx, nil, 100*time.Millisecond)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

func (r *Room) unseen(ctx context.Context, in wire.UnseenIn) (out wire.UnseenOut, err error) {
	c := op.CallerFrom(ctx)
	j, err := r.get(ctx, c.Tenant, in.ID)
	if err != nil {
		return out, err
	}
	own := c.Session != "" && (c.Session == j.Session || j.Look != nil && c.Session == j.Look.Session) ||
		c.Actor != "" && c.Actor == j.Caller.Actor
	if !own && !op.May(ctx, "job.read", at(j.ID)) {
		return out, op.NoSuch("job", in.ID)
	}
	if j.Commit == "" { // it is about to begin, where its folder stands
		j.Repo, _ = r.Tools.Top(ctx, j.Folder) // what is wrong with the folder says whoever opens the workspace
		j.Base = cmp.Or(r.tip(ctx, j.Repo, j.Onto), r.Tools.Tip(ctx, cmp.Or(j.Repo, j.Folder), "HEAD"))
		if lower, err := r.peek(ctx, j.Tenant, j.On); j.Held && err == nil {
			j.Base = cmp.Or(lower.Commit, j.Base)
		}
		if j.Commit = j.Base; j.Repo == "" || j.Base == "" {
			return out, nil
		}
	}
	out.Hidden, err = r.hidden(ctx, j, cmp.Or(in.Commit, j.Commit))
	return out, err
}
