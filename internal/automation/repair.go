package automation

import (
	"context"

	"tandem/internal/automation/run"
	"tandem/internal/automation/spec"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/repo/diff"
)

// told is the definition of a run as its repairs left it.
func (r *Room) told(h *held) (*spec.Automation, error) {
	a, err := r.read(h.version)
	if err != nil {
		return nil, err
	}
	for _, one := range h.run.Repairs {
		a = a.Told(one.Node, one.Is)
	}
	return a, nil
}

// repaired is what a node is told after a repair, with the definition that this makes; nil where nothing else is asked for.
func repaired(a *spec.Automation, in wire.RepairIn) (was, is spec.Words, to *spec.Automation, err error) {
	no := func(format string, args ...any) error {
		return fault.New(fault.Invalid, string(wire.Repair), format, args...).
			WithNext("see what the node is told: tandem automation repair %s %s", in.ID, in.Node)
	}
	was, ok := a.Words(in.Node)
	if !ok {
		return was, is, nil, fault.New(fault.NotFound, string(wire.Repair), "the run has no node %.64q", in.Node).
			WithNext("see its nodes: tandem automation runs show %s", in.ID)
	}
	is = was
	single := in.Prompt != nil || in.System != nil || in.Model != nil
	switch {
	case single && in.Definition != "":
		return was, is, nil, no("write the prompt, the system text and the model into the definition, or leave the definition out")
	case single && was.Prompt == "": // a turn always has one
		return was, is, nil, no("%s is no turn, and has no prompt and no model: hand over a definition in which it is told something else",
			in.Node)
	case single:
		set(&is.Prompt, in.Prompt)
		set(&is.System, in.System)
		set(&is.Model, in.Model)
	case in.Definition == "":
		return was, is, nil, nil
	default:
		file, err := spec.Read([]byte(in.Definition))
		if err != nil {
			return was, is, nil, no("this is no definition of an automation:\n%v", err)
		}
		is, _ = file.Words(in.Node)
		if a.Told(in.Node, is).Digest() != file.Digest() {
			return was, is, nil, no("the definition changes more than what %s is told; a repair changes neither other nodes nor what "+
				"this one may use", in.Node)
		}
	}
	if to = a.Told(in.Node, is); to.Digest() == a.Digest() {
		return was, is, nil, no("%s is told this already", in.Node)
	}
	if err := to.Wrong(); err != nil {
		return was, is, nil, no("%v", err)
	}
	return was, is, to, nil
}

func set(to, from *string) {
	if from != nil {
		*to = *from
	}
}

func wordsDiff(was, is spec.Words) string {
	return diff.Unified([]byte(was.String()), []byte(is.String()), 3)
}

// review says what a repair would change, for a person to look at.
func (r *Room) review(ctx context.Context, in wire.RepairIn) (out wire.Reviewed, err error) {
	h, err := r.lookInto(ctx, in.ID)
	if err != nil {
		return out, err
	}
	a, err := r.told(h)
	if err != nil {
		return out, err
	}
	was, is, to, err := repaired(a, in)
	if err != nil {
		return out, err
	}
	out = wire.Reviewed{Run: h.id, Node: in.Node, Prompt: was.Prompt, System: was.System, Model: was.Model, Words: was.String()}
	if to != nil {
		out.Changes, out.Digest = wordsDiff(was, is), to.Digest()
	}
	return out, nil
}

// lookInto is a run as it stands, for whoever changes nothing.
func (r *Room) lookInto(ctx context.Context, id string) (*held, error) {
	look := looking{ctx, r.DB}
	row, err := scanRun(look.QueryRow("SELECT "+runColumns+" FROM automation_run WHERE tenant = ? AND id = ?", op.CallerFrom(ctx).Tenant, id))
	if db.NoRows(err) {
		return nil, noRun(id)
	}
	if err != nil {
		return nil, err
	}
	return r.fold(look, row)
}

// repair has a node of a run told something else, and lets the run go on from there.
func (r *Room) repair(ctx context.Context, tx *db.Tx, in wire.RepairIn) (*wire.Run, error) {
	c := op.CallerFrom(ctx)
	return r.tell(tx, c.Tenant, in.ID, func(h *held) error {
		if err := r.mayRepair(tx, c, h); err != nil {
			return err
		}
		if gate, who := h.run.LetThrough(in.Node, c.Name); who != "" {
			return fault.New(fault.Denied, string(wire.Repair), "%s answered at %s, which comes before %s, and saw what stood there", who, gate,
				in.Node).WithNext("store a version with your words, and begin a run, which asks %s anew: tandem automation add FILE", who)
		}
		a, err := r.told(h)
		if err != nil {
			return err
		}
		_, is, to, err := repaired(a, in)
		if err != nil {
			return err
		}
		if to == nil || to.Digest() != in.Digest {
			return fault.New(fault.Conflict, string(wire.Repair), "this repair is not the one that was looked at").
				WithNext("look again: tandem automation repair %s %s", h.id, in.Node)
		}
		h.heard = c.Prompts(h.heard, nil)
		if err := h.apply(run.Event{Kind: run.Repaired, Node: in.Node, Item: -1, By: c.Name, Text: in.Reason, Repair: &is,
			Digest: in.Digest}); err != nil {
			return err
		}
		op.Note(ctx, "node", in.Node)
		op.Note(ctx, "digest", in.Digest)
		op.Row(ctx, repairSeal(h.tenant, h.id, in.Digest))
		if s := h.alive(in.Node, -1); s != nil && s.state == parked && h.node(in.Node).Asks() != nil {
			if err := r.drop(tx, s, h.version.actor, "it is asked in other words"); err != nil {
				return err
			}
		}
		return h.loseOrphans()
	})
}

// mayRepair says why a run is not repaired by a caller: it would go on with somebody else's authority, or nobody would hear of its end.
func (r *Room) mayRepair(tx *db.Tx, c op.Caller, h *held) error {
	s, err := goesOn(tx, h, string(wire.Repair))
	if err != nil {
		return err
	}
	if c.Actor != s.actsFor {
		return fault.New(fault.Denied, string(wire.Repair), "%s acts for %s, who alone says what it is told", s.Name, s.SwitchedBy).
			WithNext("store a version with your words and switch it on yourself: tandem automation add FILE")
	}
	if h.ended.IsZero() {
		return nil
	}
	if h.parent != "" {
		return fault.New(fault.Conflict, string(wire.Repair), "the run %s, which began it, was told already that it ended", h.parent).
			WithNext("look what that one waits for: tandem automation runs show %s", h.parent)
	}
	var open int
	if err := tx.QueryRow("SELECT count(*) FROM automation_run WHERE tenant = ? AND name = ? AND ended_at = 0", h.tenant, h.name).
		Scan(&open); err != nil {
		return err
	}
	if most := h.run.Spec.Limits.Runs; open >= most {
		return crowded(h.name, open, most)
	}
	return nil
}

// goesOn refuses to let a run go on whose automation is not switched on as it was when the run began.
func goesOn(tx *db.Tx, h *held, of string) (*row, error) {
	s, err := find(tx, h.tenant, h.name)
	switch {
	case err != nil || s == nil:
		return nil, orNone(err, h.name)
	case !s.On:
		return nil, fault.New(fault.Conflict, of, "%s is switched off", s.Name).
			WithNext("switch it on first: tandem automation on %s", s.Name)
	case s.Live != h.digest: // its actor acts for whoever switched the other one on, who did not look at this one
		return nil, fault.New(fault.Conflict, of, "another version of %s was switched on since this run began", s.Name).
			WithNext("begin a run of that one, and cancel this: tandem automation runs cancel %s", h.id)
	case s.actsFor != h.actsFor: // it would go on with the authority of somebody who did not begin it
		return nil, fault.New(fault.Conflict, of, "another person switched %s on since this run began", s.Name).
			WithNext("begin a run with their authority, and cancel this: tandem automation runs cancel %s", h.id)
	}
	return s, nil
}

// loseOrphans says of steps that were under way as the run failed, and were let go then, that nobody knows what became of them.
func (h *held) loseOrphans() error {
	for _, s := range h.run.Steps() {
		n := h.node(s.Node)
		if s.Phase != run.Alive || n.Map != nil && s.Item < 0 || h.alive(s.Node, s.Item) != nil {
			continue
		}
		if err := h.apply(run.Event{Kind: run.Lost, Node: s.Node, Item: s.Item, Attempt: s.Attempt, Fence: s.Fence,
			Text: "it was under way when the run failed, and was let go"}); err != nil {
			return err
		}
	}
	return nil
}
