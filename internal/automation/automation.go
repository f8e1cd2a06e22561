package automation

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tandem/internal/automation/spec"
	"tandem/internal/automation/wire"
)

// actorName is the name of an automation among the actors.
func actorName(name string) string { return "automation." + name }

// may lists what a definition may do once it is switched on, node by node.
func may(a *spec.Automation) (out []wire.May) {
	add := func(n *spec.Node, b *spec.Body, each string) {
		kind := b.Kinds()
		if len(kind) == 1 {
			out = append(out, wire.May{Node: n.ID, Kind: kind[0], What: act(b) + each + order(n)})
		}
	}
	for i := range a.Nodes {
		n := &a.Nodes[i]
		switch {
		case n.Map != nil:
			add(n, &n.Map.Body, fmt.Sprintf(", for each of at most %d items", n.Map.Max))
		case n.Asks() != nil:
			what := "asks " + asked(n.Asks().Approvers) + " before it goes on"
			switch n.Asks().OnExpiry {
			case spec.Escalate:
				what += ", and " + n.Asks().Escalate + " after " + time.Duration(n.Asks().Expires).String()
			case spec.Resume:
				what += ", and goes on after " + time.Duration(n.Asks().Expires).String() + " without an answer"
			}
			out = append(out, wire.May{Node: n.ID, Kind: n.Kind(), What: what + order(n)})
		case n.Wait != nil && n.Wait.Condition != "":
			out = append(out, wire.May{Node: n.ID, Kind: "wait", What: "reads the shared key " + n.Wait.Condition + order(n)})
		case n.Wait != nil && n.Wait.Handoff != "":
			out = append(out, wire.May{Node: n.ID, Kind: "wait", What: "waits until somebody hands over " + n.Wait.Handoff + order(n)})
		default:
			add(n, &n.Body, "")
		}
	}
	return out
}

// act says in words what a body does.
func act(b *spec.Body) string {
	switch {
	case b.Operation != nil:
		return "calls " + b.Operation.Name + with(b.Operation.Input)
	case b.Command != nil:
		s := "runs " + quoted(b.Command.Run)
		if b.Command.Folder != "" {
			s += ", may change " + b.Command.Folder
		}
		if b.Command.Network {
			s += ", with the network"
		}
		return s
	case b.Automation != nil:
		return "runs the automation " + b.Automation.Name
	case b.Make != nil:
		return "makes an artifact from " + b.Make.From
	}
	t := b.Turn
	s := "asks " + orElse(t.Model, "the default model")
	if t.Agent != "" {
		return fmt.Sprintf("has %s work with its own tools, in its box, in the folder %s%s: %q", t.Agent, strings.Join(t.Folders, ", "),
			readsOf(t), t.Prompt)
	}
	for _, one := range []struct {
		what string
		list []string
	}{{"tools", t.Tools}, {"connectors", t.Connectors}, {"folders", t.Folders}} {
		if len(one.list) > 0 {
			s += ", with the " + one.what + " " + strings.Join(one.list, ", ")
		}
	}
	if len(t.Tools)+len(t.Connectors) == 0 {
		s += ", without tools"
	}
	return s + readsOf(t) + fmt.Sprintf(": %q", t.Prompt)
}

// readsOf says which knowledge spaces a turn reads.
func readsOf(t *spec.Turn) (s string) {
	if len(t.Knowledge) > 0 {
		s = ", reading the knowledge spaces " + strings.Join(t.Knowledge, ", ")
	}
	if t.Cite {
		s += ", which it must cite"
	}
	return s
}

// with is the input of an operation as it is written.
func with(input map[string]any) string {
	if len(input) == 0 {
		return ""
	}
	text, err := json.Marshal(input)
	if err != nil { // it was read from TOML
		return " with an input that cannot be shown"
	}
	return " with " + string(text)
}

// order says what a node waits for and is given.
func order(n *spec.Node) string {
	s := ""
	if len(n.After) > 0 {
		s += ", after " + strings.Join(n.After, ", ")
	}
	for _, name := range slices.Sorted(maps.Keys(n.Inputs)) {
		s += fmt.Sprintf("; %s is %s", name, n.Inputs[name])
	}
	return s
}

func quoted(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		if words[i] = a; a == "" || strings.ContainsAny(a, " \t\n\"'") {
			words[i] = fmt.Sprintf("%q", a)
		}
	}
	return strings.Join(words, " ")
}

func asked(approvers []string) string {
	if len(approvers) == 0 {
		return "a person"
	}
	return strings.Join(approvers, " or ")
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// begins says in words what begins runs.
func begins(a *spec.Automation) (out []string) {
	for _, t := range a.Triggers {
		if t.Schedule != "" {
			out = append(out, t.Schedule+", "+t.Zone)
		}
		if t.Event != "" {
			out = append(out, "event "+t.Event)
		}
		if t.Ended != "" {
			out = append(out, "the end of a run of "+t.Ended)
		}
		if t.Files != "" {
			out = append(out, "changes of "+t.Files+" in "+t.Folder)
		}
		if t.Bookmark != "" {
			out = append(out, "the bookmark "+t.Bookmark+" of "+t.Repo+" moves")
		}
		if t.Webhook != "" && a.Heard(t.ID) {
			out = append(out, "webhook "+t.ID+" ("+t.Webhook+"), for runs that wait for it")
		} else if t.Webhook != "" {
			out = append(out, "webhook "+t.ID+" ("+t.Webhook+")")
		}
	}
	return out
}

// unbuilt lists what a definition asks for that no server does yet. Such a definition can be stored and not switched on.
func unbuilt(a *spec.Automation) (out []string) {
	no := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, t := range a.Triggers {
		switch {
		case t.Ended == a.Name:
			no("trigger %s: it would begin itself for ever", t.ID)
		}
	}
	for i := range a.Nodes {
		n := &a.Nodes[i]
		body := &n.Body
		if n.Map != nil {
			body = &n.Map.Body
		}
		builtWait(n, no)
		switch {
		case body.Turn != nil:
			builtTurn(n, body.Turn, no)
		case body.Automation != nil:
			builtSub(a, n, body.Automation, no)
		}
		builtOutputs(n, body, no)
	}
	return out
}

// lateKey is how long after its beginning an attempt may be asked about at the gate, which forgets its keys after two days.
const lateKey = 40 * time.Hour
