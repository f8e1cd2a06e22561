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

	"tandem/internal/artifact/check"
	maker "tandem/internal/artifact/make"
	artifact "tandem/internal/artifact/wire"
	"tandem/internal/automation/run"
	"tandem/internal/automation/spec"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// body is what becomes an artifact: its bytes, and how they can be read.
type body struct {
	data []byte
	text string
}

// bodyOf is an output as the bytes of a kind.
func bodyOf(kind string, v any) (b body, err error) {
	if made, ok := v.(body); ok {
		return made, nil
	}
	text, ok := v.(string)
	if kind == "json" {
		var value any
		if !ok || json.Unmarshal([]byte(text), &value) != nil {
			value = v
		}
		b.data, err = json.MarshalIndent(value, "", "  ")
		b.text = string(b.data)
		return b, err
	}
	if !ok {
		return b, fmt.Errorf("it is no text")
	}
	return body{[]byte(text), text}, nil
}

// kept looks at what a step made, and keeps its artifacts: the run goes on with their names. What a check refuses is a failure of the step,
// which is told why when it is tried again.
func (r *Room) kept(ctx context.Context, j *job, caller op.Caller, from []artifact.Input, res result) result {
	if res.Kind != run.Finished || res.waits != "" {
		return res
	}
	bodies := map[string]body{}
	for _, name := range slices.Sorted(maps.Keys(j.node.Output)) {
		out := j.node.Output[name]
		v, there := res.Output[name]
		if !there || out.Artifact == "" && len(out.Checks) == 0 {
			continue
		}
		b, wrong := r.looked(j.tenant, &out, v)
		if len(wrong) > 0 {
			res.Kind, res.Class, res.Output = run.Failure, "check", nil
			res.Text = clipped("the output "+name+": "+strings.Join(wrong, "; "), 4000)
			return res
		}
		if out.Artifact != "" {
			bodies[name] = b
		}
	}
	key, outputs := caller.Idempotency, maps.Clone(res.Output)
	for _, name := range slices.Sorted(maps.Keys(bodies)) {
		out, b := j.node.Output[name], bodies[name]
		caller.Scope, caller.Idempotency = []string{"artifact.run"}, key+"/artifact/"+name
		in := artifact.KeepIn{Automation: j.name, Run: j.id, Node: j.step.node, Output: name, Item: j.step.item + 1, Attempt: j.step.attempt,
			Kind: out.Artifact, Data: b.data, Inputs: from, Checks: out.Checks, AI: j.ai}
		if string(b.data) != b.text {
			in.Text = b.text
		}
		a, err := op.Do(op.WithCaller(ctx, caller), r.Rooms, artifact.Keep, in)
		if err != nil {
			return r.unkept(ctx, j, res, err)
		}
		outputs[name] = map[string]any{"artifact": a.ID, "name": a.Name, "version": a.Version, "kind": a.Kind, "digest": a.Digest,
			"bytes": a.Size}
	}
	res.Output = outputs
	return res
}

// looked is an output as bytes, or all that is wrong with it.
func (r *Room) looked(tenant string, out *spec.Output, v any) (b body, wrong []string) {
	kind := orElse(out.Artifact, "json")
	b, err := bodyOf(kind, v)
	if err != nil {
		return b, []string{err.Error()}
	}
	if slices.Contains(out.Checks, "document") {
		if _, err := maker.Read(v); err != nil {
			return b, []string{err.Error()}
		}
	}
	if out.Artifact == "json" && out.Schema != nil {
		var value any
		if err := json.Unmarshal(b.data, &value); err != nil {
			return b, []string{err.Error()}
		}
		if err := out.Schema.Accepts(value); err != nil {
			return b, []string{err.Error()}
		}
	}
	return b, check.Look(kind, b.text, len(b.data), check.Want{Checks: out.Checks, Sections: out.Sections, Max: out.Max},
		func(text string) bool { return r.Secret != nil && r.Secret(tenant, text) })
}

// madeFrom are the inputs of a step with their digests.
func (j *job) madeFrom() (out []artifact.Input, err error) {
	if !j.node.Makes() {
		return nil, nil
	}
	if j.handed != nil {
		return j.handedFrom()
	}
	for _, name := range slices.Sorted(maps.Keys(j.inputs)) {
		data, err := json.Marshal(j.inputs[name])
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data)
		one := artifact.Input{Name: name, From: string(j.node.Inputs[name]), Digest: hex.EncodeToString(sum[:])}
		if ref, ok := j.inputs[name].(map[string]any); ok && j.artifacts[name] { // an artifact has its own
			one.Digest, _ = ref["digest"].(string)
		}
		if j.node.Map != nil && name == "item" {
			one.From = string(j.node.Map.Over)
		}
		out = append(out, one)
	}
	return out, nil
}

// readArtifacts puts what artifacts say in the place of their names. Which inputs are artifacts the definition says, and never a value.
func (r *Room) readArtifacts(ctx context.Context, j *job) error {
	var read func(v any) (any, error)
	read = func(v any) (any, error) {
		switch v := v.(type) {
		case []any: // of a map
			out := make([]any, len(v))
			for i, one := range v {
				var err error
				if out[i], err = read(one); err != nil {
					return nil, err
				}
			}
			return out, nil
		case map[string]any:
			id, _ := v["artifact"].(string)
			if !strings.HasPrefix(id, "art_") { // a person said what it gave
				return v, nil
			}
			text, plain, err := r.Text(ctx, j.tenant, j.name, id)
			if err != nil || plain {
				return text, err
			}
			out := maps.Clone(v)
			out["text"] = text
			return out, nil
		}
		return v, nil // a person said what it gave
	}
	for name := range j.inputs {
		if !j.artifacts[name] {
			continue
		}
		v, err := read(j.inputs[name])
		if err != nil {
			return err
		}
		j.inputs[name] = v
	}
	return nil
}

// builtOutputs says what of a node's outputs no server does yet, or nobody can do.
func builtOutputs(n *spec.Node, b *spec.Body, no func(string, ...any)) {
	for _, name := range slices.Sorted(maps.Keys(n.Output)) {
		o := n.Output[name]
		switch {
		case slices.Contains(o.Checks, "tests"):
			no("node %s: the check tests of its output %s; let a command run the tests, and fail", n.ID, name)
		case slices.Contains(o.Checks, "sections") != (len(o.Sections) > 0):
			no("node %s: the check sections and the list sections of its output %s belong together", n.ID, name)
		case slices.Contains(o.Checks, "document") && o.Artifact != "" && o.Artifact != "json":
			no("node %s: the check document of its output %s is for values and json", n.ID, name)
		case o.Artifact == "pptx" && b.Make == nil:
			no("node %s: slides are made by a maker: [node.make]", n.ID)
		}
	}
}

// made makes the artifact of a maker.
func (r *Room) made(j *job) result {
	for name, out := range j.node.Output {
		m, err := maker.To(out.Artifact, j.inputs[j.body.Make.From], j.ai && r.Mark())
		if err != nil {
			return result{Event: run.Event{Kind: run.Failure, Class: "check", Text: clipped(j.body.Make.From+": "+err.Error(), 4000)}}
		}
		return result{Event: run.Event{Kind: run.Finished, Output: map[string]any{name: body{m.Data, m.Text}}}}
	}
	return failure(fault.New(fault.Invalid, "automation", "%s has no output", j.node))
}
