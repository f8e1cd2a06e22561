package automation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	artifact "tandem/internal/artifact/wire"
	"tandem/internal/automation/run"
	"tandem/internal/automation/spec"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// handoffsOf is what a handoff of an automation touches: who may hand that over and no more is granted this.
func handoffsOf(name, handoff string) op.Resource {
	return op.Resource{Kind: "automation", Path: "/" + name + "/handoff/" + handoff}
}

// mostHandoffs is of how many runs handoffs are listed.
const mostHandoffs = 50

// hand gives a run what it waits for, or will wait for. It waits with the run, which looks after it from here on.
func (r *Room) hand(ctx context.Context, tx *db.Tx, in wire.HandIn) (out wire.Handed, err error) {
	c := op.CallerFrom(ctx)
	if out.Run, err = r.runFor(tx, c.Tenant, in); err != nil {
		return out, err
	}
	_, err = r.tell(tx, c.Tenant, out.Run, func(h *held) error {
		n := h.run.Spec.Handoff(in.Handoff)
		if n == nil || h.name != in.Name {
			return r.noHandoff(in)
		}
		given, from, err := r.handed(ctx, tx, n, in.Output)
		if err != nil {
			return err
		}
		h.heard = c.Prompts(h.heard, nil)
		e := run.Event{Kind: run.Handed, Node: n.ID, Item: -1, Output: given, By: c.Name, Text: from}
		if err := h.apply(e); err != nil {
			return err
		}
		s, _ := h.run.Step(n.ID, -1)
		out.Node, out.State = n.ID, string(s.Phase)
		return nil
	})
	op.Note(ctx, "run", out.Run)
	return out, err
}

func (r *Room) noHandoff(in wire.HandIn) error {
	return fault.New(fault.NotFound, string(wire.Hand), "no node of this run of %s waits for a handoff %.64q", in.Name, in.Handoff).
		WithNext("see what its runs wait for: tandem automation handoffs %s", in.Name)
}

// runFor is the run that is meant: the one that is named, or the only open one to which nobody handed it yet.
func (r *Room) runFor(q querier, tenant string, in wire.HandIn) (string, error) {
	if in.Run != "" {
		return in.Run, nil
	}
	open, err := collectRuns(q.Query("SELECT "+runColumns+" FROM automation_run WHERE tenant = ? AND name = ? AND ended_at = 0 ORDER BY id",
		tenant, in.Name))
	if err != nil {
		return "", err
	}
	var fit []string
	for _, row := range open {
		h, err := r.fold(q, row)
		if err != nil {
			return "", err
		}
		if n := h.run.Spec.Handoff(in.Handoff); n != nil {
			s, _ := h.run.Step(n.ID, -1)
			if s.Handover == nil && (s.Phase == run.Waiting || s.Phase == run.Held) {
				fit = append(fit, row.id)
			}
		}
		if len(fit) > 1 {
			return "", fault.New(fault.Conflict, string(wire.Hand), "several runs of %s wait for %s, among them %s", in.Name, in.Handoff,
				strings.Join(fit, " and ")).WithNext("say to which: tandem automation handoffs %s, then --run RUN", in.Name)
		}
	}
	if len(fit) == 0 {
		return "", fault.New(fault.NotFound, string(wire.Hand), "no open run of %s waits for a handoff %.64q", in.Name, in.Handoff).
			WithNext("see what its runs wait for: tandem automation handoffs %s", in.Name)
	}
	return fit[0], nil
}

// bindHand is the run to which it goes while somebody approves that.
func (r *Room) bindHand(ctx context.Context, in wire.HandIn) ([]op.Bound, error) {
	id, err := r.runFor(looking{ctx, r.DB}, op.CallerFrom(ctx).Tenant, in)
	if err != nil {
		return nil, err
	}
	return []op.Bound{{Name: "run", Value: id}}, nil
}

// handed are the outputs as they are given to the run: looked at as the node wants them, artifacts as their texts. from says which
// artifacts they were.
func (r *Room) handed(ctx context.Context, tx *db.Tx, n *spec.Node, output map[string]any) (given map[string]any, from string, err error) {
	no := func(format string, args ...any) error {
		return fault.New(fault.Invalid, string(wire.Hand), "%s is handed over as the node %s wants it: %s", n.Wait.Handoff, n.ID,
			fmt.Sprintf(format, args...)).WithNext("see what it wants: tandem automation handoffs NAME --json")
	}
	if text, err := json.Marshal(output); err != nil || len(text) > maxOutput {
		return nil, "", no("it has %d bytes; %d are allowed", len(text), maxOutput)
	}
	given = maps.Clone(orEmpty(output))
	var refs []string
	for _, name := range slices.Sorted(maps.Keys(n.Output)) {
		out, v := n.Output[name], given[name]
		if v == nil {
			return nil, "", no("the output %s is missing", name)
		}
		if ref, is := reference(v); is && out.Artifact != "" {
			kind, text, plain, err := r.Made(ctx, tx, ref.Name, ref.Version)
			switch {
			case err != nil:
				return nil, "", err
			case kind != out.Artifact || !plain:
				return nil, "", no("the output %s is an artifact of the kind %s, and %.100s is %s", name, out.Artifact, ref.Name, kind)
			case len(text) > maxOutput:
				return nil, "", no("%.100s has %d bytes; %d are allowed", ref.Name, len(text), maxOutput)
			}
			v, given[name] = text, text
			refs = append(refs, fmt.Sprintf("%s@%d", ref.Name, ref.Version))
		}
		if out.Artifact == "" && len(out.Checks) == 0 {
			continue
		}
		if _, wrong := r.looked(op.CallerFrom(ctx).Tenant, &out, v); len(wrong) > 0 {
			return nil, "", no("the output %s: %s", name, clipped(strings.Join(wrong, "; "), 4000))
		}
	}
	return given, strings.Join(refs, ", "), nil
}

// reference reads a value that names an artifact: an object with its name, and a version, and nothing else.
func reference(v any) (ref artifact.OneIn, is bool) {
	fields, _ := v.(map[string]any)
	ref.Name, is = fields["artifact"].(string)
	if v, there := fields["version"]; there {
		n, ok := v.(float64)
		if number, is := v.(json.Number); is {
			whole, err := number.Int64()
			n, ok = float64(whole), err == nil
		}
		is = is && ok && n >= 0 && n == float64(int(n))
		ref.Version = int(n)
		return ref, is && len(fields) == 2
	}
	return ref, is && len(fields) == 1
}

// handedFrom is from what an artifact was made that somebody handed over.
func (j *job) handedFrom() ([]artifact.Input, error) {
	data, err := json.Marshal(j.handed.Output)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	return []artifact.Input{{Name: j.node.Wait.Handoff, From: "handed over by " + j.handed.By, Digest: hex.EncodeToString(sum[:])}}, nil
}

// received is what becomes of a wait whose handoff was kept, or is not kept yet: nobody hands it over twice.
func (r *Room) received(j *job, res result) result {
	switch {
	case res.waits != "":
	case res.Kind == run.Finished:
		res.Kind = run.Woke
	default:
		res = result{waits: clipped("what was handed over cannot be kept: "+res.Text, 500), look: r.DB.Now().Add(lookUnkept)}
	}
	return res
}

// handoffs are those of the newest runs of an automation.
func (r *Room) handoffs(ctx context.Context, in wire.NameIn) (wire.HandoffsOut, error) {
	out := wire.HandoffsOut{Handoffs: []wire.Handoff{}}
	look := looking{ctx, r.DB}
	all, err := collectRuns(look.Query(fmt.Sprintf("SELECT "+runColumns+
		" FROM automation_run WHERE tenant = ? AND name = ? ORDER BY id DESC LIMIT %d", mostHandoffs), op.CallerFrom(ctx).Tenant, in.Name))
	if err != nil {
		return out, err
	}
	for _, row := range all {
		h, err := r.fold(look, row)
		if err != nil {
			r.Log.Error("a run cannot be read", "run", row.id, "err", err)
			continue
		}
		for i := range h.run.Spec.Nodes {
			n := &h.run.Spec.Nodes[i]
			if n.Wait == nil || n.Wait.Handoff == "" {
				continue
			}
			one, err := r.handoff(look, h, n)
			if err != nil {
				return out, err
			}
			out.Handoffs = append(out.Handoffs, one)
		}
	}
	return out, nil
}

// handoff is one handoff of a run as people see it.
func (r *Room) handoff(q querier, h *held, n *spec.Node) (wire.Handoff, error) {
	s, _ := h.run.Step(n.ID, -1)
	one := wire.Handoff{Run: h.id, Node: n.ID, Handoff: n.Wait.Handoff, State: "over", Wants: map[string]any{}}
	for name, o := range n.Output {
		one.Wants[name] = o.Artifact
		if o.Artifact == "" {
			one.Wants[name] = o.Schema
		}
	}
	open := !h.run.Status.Over()
	switch {
	case open && s.Handover != nil:
		one.State = "handed"
	case open && s.Phase == run.Held:
		one.State, one.Until = "awaited", s.Ends
	case open && s.Phase == run.Waiting:
		one.State = "later"
	}
	var body string
	err := q.QueryRow("SELECT body FROM automation_event WHERE tenant = ? AND run = ? AND body LIKE ? ORDER BY seq DESC LIMIT 1",
		h.tenant, h.id,
		`{"kind":"`+string(run.Handed)+`","node":"`+n.ID+`"%`).Scan(&body)
	if db.NoRows(err) {
		return one, nil
	}
	if err != nil {
		return one, err
	}
	var e run.Event
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		return one, err
	}
	one.By, one.At = e.By, e.At.Truncate(time.Millisecond)
	if s.Handover == nil && s.Phase == run.Done {
		one.State = "taken"
	}
	return one, nil
}
