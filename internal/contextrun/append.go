package contextrun

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"tandem/internal/contextrun/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

func known(s wire.Status) bool { return slices.Contains(wire.Statuses, s) }

func noStatus(s wire.Status) error {
	return bad("%.40q is no status", string(s)).
		WithNext("it is queued, planning, running, awaiting_approval, paused, blocked, failed, completed or cancelled")
}

// commit writes an event of the run itself: its revision grows, and its rows follow.
func (r *run) commit(ctx context.Context, tx *db.Tx, e *wire.Event) (wire.Moved, error) {
	e.Revision = r.Revision + 1
	word := ofNothing
	if e.Status.Ended() {
		word = ofTheRun
	}
	if err := r.room(len(e.Payload), word); err != nil {
		return wire.Moved{}, err
	}
	if err := r.write(tx, e); err != nil {
		return wire.Moved{}, err
	}
	if err := checkSteps(r.Steps); err != nil && (len(r.Steps) > maxSteps || !e.Status.Ended()) { // one of before can be ended
		return wire.Moved{}, err
	}
	note(ctx, r, e)
	return wire.Moved{Event: e, Run: r.Run}, r.save(tx, true)
}

func (r *Room) append(ctx context.Context, tx *db.Tx, in wire.AppendIn) (wire.Moved, error) {
	payload, err := checkEvent(&in)
	if err != nil {
		return wire.Moved{}, err
	}
	one, err := held(ctx, tx, in.ID)
	if err != nil {
		return wire.Moved{}, err
	}
	before, err := sent(tx, one, in.Command, saying{kind: in.Type, by: op.CallerFrom(ctx).Name})
	if err != nil || before != nil {
		return wire.Moved{Event: before, Run: one.Run, Again: true}, err
	}
	switch {
	case in.IfRev != nil && *in.IfRev != one.Revision:
		return wire.Moved{}, fault.New(fault.Conflict, "context.append", "%s is at revision %d, not %d", one.ID, one.Revision, *in.IfRev).
			WithNext("look at it again: tandem context show %s", one.ID)
	case one.Status == wire.Failed && in.Status != "" && !in.Status.Ended(): // it goes on
	case one.Status.Ended():
		return wire.Moved{}, over(one)
	}
	e, err := one.event(ctx, tx, in.Type, payload)
	if err != nil {
		return wire.Moved{}, err
	}
	e.Step, e.Command = in.Step, in.Command
	if in.Status != "" {
		e.Status = in.Status
	}
	return one.commit(ctx, tx, e)
}

// checkEvent refuses what is no event, and gives its payload without what is only for the eye.
func checkEvent(in *wire.AppendIn) (json.RawMessage, error) {
	payload, err := anObject("payload", in.Payload, maxPayload)
	switch {
	case err != nil:
		return nil, err
	case !typeForm.MatchString(in.Type):
		return nil, bad("%.64q is no type of an event", in.Type).WithNext("it has small letters, digits, dots and underscores")
	case strings.HasPrefix(in.Type, ours):
		return nil, bad("events of the type %s are tandem's own", in.Type).
			WithNext("tasks have operations of their own (context.add, context.claim, context.transition), and so has the blackboard: context.patch")
	case in.Status != "" && !known(in.Status):
		return nil, noStatus(in.Status)
	}
	if in.Step != "" {
		err = named("a step", in.Step)
	}
	if err == nil && in.Command != "" {
		err = words(maxWord, in.Command)
	}
	if err != nil || payload == nil {
		return nil, err
	}
	var p said
	if json.Unmarshal(payload, &p) != nil {
		return nil, bad("why_next_step, error, step_status and step_title of a payload are text, and steps is a list").
			WithNext("call it something else where it means something else")
	}
	var listed []wire.Step
	for _, o := range p.Steps {
		if (o.Stage != "" || o.Status != "") && stageOf(o.Stage+o.Status) == "" {
			return nil, bad("%.40q is no stage of a step", o.Stage+o.Status)
		}
		listed = append(listed, o.step())
	}
	if p.StepStage != "" && stageOf(p.StepStage) == "" {
		return nil, bad("%.40q is no stage of a step", p.StepStage)
	}
	err = words(maxTitle, p.StepTitle)
	for _, text := range []*string{p.Why, p.Error} {
		if text != nil {
			err = cmp.Or(err, words(maxText, *text))
		}
	}
	return payload, cmp.Or(err, checkSteps(listed))
}

// comes is the step of a run that comes next, and why.
func comes(r *wire.Run) (*wire.Step, string) {
	switch {
	case r.Status.Ended():
		return nil, "the run has ended: it is " + string(r.Status)
	case r.Status == wire.Paused || r.Status == wire.Awaiting || r.Status == wire.Blocked:
		return nil, "the run does not go on: it is " + string(r.Status)
	case len(r.Steps) == 0:
		return nil, "the run has no steps"
	}
	for _, stage := range []wire.Stage{wire.InProgress, wire.Runnable, wire.Pending} {
		for i := range r.Steps {
			if s := r.Steps[i]; s.Stage == stage {
				return &s, map[wire.Stage]string{wire.InProgress: "it is under way", wire.Runnable: "it may be begun",
					wire.Pending: "it is the first that was not begun"}[stage]
			}
		}
	}
	return nil, "no step is left: each is done, blocked or failed"
}

func (r *Room) next(ctx context.Context, tx *db.Tx, in wire.NextIn) (wire.NextOut, error) {
	one, err := held(ctx, tx, in.ID)
	if err != nil {
		return wire.NextOut{}, err
	}
	out := wire.NextOut{Run: one.Run}
	if out.Step, out.Why = comes(one.Run); out.Step == nil || in.Dry || out.Step.Stage == wire.InProgress {
		return out, nil
	}
	e, err := one.event(ctx, tx, "meta_next_step_selected", map[string]string{"why_next_step": out.Step.ID + ": " + out.Why})
	if err != nil {
		return out, err
	}
	e.Step = out.Step.ID
	_, err = one.commit(ctx, tx, e)
	out.Step.Stage = wire.Runnable
	return out, err
}

func (r *Room) place(ctx context.Context, tx *db.Tx, in wire.PlaceIn) (wire.PlaceOut, error) {
	if err := cmp.Or(checkFolder(in.Folder), words(maxWord, in.Phase, in.Step)); err != nil || in.Folder == "" {
		return wire.PlaceOut{}, cmp.Or[error](err, bad("in which folder? it is missing"))
	}
	one, err := open(ctx, tx, in.ID)
	if err != nil {
		return wire.PlaceOut{}, err
	}
	out := wire.PlaceOut{OK: one.Folder == in.Folder || one.Folder == "", Expected: one.Folder, Status: one.Status}
	if one.Folder == in.Folder {
		return out, nil
	}
	kind, status := settled, one.Status
	if one.Folder != "" {
		kind, status = elsewhere, wire.Paused
	}
	e, err := one.event(ctx, tx, kind, map[string]string{"folder": in.Folder, "expected": one.Folder, "phase": in.Phase, "at": in.Step})
	if err != nil {
		return out, err
	}
	e.Status, out.Status = status, status
	op.Note(ctx, "folder", in.Folder)
	_, err = one.commit(ctx, tx, e)
	return out, err
}
