package automation

import (
	"context"
	"strings"

	"tandem/internal/automation/run"
	"tandem/internal/automation/spec"
	"tandem/internal/db"
)

// goOn lets time pass in a run, claims what can be begun or taken over, and begins it.
func (r *Room) goOn(ctx context.Context, k runKey) error {
	c, looked := r.claims(k.tenant), r.DB.Now()
	if err := c.look(ctx); err != nil {
		return err
	}
	if err := r.DB.Write(ctx, func(tx *db.Tx) error {
		c.drop()
		_, err := r.change(tx, k.tenant, k.id, func(h *held) error { return r.claimAll(ctx, h, c) })
		return err
	}); err != nil {
		c.drop()
		return err
	}
	r.take(ctx, c)
	if !c.more {
		r.settled(k, looked)
		return nil
	}
	if r.crowd(k); c.room() { // a step ended meanwhile, when nobody waited yet
		r.rouse()
	}
	return nil
}

// take does what was claimed. What was claimed as this server ends, the next one finds.
func (r *Room) take(ctx context.Context, c *claims) {
	if ctx.Err() != nil {
		c.drop()
		return
	}
	jobs := c.jobs
	r.mu.Lock()
	under := make([]context.Context, len(jobs))
	for i, j := range jobs {
		under[i], r.inHand[j] = context.WithCancelCause(ctx)
	}
	c.giveBack() // each has its place in hand now
	r.mu.Unlock()
	for i, j := range jobs {
		r.working.Go(func() {
			r.work(ctx, under[i], j)
			r.mu.Lock()
			r.inHand[j](nil)
			delete(r.inHand, j)
			waited := len(r.dirty)+len(r.crowded) > 0
			r.mu.Unlock()
			if waited {
				r.rouse()
			}
		})
	}
}

// claimAll claims what can be begun or taken over, as far as there are places.
func (r *Room) claimAll(ctx context.Context, h *held, c *claims) error {
	now := h.tx.Now()
	if h.run.Status.Over() {
		return r.letGo(h)
	}
	if !r.Vouch.Holds(ctx, h.version.Seal()) {
		return h.apply(run.Event{Kind: run.Stopped,
			Text: "its version is not one that a person switched on: the database was changed"})
	}
	if h.run.Status == run.Running {
		if why, err := r.unswitched(ctx, h); err != nil || why != "" {
			if err != nil {
				return err
			}
			return h.apply(run.Event{Kind: run.Stopped, Text: why})
		}
	}
	if !h.wake.IsZero() && !h.wake.After(now) {
		if err := h.apply(run.Event{Kind: run.Ticked}); err != nil {
			return err
		}
	}
	switch h.run.Status {
	case run.Running:
		if err := r.letSkipped(h); err != nil {
			return err
		}
		if err := r.hearMessages(h); err != nil {
			return err
		}
	case run.Paused: // an answer that comes meanwhile, and what a crash left, wait for whoever resumes it
		return r.letSkipped(h)
	default:
		return r.letGo(h)
	}
	take := func(s *stepRow, again bool) error {
		if !c.place() {
			return nil
		}
		if err := h.apply(run.Event{Kind: run.Started, Node: s.node, Item: s.item, Attempt: s.attempt, Fence: s.fence + 1}); err != nil {
			return err
		}
		if at, _ := h.run.Step(s.node, s.item); at.Phase != run.Alive { // the run had begun as many as it may
			c.unplace()
			return nil
		}
		if err := h.claim(s, r.Owner); err != nil {
			return err
		}
		c.jobs = append(c.jobs, h.job(s, again))
		return nil
	}
	for _, s := range h.steps {
		if !h.node(s.node).Holds() && s.state != over && s.free(r.Owner, now) && !r.holds(s) {
			if err := take(s, s.state == claimed); err != nil {
				return err
			}
		}
	}
	for _, s := range h.run.Next(now).Start {
		if err := take(&stepRow{node: s.Node, item: s.Item, attempt: s.Attempt + 1}, false); err != nil {
			return err
		}
	}
	return r.claimHeld(h, func(s *stepRow) { c.jobs = append(c.jobs, h.job(s, false)) }) // asking takes no place
}

// job is what a claimed step is to do.
func (h *held) job(s *stepRow, again bool) *job {
	again = again || strings.HasPrefix(s.waits, unkept)
	at, _ := h.run.Step(s.node, s.item)
	j := &job{runKey: runKey{h.tenant, h.id}, name: h.name, version: h.version, step: *s, again: again, heard: h.heard,
		inputs: h.run.Inputs(s.node, s.item), tokens: at.Left.Tokens, cost: at.Left.Cost}
	j.strict = h.run.Spec.Profile == spec.Strict
	j.node, j.ai, j.artifacts = h.node(s.node), h.run.Spec.ByModel(s.node), map[string]bool{}
	for name, ref := range j.node.Inputs {
		j.artifacts[name] = h.run.Spec.IsArtifact(ref)
	}
	switch n := j.node; {
	case n.Map != nil:
		j.body, j.artifacts["item"] = &n.Map.Body, h.run.Spec.IsArtifact(n.Map.Over)
	case n.Asks() != nil:
		j.inputs = h.run.Shown(n)
		for _, ref := range n.Asks().Shows {
			j.artifacts[string(ref)] = h.run.Spec.IsArtifact(ref)
		}
		fallthrough
	default:
		j.body = &n.Body
	}
	if at, ok := h.run.Step(s.node, s.item); ok {
		j.notes, j.ends, j.refused = at.Notes, at.Ends, at.Refused
		j.escalated, j.handed = at.Reason == string(spec.Escalate), at.Handover
	}
	return j
}

// node is a node of the run's own version.
func (h *held) node(id string) *spec.Node { return h.run.Node(id) }
