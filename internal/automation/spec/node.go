package spec

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind is the one kind that a checked node has.
func (n *Node) Kind() string { return n.kinds()[0] }

func (n *Node) kinds() []string {
	out := n.Body.Kinds()
	for name, there := range map[string]bool{"wait": n.Wait != nil, "gate": n.Gate != nil, "branch": n.Branch != nil, "map": n.Map != nil} {
		if there {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Kinds are the kinds of work that are written: one where work is done, none in a wait, a gate, a branch or a map.
func (b *Body) Kinds() (out []string) {
	for name, there := range map[string]bool{"turn": b.Turn != nil, "operation": b.Operation != nil,
		"command": b.Command != nil, "automation": b.Automation != nil, "make": b.Make != nil} {
		if there {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Folders are where a piece of work may work.
func (b *Body) Folders() []string {
	switch {
	case b.Turn != nil:
		return b.Turn.Folders
	case b.Command != nil && b.Command.Folder != "":
		return []string{b.Command.Folder}
	}
	return nil
}

// Plain reports whether an output is a text as it was said, and no value that is read from it.
func (o *Output) Plain() bool {
	return o.Schema == nil || o.Schema.Type == "string" || len(o.Schema.Enum) > 0
}

func (o *Output) check(name string, say func(string, ...any)) {
	switch {
	case o.Schema == nil && o.Artifact == "":
		say("output %s has a schema or an artifact", clip(name))
	case o.Schema != nil && o.Artifact != "" && o.Artifact != "json":
		say("output %s has a schema or an artifact; of artifacts, json alone has a schema", clip(name))
	case o.Artifact != "" && !slices.Contains(Artifacts, o.Artifact):
		say("output %s: %q is no kind of artifact: %s", clip(name), clip(o.Artifact), strings.Join(Artifacts, ", "))
	}
	for _, check := range o.Checks {
		if !slices.Contains(Checks, check) {
			say("output %s: %q is no check: %s", clip(name), clip(check), strings.Join(Checks, ", "))
		}
	}
	switch {
	case o.Max < 0 || o.Max > maxArtifact || o.Max > 0 && o.Artifact == "":
		say("output %s: max is %d; an artifact has at most %d bytes", clip(name), o.Max, maxArtifact)
	case len(o.Sections) > 50:
		say("output %s: sections names %d; 50 are allowed", clip(name), len(o.Sections))
	}
}

// Makes reports whether a node makes artifacts.
func (n *Node) Makes() bool {
	for _, o := range n.Output {
		if o.Artifact != "" {
			return true
		}
	}
	return false
}

// maxArtifact is how many bytes an artifact may have.
const maxArtifact = 4 << 20

// IsArtifact reports whether a name leads to an artifact of a node, or to a list of them that a map made.
func (a *Automation) IsArtifact(ref Ref) bool {
	node, way := ref.Split()
	for i := range a.Nodes {
		if n := &a.Nodes[i]; n.ID == node && len(way) == 1 {
			return n.Output[way[0]].Artifact != ""
		}
	}
	return false
}

// ByModel reports whether a model had a hand in what a node makes: it is a turn, or comes behind one.
func (a *Automation) ByModel(id string) bool {
	needs, seen := a.Needs(), map[string]bool{}
	turns := map[string]bool{}
	for i := range a.Nodes {
		n := &a.Nodes[i]
		body := &n.Body
		if n.Map != nil {
			body = &n.Map.Body
		}
		turns[n.ID] = body.Turn != nil || body.Automation != nil || // what another automation does is not known here,
			n.Wait != nil && n.Wait.Handoff != "" // nor who made what is handed over
	}
	var look func(id string) bool
	look = func(id string) bool {
		if seen[id] {
			return false
		}
		seen[id] = true
		return turns[id] || slices.ContainsFunc(needs[id], look)
	}
	return look(id)
}

// Artifacts are the kinds that can be made, and Checks what can be asked of one.
var (
	Artifacts = []string{"markdown", "html", "pptx", "csv", "json"}
	Checks    = []string{"document", "sections", "citations", "tests", "no-secrets", "no-active-content"}
)

// check looks at what is done, and that every {{name}} is an input.
func (b *Body) check(holes map[string]bool, say func(string, ...any)) {
	switch {
	case b.Turn != nil:
		b.Turn.check(holes, say)
	case b.Operation != nil:
		if !eventForm.MatchString(b.Operation.Name) || strings.HasSuffix(b.Operation.Name, "*") {
			say("%q is no name of an operation, such as board.add", clip(b.Operation.Name))
		}
		texts(b.Operation.Input, func(s string) { filled(s, holes, say) })
	case b.Command != nil:
		if len(b.Command.Run) == 0 || b.Command.Run[0] == "" {
			say("command.run is a program and its arguments")
		}
		for _, arg := range b.Command.Run {
			filled(arg, holes, say)
		}
	case b.Make != nil && !holes[b.Make.From]:
		say("make.from is %q, which is none of its inputs", clip(b.Make.From))
	case b.Automation != nil && !nameForm.MatchString(b.Automation.Name):
		say("%q is no name of an automation", clip(b.Automation.Name))
	}
}

// Asks is the gate of a node at which a person is asked: a gate, or a wait for an approval. It is nil for all others.
func (n *Node) Asks() *Gate {
	if n.Gate == nil && n.Wait != nil && len(n.Wait.Approval) > 0 {
		return &Gate{Text: n.About, Approvers: n.Wait.Approval, Expires: n.Wait.Timeout, OnExpiry: n.Wait.OnTimeout}
	}
	return n.Gate
}

// Holds reports whether a node does nothing itself: a gate or a wait.
func (n *Node) Holds() bool { return n.Gate != nil || n.Wait != nil }

// Heard reports whether a node waits for messages of a webhook, which then begin no runs.
func (a *Automation) Heard(trigger string) bool {
	return slices.ContainsFunc(a.Nodes, func(n Node) bool { return n.Wait != nil && n.Wait.Webhook == trigger })
}

func (t *Turn) check(holes map[string]bool, say func(string, ...any)) {
	switch {
	case strings.TrimSpace(t.Prompt) == "":
		say("turn.prompt is empty")
	case len(t.Prompt) > maxText || len(t.System) > maxText:
		say("a prompt has at most %d bytes", maxText)
	case t.Model != "" && t.Agent != "":
		say("a turn has a model or an agent, and not both")
	case t.Agent != "" && !slices.Contains(Agents, t.Agent):
		say("%q is no agent: %s", clip(t.Agent), strings.Join(Agents, ", "))
	case t.Cite && len(t.Knowledge) == 0:
		say("turn.cite needs turn.knowledge: what is cited lies there")
	case len(t.Knowledge) > maxKnowledge:
		say("turn.knowledge names %d knowledge spaces; %d are allowed", len(t.Knowledge), maxKnowledge)
	}
	filled(t.Prompt, holes, say)
	filled(t.System, holes, say)
	for what, list := range map[string][]string{"tools": t.Tools, "connectors": t.Connectors, "folders": t.Folders, "knowledge": t.Knowledge} {
		for _, one := range list {
			if strings.TrimSpace(one) == "" || strings.ContainsAny(one, "*?[") {
				say("turn.%s names %q; each is named in full", what, clip(one))
			}
		}
	}
}

// maxKnowledge is how many knowledge spaces a turn reads.
const maxKnowledge = 16

// Agents are the programs that can take a turn in place of a model.
var Agents = []string{"claude", "codex", "opencode"}

// filled refuses a {{name}} that is no input.
func filled(text string, holes map[string]bool, say func(string, ...any)) {
	for _, m := range holeForm.FindAllStringSubmatch(text, -1) {
		if name := strings.TrimSpace(m[1]); !holes[name] {
			say("{{%s}} is none of its inputs", clip(name))
		}
	}
}

func texts(v any, visit func(string)) {
	switch v := v.(type) {
	case string:
		visit(v)
	case map[string]any:
		for _, one := range v {
			texts(one, visit)
		}
	case []any:
		for _, one := range v {
			texts(one, visit)
		}
	}
}

func (n *Node) String() string { return fmt.Sprintf("%s (%s)", n.ID, n.Kind()) }

// Allows reports whether a failure of a class is tried again.
func (r *Retry) Allows(class string) bool {
	if len(r.On) == 0 {
		return slices.Contains(Classes, class)
	}
	return slices.Contains(r.On, class)
}

// Pause is how long to wait after so many attempts.
func (r *Retry) Pause(attempts int) time.Duration {
	wait := time.Duration(r.Wait)
	for range attempts - 1 {
		if wait = time.Duration(float64(wait) * r.Factor); wait >= time.Duration(r.Most) {
			return time.Duration(r.Most)
		}
	}
	return wait
}
