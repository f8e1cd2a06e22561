package job

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
)

// Bounds of comments.
const (
	maxComment  = 4 << 10
	maxComments = 100      // of a job
	maxUnsent   = 48 << 10 // bytes that wait to be sent: they go as one message
	maxRemarked = 8 << 20  // bytes of a file in which lines are counted
)

// comment keeps what a person says about a line of the commit that they looked at. The agent hears it when the job is sent back.
func (r *Room) comment(ctx context.Context, in wire.CommentIn) (*wire.Job, error) {
	c := op.CallerFrom(ctx)
	j, err := r.get(ctx, c.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	if err := r.remarkable(ctx, j, in); err != nil {
		return nil, err
	}
	if err := r.DB.Write(ctx, func(tx *db.Tx) error {
		after, err := r.change(tx, c.Tenant, in.ID, func(now *Job) error {
			if now.Commit != in.Commit {
				return now.looked("job.comment", in.Commit)
			}
			now.Voices = c.Prompts(now.Voices, now.Caller.Chain())
			return now.remark(wire.Comment{File: path.Clean(in.File), Line: in.Line, Text: in.Text, Commit: in.Commit, By: c.Name, At: tx.Now()})
		})
		if err == nil {
			err = r.vouchFor(tx, c, after, map[string]any{"event": "comment", "commit": in.Commit})
		}
		return err
	}); err != nil {
		return nil, err
	}
	if j, err = r.get(ctx, c.Tenant, in.ID); err != nil {
		return nil, err
	}
	return r.seen(ctx, j)
}

// remarkable refuses a comment on what is not there, or not for the caller.
func (r *Room) remarkable(ctx context.Context, j *Job, in wire.CommentIn) error {
	const name = "job.comment"
	switch {
	case strings.TrimSpace(in.Text) == "" || len(in.Text) > maxComment:
		return fault.New(fault.Invalid, name, "a comment has between 1 and %d bytes", maxComment)
	case in.Line < 0 || in.File == "":
		return fault.New(fault.Invalid, name, "a comment is about a file and a line of it, from 1 on, or the whole file")
	case j.Commit == "" || j.State == wire.Merged:
		return fault.New(fault.Conflict, name, "the job is %s: there is nothing to look at", j.State).
			WithNext("see where it stands: tandem job show %s", j.ID)
	case j.Commit != in.Commit:
		return fault.New(fault.Conflict, name, "the job is at %.12s by now, and you looked at %.12s", j.Commit, in.Commit).
			WithNext("look again: tandem job diff %s", j.ID)
	}
	file := path.Clean(in.File)
	missing := fault.New(fault.NotFound, name, "the commit %.12s has no file %.200q", j.Commit, in.File).
		WithNext("see what the job changed: tandem job diff %s", j.ID)
	if path.IsAbs(file) || strings.HasPrefix(file, "../") || !sees(ctx, j.Repo, file) {
		return missing
	}
	text, err := r.Tools.Content(ctx, j.Repo, j.Commit, file, maxRemarked)
	if err != nil {
		return missing
	}
	lines := int64(strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1)
	if text == "" {
		lines = 0
	}
	if in.Line > lines {
		return fault.New(fault.Invalid, name, "%s has no line %d in the commit %.12s: it ends at line %d", in.File, in.Line, j.Commit, lines).
			WithNext("look again: tandem job diff %s", j.ID)
	}
	return nil
}

// remark adds a comment while there is room for it. Of those that the agent heard the oldest makes room, one that was answered first.
func (j *Job) remark(c wire.Comment) error {
	waits := len(c.Text)
	for _, one := range j.Comments {
		if !one.Sent {
			waits += len(one.Text)
		}
		c.N = max(c.N, one.N)
	}
	c.N++
	if len(j.Comments) >= maxComments && waits <= maxUnsent {
		i := slices.IndexFunc(j.Comments, func(c wire.Comment) bool { return c.Answered })
		if i < 0 {
			i = slices.IndexFunc(j.Comments, func(c wire.Comment) bool { return c.Sent })
		}
		if i >= 0 {
			j.Comments = slices.Delete(j.Comments, i, i+1)
		}
	}
	if len(j.Comments) >= maxComments || waits > maxUnsent {
		return fault.New(fault.Exhausted, "job.comment", "%d comments wait to be sent at most, and %d bytes of them", maxComments, maxUnsent).
			WithNext("send the agent what there is: tandem job back %s", j.ID)
	}
	j.Comments = append(j.Comments, c)
	return nil
}

// back sends the agent the comments that it has not heard, as one message.
func (r *Room) back(ctx context.Context, tx *db.Tx, in wire.BackIn) (*wire.Job, error) {
	j, err := scan(tx.QueryRow(columns+"tenant = ? AND id = ?"+tx.ForUpdate(), op.CallerFrom(ctx).Tenant, in.ID))
	if db.NoRows(err) {
		err = op.NoSuch("job", in.ID)
	}
	if err != nil {
		return nil, err
	}
	if err := j.sendable(ctx); err != nil {
		return nil, err
	}
	if err := known(string(wire.Back), in.Agent); err != nil {
		return nil, err
	}
	said := j.remarks(in.Text)
	if said == "" {
		return nil, fault.New(fault.Invalid, "job.back", "there is nothing to tell the agent").
			WithNext("comment on a line first: tandem job comment %s FILE:LINE TEXT", j.ID)
	}
	if len(said) > MaxTask {
		return nil, fault.New(fault.Invalid, "job.back",
			"the comments and what is said beside them have %d bytes, and the agent hears %d at once",
			len(said), MaxTask).WithNext("say it in fewer words")
	}
	return r.move(ctx, tx, in.ID, Event{Kind: Told, Text: said, Sent: true, Agent: in.Agent})
}

// bindBack is what an approval of sending a job back holds for: the comments that wait, and no others.
func (r *Room) bindBack(ctx context.Context, in wire.BackIn) ([]op.Bound, error) {
	j, err := r.get(ctx, op.CallerFrom(ctx).Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	if err := j.sendable(ctx); err != nil {
		return nil, err
	}
	model, err := r.bindAgent(ctx, in.Agent)
	return append(model, op.Bound{Name: "comments", Value: j.remarks("")}), err
}

// sendable refuses who may not see a file that a waiting comment is about: the ask would show what was said about it.
func (j *Job) sendable(ctx context.Context) error {
	for _, c := range j.Comments {
		if !c.Sent && !sees(ctx, j.Repo, c.File) {
			return fault.New(fault.Denied, "job.back", "comments wait that are about files which you may not see").
				WithNext("somebody who sees them sends the job back; without them you may write to its agent: tandem job send %s TEXT", j.ID)
		}
	}
	return nil
}

// remarks is what the agent hears of comments that wait, and of what is said beside them; "" where there is neither.
func (j *Job) remarks(beside string) string {
	var b strings.Builder
	about := ""
	for _, c := range j.Comments {
		switch {
		case c.Sent:
			continue
		case b.Len() == 0:
			fmt.Fprintf(&b, "A person looked at your work at commit %.12s and has comments. Change what they ask for, or say why not.\n", c.Commit)
		case c.Commit != about:
			fmt.Fprintf(&b, "\nWhat follows is about commit %.12s.\n", c.Commit)
		}
		about = c.Commit
		fmt.Fprintf(&b, "\n%d. %s\n%s\n", c.N, c.Place(), strings.TrimSpace(c.Text))
	}
	if beside = strings.TrimSpace(beside); beside != "" && b.Len() > 0 {
		beside = "\n" + beside
	}
	return b.String() + beside
}

// answered are the comments whose lines are not as they were when they were written.
func (r *Room) answered(ctx context.Context, j *Job, head string) (out []int64, err error) {
	for _, c := range j.Comments {
		if !c.Sent || c.Answered {
			continue
		}
		touched, err := r.Tools.Touched(ctx, j.Repo, c.Commit, head, c.File, c.Line)
		if err != nil {
			return out, err
		}
		if touched {
			out = append(out, c.N)
		}
	}
	return out, nil
}

// heard marks comments as sent, and those whose lines changed as answered.
func (j *Job) heard(e Event) {
	for i := range j.Comments {
		c := &j.Comments[i]
		c.Sent = c.Sent || e.Sent
		for _, n := range e.Answered {
			c.Answered = c.Answered || c.N == n
		}
	}
}

// hear has the agent act on the words of those whose comments waited, too.
func (j *Job) hear(voices [][]string) {
	for _, v := range voices {
		if !slices.ContainsFunc(j.Caller.Prompted, func(known []string) bool { return slices.Equal(known, v) }) {
			j.Caller.Prompted = append(slices.Clip(j.Caller.Prompted), v)
		}
	}
	j.Voices = nil
}
