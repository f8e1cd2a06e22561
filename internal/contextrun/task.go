package contextrun

import (
	"encoding/json"
	"slices"
	"time"

	"tandem/internal/contextrun/wire"
	"tandem/internal/fault"
)

// change is what an event says of a task that is there already.
type change struct {
	Action    string     `json:"action"`
	Stage     wire.Stage `json:"stage,omitempty"`
	Attempt   int        `json:"attempt,omitempty"`
	Holder    string     `json:"holder,omitempty"`
	Agent     string     `json:"agent,omitempty"`
	LeaseEnds *time.Time `json:"lease_ends,omitempty"`
	RetryAt   *time.Time `json:"retry_at,omitempty"`
	Error     string     `json:"error,omitempty"`
	Rev       int64      `json:"rev"`
}

func changeOf(e *wire.Event) (c change, err error) {
	err = json.Unmarshal(e.Payload, &c)
	return c, err
}

// taskOf is the task that an event adds.
func taskOf(e *wire.Event) (*wire.Task, error) {
	var t wire.Task
	if err := json.Unmarshal(e.Payload, &t); err != nil {
		return nil, err
	}
	t.MadeAt, t.MovedAt = e.At, e.At
	return &t, nil
}

// applyTask is what an event makes of the task that it is about.
func applyTask(t *wire.Task, c change, e *wire.Event) {
	t.Rev, t.MovedAt = c.Rev, e.At
	if c.Agent != "" {
		t.Agent = c.Agent
	}
	if e.Type == beat {
		t.LeaseEnds = c.LeaseEnds
		return
	}
	t.Stage, t.RetryAt = c.Stage, c.RetryAt
	if e.Type == claimed {
		t.Attempt = c.Attempt
	}
	t.Holder, t.LeaseEnds = c.Holder, c.LeaseEnds
	if t.Stage != wire.InProgress {
		t.Token = ""
	}
	if c.Error != "" || c.Action == "retry" {
		t.LastError = c.Error
	}
}

// free is what becomes of a task when one that it waited for is done.
func free(t *wire.Task, e *wire.Event) {
	t.Waits--
	t.Rev, t.MovedAt = t.Rev+1, e.At
	if t.Waits == 0 && t.Stage == wire.Pending {
		t.Stage = wire.Runnable
	}
}

// Bounds of leases.
const (
	shortLease, usualLease, longLease = 5 * time.Second, 30 * time.Second, time.Hour
	maxAfter                          = 24 * time.Hour
)

func bad(format string, args ...any) *fault.Error {
	return fault.New(fault.Invalid, "context", format, args...)
}

func lease(ms int64) (time.Duration, error) {
	d := time.Duration(min(ms, longLease.Milliseconds()+1)) * time.Millisecond
	switch {
	case ms == 0:
		return usualLease, nil
	case d < shortLease || d > longLease:
		return 0, bad("a lease lasts between %d and %d milliseconds", shortLease.Milliseconds(), longLease.Milliseconds())
	}
	return d, nil
}

// takes is what a claim makes of a task that may be claimed.
func takes(t *wire.Task, holder, agent string, d time.Duration, now time.Time) change {
	end := now.Add(d)
	return change{Action: "claim", Stage: wire.InProgress, Attempt: t.Attempt + 1, Holder: holder, Agent: agent, LeaseEnds: &end,
		Rev: t.Rev + 1}
}

// claimable refuses to let somebody have a task: why not, and what would change that. Whether a lease has ended is judged by ended.
func claimable(t *wire.Task, now, ended time.Time) error {
	no := func(format string, args ...any) *fault.Error {
		return fault.New(fault.Conflict, "context.claim", format, args...)
	}
	switch held := t.LeaseEnds != nil && t.LeaseEnds.After(ended); {
	case t.Stage == wire.Done || t.Stage == wire.Broken:
		return no("%s is %s", t.ID, t.Stage).WithNext("see what there is: tandem context show RUN")
	case t.Stage == wire.Stuck:
		return no("%s is blocked", t.ID).WithNext("say that it may go on: tandem context task RUN %s retry", t.ID)
	case t.Stage == wire.InProgress && held:
		return no("%s is held by %s until %s", t.ID, t.Holder, t.LeaseEnds.UTC().Format(time.RFC3339)).With("holder", t.Holder)
	case t.Waits > 0:
		return no("%s waits for %d other tasks", t.ID, t.Waits).WithNext("see which: tandem context show RUN")
	case t.Attempt >= t.MaxAttempts:
		return no("%s was claimed %d times, as often as it may be", t.ID, t.Attempt).WithNext("add it anew as another task")
	case t.RetryAt != nil && t.RetryAt.After(now):
		return no("%s is not tried again before %s", t.ID, t.RetryAt.UTC().Format(time.RFC3339))
	}
	return nil
}

// leads are the stages that the action status may lead to, from where a task stands. A task that somebody works at was claimed.
var leads = map[wire.Stage][]wire.Stage{
	wire.Pending:    {wire.Runnable, wire.Stuck, wire.Broken},
	wire.Runnable:   {wire.Pending, wire.Stuck, wire.Broken},
	wire.InProgress: {wire.Runnable, wire.Stuck, wire.Done, wire.Broken},
	wire.Stuck:      {wire.Pending, wire.Runnable, wire.Broken},
	wire.Broken:     {wire.Runnable},
}

// verbs are the other actions: from where they go, and where to.
var verbs = map[string]struct {
	from []wire.Stage
	to   wire.Stage
}{
	"heartbeat": {[]wire.Stage{wire.InProgress}, wire.InProgress},
	"complete":  {[]wire.Stage{wire.InProgress}, wire.Done},
	"fail":      {[]wire.Stage{wire.InProgress, wire.Stuck}, wire.Broken},
	"block":     {[]wire.Stage{wire.InProgress}, wire.Stuck},
	"release":   {[]wire.Stage{wire.InProgress}, wire.Runnable},
	"retry":     {[]wire.Stage{wire.Broken, wire.Stuck}, wire.Runnable},
}

// moves is what a transition makes of a task, or why it does not.
func moves(t *wire.Task, in wire.TransitionIn, now time.Time) (change, error) {
	no := func(format string, args ...any) *fault.Error {
		return fault.New(fault.Conflict, "context.transition", format, args...)
	}
	c := change{Action: in.Action, Agent: in.Agent, Error: in.Error, Rev: t.Rev + 1}
	if in.IfRev != nil && *in.IfRev != t.Rev {
		return c, no("%s is at revision %d, not %d", t.ID, t.Rev, *in.IfRev).With("refused", "revision").
			WithNext("look at it again: tandem context show RUN")
	}
	verb, known := verbs[in.Action]
	switch {
	case in.Action == "status":
		if c.Stage = in.Stage; !slices.Contains(leads[t.Stage], in.Stage) {
			return c, no("%s is %s, and does not get %s from there by a word", t.ID, t.Stage, fault.Clip(string(in.Stage), 40)).
				With("refused", "stage").
				WithNext("claim it to work at it: tandem context claim RUN --task %s", t.ID)
		}
	case !known:
		return c, bad("%.40q is no action", in.Action).WithNext("it is heartbeat, complete, fail, block, release, retry or status")
	default:
		if c.Stage = verb.to; !slices.Contains(verb.from, t.Stage) {
			return c, no("%s is %s: %s is not for it", t.ID, t.Stage, in.Action).With("refused", "stage").
				WithNext("look at it again: tandem context show RUN")
		}
	}
	if t.Stage == wire.InProgress && (in.Token == "" || in.Token != t.Token) {
		if in.Token == "" {
			return c, no("%s is held by %s: the lease token is missing", t.ID, t.Holder).With("refused", "no lease").
				WithNext("send the lease_token that came with the claim")
		}
		return c, no("that is not the lease of %s any more: %s holds it", t.ID, t.Holder).With("refused", "old lease").
			WithNext("leave it, and claim another task")
	}
	switch {
	case in.Action == "heartbeat":
		d, err := lease(in.LeaseMS)
		if err != nil {
			return c, err
		}
		end := now.Add(d)
		c.LeaseEnds = &end
	case in.Action == "retry" && t.Attempt >= t.MaxAttempts:
		return c, no("%s was claimed %d times, as often as it may be", t.ID, t.Attempt).WithNext("add it anew as another task")
	case in.AfterMS < 0 || in.AfterMS > maxAfter.Milliseconds():
		return c, bad("a task waits for at most %d milliseconds", maxAfter.Milliseconds())
	case in.AfterMS > 0 && c.Stage == wire.Runnable:
		at := now.Add(time.Duration(in.AfterMS) * time.Millisecond)
		c.RetryAt = &at
	}
	if c.Stage == wire.Runnable && t.Waits > 0 {
		c.Stage = wire.Pending
	}
	return c, nil
}
