package automation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/automation/run"
	"tandem/internal/automation/spec"
	"tandem/internal/automation/wire"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/repo/diff"
)

// What became of a step's recorded answer.
const (
	answerThere   = "recorded"
	answerNone    = "none"
	answerRefused = "refused"
)

// mostDiff is how much of one difference is told.
const mostDiff = 16 << 10

// rehearse plays a run with another definition, on the answers that were recorded. It asks no model and nobody else, and writes nothing.
func (r *Room) rehearse(ctx context.Context, in wire.RehearseIn) (out wire.Rehearsal, err error) {
	h, err := r.lookInto(ctx, in.ID)
	if err != nil {
		return out, err
	}
	was, err := r.told(h)
	if err != nil {
		return out, err
	}
	now, err := r.asOf(ctx, h.name, in)
	if err != nil {
		return out, err
	}
	played, err := run.Rehearse(now, h.run)
	if err != nil {
		return out, fault.New(fault.Invalid, string(wire.Rehearse), "with this definition the run would not begin: %v", err).
			WithNext("see what it was given: tandem automation runs show %s --json", h.id)
	}
	out = wire.Rehearsal{Run: h.id, Name: h.name, Then: was.Digest(), Now: now.Digest(), Was: h.status, Status: string(played.Status),
		Reason: played.Reason, Same: true}
	if !played.Status.Over() && played.Status != run.Paused {
		out.Status = "open"
	}
	for _, s := range played.Steps() {
		step := rehearsed(h.run, played, s)
		out.Same = out.Same && !step.Differs()
		if step.Answer == answerNone {
			out.Missing = append(out.Missing, stepName(s))
		}
		out.Steps = append(out.Steps, step)
	}
	for _, s := range h.run.Steps() {
		if _, there := played.Step(s.Node, -1); !there && s.Item < 0 && s.Phase == run.Done {
			out.Gone, out.Same = append(out.Gone, s.Node), false
		}
	}
	return out, nil
}

func stepName(s run.Step) string {
	if s.Item < 0 {
		return s.Node
	}
	return fmt.Sprintf("%s %d", s.Node, s.Item+1)
}

// asOf is the definition with which a run is rehearsed: one that is handed over, a version, or the newest one.
func (r *Room) asOf(ctx context.Context, name string, in wire.RehearseIn) (*spec.Automation, error) {
	if in.Definition != "" {
		a, err := spec.Read([]byte(in.Definition))
		var all spec.Problems
		if errors.As(err, &all) {
			return nil, fault.New(fault.Invalid, string(wire.Rehearse), "this is no definition of an automation:\n%s", all.Error()).
				WithNext("mend it, and look again: tandem automation check FILE")
		}
		return a, err
	}
	all, err := r.versions(ctx, op.CallerFrom(ctx).Tenant, name)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(v *version) bool { return strings.HasPrefix(v.digest, in.Digest) })
	if i < 0 {
		return nil, fault.New(fault.NotFound, string(wire.Rehearse), "%s has no version %.64q", name, in.Digest).
			WithNext("see the newest: tandem automation show %s", name)
	}
	return r.read(all[i])
}

// rehearsed is one step, then and now.
func rehearsed(then *run.Run, now *run.Rehearsal, s run.Step) wire.RehearsedStep {
	n := now.Node(s.Node)
	out := wire.RehearsedStep{Node: s.Node, Kind: n.Kind(), Item: s.Item + 1, Now: string(s.Phase), Reason: s.Reason}
	was, known := then.Step(s.Node, s.Item)
	if known {
		out.Then = string(was.Phase)
	}
	is := func(o run.Step) bool { return o.Node == s.Node && o.Item == s.Item }
	switch {
	case slices.ContainsFunc(now.Missing, is):
		out.Answer = answerNone
	case slices.ContainsFunc(now.Refused, is):
		out.Answer = answerRefused
	case s.Phase == run.Done || s.Phase == run.Broken || s.Phase == run.Uncertain:
		if len(n.Body.Kinds()) > 0 || s.Item >= 0 || n.Holds() {
			out.Answer = answerThere
		}
	}
	if !known || out.Answer == "" && s.Phase == run.Skipped {
		return out
	}
	if out.Answer != "" {
		out.Asked = differs(question(then, s), question(now.Run, s))
	}
	if was.Phase == run.Done && s.Phase == run.Done {
		out.Gives = differs(written(was.Output), written(s.Output))
	}
	return out
}

// question is what a step is told and given, as a text.
func question(r *run.Run, s run.Step) string {
	w, _ := r.Spec.Words(s.Node)
	given := r.Inputs(s.Node, s.Item)
	if n := r.Node(s.Node); n != nil && n.Asks() != nil {
		given = r.Shown(n)
	}
	return w.String() + written(given)
}

func written(v map[string]any) string {
	if len(v) == 0 {
		return ""
	}
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil { // it came from JSON
		return ""
	}
	return string(text) + "\n"
}

func differs(was, is string) string {
	if was == is {
		return ""
	}
	return clipped(diff.Unified([]byte(was), []byte(is), 3), mostDiff)
}
