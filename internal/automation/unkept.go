package automation

import (
	"context"
	"strings"
	"time"

	artifact "tandem/internal/artifact/wire"
	"tandem/internal/automation/run"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// unkept begins what a step waits for that may have acted, and whose end is not kept.
const unkept = "what it did is not kept yet: "

// lookUnkept is how often it is tried to keep that.
const lookUnkept = time.Minute

// unkept is what becomes of a step that did its work when its artifact is not kept. What acts is not done again for that: the step waits,
// and the gate gives its answer once more when it is looked at. What changes nothing fails, and may be tried again.
func (r *Room) unkept(ctx context.Context, j *job, did result, err error) result {
	if o := j.body.Operation; j.body.Make != nil || o != nil && r.Find(o.Name).Class == op.ClassRead {
		return r.failed(ctx, r.Find(string(artifact.Keep)), err)
	}
	kind, since := fault.KindOf(err), r.DB.Now().Sub(j.step.began)
	if refused(kind) || since > lateKey {
		res := lost("it did its work, and what it made cannot be kept: %s", said(err))
		res.Tokens, res.Cost = did.Tokens, did.Cost
		return res
	}
	if ctx.Err() == nil {
		r.Log.Error("what a step made is not kept yet", "run", j.id, "node", j.step.node, "err", err)
	}
	return result{waits: unkept + said(err), look: r.DB.Now().Add(lookUnkept), session: j.step.session, turn: j.step.turn}
}

// refused says whether asking again gives the same error.
func refused(k fault.Kind) bool {
	return k == fault.Invalid || k == fault.Denied || k == fault.NotFound || k == fault.Conflict
}

// unread is what becomes of a step whose inputs cannot be read.
func (r *Room) unread(j *job, err error) result {
	switch {
	case j.node.Holds() && fault.Is(err, fault.NotFound): // what a person would say yes to is not there
		ask, _ := strings.CutPrefix(j.step.waits, "ask:")
		return result{ask: ask, Event: run.Event{Kind: run.Answered, Answer: "cancel", Text: "what its gate shows is gone: " + said(err)}}
	case j.later(err):
		return r.notYet(j, err)
	case j.begun():
		return lost("it was under way, and what it was given cannot be read any more: %s", said(err))
	}
	return failure(err)
}

// begun reports whether a step may have acted already.
func (j *job) begun() bool { return j.again || j.step.turn != "" }

// later reports whether an error before a step is done is no failure of the step: it is a gate, or waits for something, or may have acted.
func (j *job) later(err error) bool {
	return j.node.Holds() || (j.begun() || j.step.waits != "") && !refused(fault.KindOf(err))
}

// notYet has a step wait on as it did, and looked at again soon.
func (r *Room) notYet(j *job, err error) result {
	r.Log.Error("a step cannot be looked at yet", "run", j.id, "node", j.step.node, "err", err)
	waits := j.step.waits
	if waits == "" && j.again {
		waits = unkept + said(err)
	}
	return result{waits: orElse(waits, "it cannot be looked at yet: "+said(err)), look: r.DB.Now().Add(longest), session: j.step.session,
		turn: j.step.turn}
}
