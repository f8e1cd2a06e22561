package automation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"tandem/internal/automation/run"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/session"
)

// result is what became of an attempt: an event, or that it waits.
type result struct {
	run.Event
	waits string    // what for; then the event is nothing
	look  time.Time // when to look again, whatever is heard until then

	session, turn string // of a node that is a turn
	child         string // of a node that is another automation: its run
	ask           string // of a gate: nobody needs to answer it any more
}

// work does one attempt and writes down what became of it. When the server ends first, the next one finds the claim and asks the gate
// whether it acted.
func (r *Room) work(ctx, under context.Context, j *job) {
	res := r.do(under, j)
	ended := errors.Is(context.Cause(under), errEnded)
	if ended {
		res = cut(res)
	}
	if ctx.Err() != nil && res.Kind != run.Lost && res.Kind != run.Finished {
		return
	}
	for goesOn := ctx.Err() == nil; ; goesOn = false {
		next := r.claims(j.tenant)
		next.from = j
		err := r.report(context.WithoutCancel(ctx), j, res, goesOn, next)
		if err == nil {
			r.take(ctx, next)
			r.hear(ctx, j, res.waits)
			return
		}
		next.drop()
		if goesOn { // what failed may be what comes after it, also where it says that the run takes something in no more
			r.Log.Warn("a step is stored without what comes next", "run", j.id, "node", j.step.node, "err", err)
			continue
		}
		gone := fault.KindOf(err) == fault.Conflict || fault.KindOf(err) == fault.NotFound // the run takes it in no more
		if gone && ended {
			return
		}
		r.Log.Error("what became of a step is not stored", "run", j.id, "node", j.step.node, "err", err)
		if gone {
			return
		}
		select { // until it is stored: nobody else takes over what this server holds
		case <-ctx.Done():
			return
		case <-time.After(again):
		}
	}
}

// report stores a result, unless somebody else has the step by now. Where the run goes on, what comes next is claimed in the same change.
func (r *Room) report(ctx context.Context, j *job, res result, goesOn bool, next *claims) error {
	if goesOn {
		if err := next.look(ctx); err != nil {
			return err
		}
	}
	return r.DB.Write(ctx, func(tx *db.Tx) error {
		next.drop()
		state := over
		if res.waits != "" {
			state = parked
		}
		if res.session != "" {
			j.step.session, j.step.turn = res.session, res.turn
		}
		j.step.child = orElse(res.child, j.step.child)
		ours, err := j.step.leave(tx, state, res.waits, res.look)
		if err != nil || !ours {
			return err
		}
		if state == parked || !goesOn {
			tx.AfterCommit(func() { r.stir(j.runKey) })
		}
		if res.ask != "" {
			if _, err := r.Abandon(tx, j.tenant, j.version.actor, res.ask, res.Text); err != nil {
				return err
			}
		}
		if state == parked {
			return nil
		}
		r.vacate(tx, &j.step, j.version.actor)
		h, err := r.change(tx, j.tenant, j.id, func(h *held) (err error) {
			e := res.Event
			e.Node, e.Item, e.Attempt, e.Fence = j.step.node, j.step.item, j.step.attempt, j.step.fence
			if err = h.apply(e); err == nil && goesOn {
				err = r.next(ctx, h, next)
			}
			return err
		})
		if err == nil {
			tx.AfterCommit(func() { r.dueAt(h.wake) })
		}
		return err
	})
}

// do does what the node says, as the automation's own actor with no more than this node was given.
func (r *Room) do(ctx context.Context, j *job) result {
	limit := time.Duration(j.node.Budget.Time)
	ctx, cancel := context.WithTimeout(ctx, limit+10*time.Second) // a command is told its own time, and ends itself
	defer cancel()
	caller, err := r.As(ctx, j.tenant, j.version.actor)
	switch {
	case err != nil && (session.Suspended(err) || j.later(err)):
		return r.notYet(j, err)
	case err != nil:
		return failure(err)
	}
	caller.Prompted = j.heard
	caller.Idempotency = fmt.Sprintf("%s/%s/%d/%d", j.id, j.step.node, j.step.item, j.step.attempt)
	from, err := j.madeFrom()
	if err == nil {
		err = r.readArtifacts(ctx, j)
	}
	if err != nil {
		return r.unread(j, err)
	}
	res := r.kept(ctx, j, caller, from, r.act(ctx, j, caller))
	if j.handed != nil {
		return r.received(j, res)
	}
	return res
}

// act does what the node says.
func (r *Room) act(ctx context.Context, j *job, caller op.Caller) result {
	limit := time.Duration(j.node.Budget.Time)
	var no []string
	builtOutputs(j.node, j.body, func(format string, args ...any) { no = append(no, fmt.Sprintf(format, args...)) })
	if len(no) > 0 && !j.begun() { // switched on before that was refused
		return failure(fault.New(fault.Invalid, "automation", "%s", strings.Join(no, "; ")).
			WithNext("mend the definition, then: tandem automation add FILE, and tandem automation on %s", j.name))
	}
	switch {
	case j.node.Asks() != nil:
		return r.ask(ctx, j, caller)
	case j.handed != nil:
		return result{Event: run.Event{Kind: run.Finished, Output: j.handed.Output}}
	case j.node.Wait != nil:
		return r.looksFor(ctx, j, caller)
	}
	if res, passed := r.mayAct(ctx, j, caller); !passed {
		return res
	}
	switch b := j.body; {
	case b.Turn != nil:
		return r.turn(ctx, j, caller)
	case b.Operation != nil:
		if why := notFor(r.Find(b.Operation.Name)); why != "" { // switched on before that was refused
			return failure(fault.New(fault.Denied, "automation", "%s %s", b.Operation.Name, why).
				WithNext("mend the definition, then: tandem automation add FILE, and tandem automation on %s", j.name))
		}
		in, _ := filled(b.Operation.Input, j.inputs).(map[string]any)
		return r.call(ctx, j, caller, b.Operation.Name, in)
	case b.Command != nil:
		if why := b.Command.Spliced(); why != "" { // switched on before that was refused
			return failure(fault.New(fault.Invalid, "automation", "%s", why).
				WithNext("mend the definition, then: tandem automation add FILE, and tandem automation on %s", j.name))
		}
		in := wire.CommandIn{Name: j.name, Run: j.id, Node: j.step.node, Item: j.step.item, Attempt: j.step.attempt, Folder: b.Command.Folder,
			Network: b.Command.Network, Seconds: int64(limit / time.Second)}
		for i, arg := range b.Command.Run {
			word := text(arg, j.inputs)
			if b.Command.Bare(i) && strings.HasPrefix(word, "-") {
				return failure(fault.New(fault.Invalid, "automation", "%s came to begin with a dash: %s would read it as an option", arg,
					b.Command.Run[0]).
					WithNext(`write "--" before it in the definition, or hand it over as "$1" of sh -c, then: tandem automation add FILE, `+
						`and tandem automation on %s`, j.name))
			}
			in.Argv = append(in.Argv, word)
		}
		return r.call(ctx, j, caller, string(wire.Command), in)
	case b.Automation != nil:
		return r.sub(ctx, j, caller)
	case b.Make != nil:
		return r.made(j)
	}
	return failure(fault.New(fault.Invalid, "automation", "nobody knows how to do %s", j.node))
}

// call makes one operation through the gate, and reads its answer as the node's outputs.
func (r *Room) call(ctx context.Context, j *job, caller op.Caller, name string, in any) result {
	o := r.Find(name)
	if o == nil {
		return failure(fault.New(fault.NotFound, "automation", "there is no operation %s", name))
	}
	if j.again && o.Changes() && r.DB.Now().Sub(j.step.began) > lateKey {
		return lost("it was under way %s ago, which is longer than the gate remembers", r.DB.Now().Sub(j.step.began).Round(time.Minute))
	}
	kind, _, _ := strings.Cut(o.Right, ".")
	caller.Scope = []string{o.Right, kind + ".view", kind + ".list", kind + ".read"}
	out, err := r.Rooms.Invoke(op.WithCaller(ctx, caller), name, in)
	if err != nil {
		return r.failed(ctx, o, err)
	}
	if c, ok := out.(wire.CommandOut); ok {
		return ofCommand(j, c)
	}
	given, err := outputs(j.node, out)
	if err != nil {
		return result{Event: run.Event{Kind: run.Failure, Class: "check", Text: err.Error()}}
	}
	return result{Event: run.Event{Kind: run.Finished, Output: given}}
}

// failed says what an error means for a step: it waits for a person, it failed by a class, or nobody knows whether it acted.
func (r *Room) failed(ctx context.Context, o *op.Op, err error) result {
	var f *fault.Error
	if errors.As(err, &f) {
		switch {
		case f.Kind == fault.Pending && f.Data["approval"] != "":
			return result{waits: "ask:" + f.Data["approval"], look: r.DB.Now().Add(time.Hour)}
		case f.Data["outcome"] == "running": // by this server, which lost the claim to itself
			return result{waits: "the same attempt", look: r.DB.Now().Add(2 * time.Second)}
		case f.Data["outcome"] == "unknown":
			return lost("%s", f.Msg)
		}
	}
	if o.Class != op.ClassRead && o.Class != op.ClassState && (ctx.Err() != nil || fault.KindOf(err) == fault.Internal) {
		return lost("it broke off: %s", said(err))
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return result{Event: run.Event{Kind: run.Failure, Class: "timeout", Text: "its time was over"}}
	}
	return failure(err)
}

func lost(format string, args ...any) result {
	return result{Event: run.Event{Kind: run.Lost, Text: fmt.Sprintf(format, args...)}}
}

func failure(err error) result {
	return result{Event: run.Event{Kind: run.Failure, Class: strings.ToLower(fault.KindOf(err).String()), Text: said(err)}}
}

func said(err error) string {
	if f := fault.Public(err); f.Msg != "" {
		return f.Msg
	}
	return "it failed; the server's log says why"
}
