package compat

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tandem/internal/fault"
)

// What a client describes becomes a definition as a person would write it, stored switched off: a person looks at it and switches it on.
// A node is a turn with a model and no tools: what the description lets its agents use is written into the definition by hand.

// described is what a client sends, each part under both spellings of the two clients.
type described struct {
	name, title string
	trigger     string
	nodes       []describedNode
	models      map[string]string // by agent
}

type describedNode struct {
	ID        string           `json:"node_id"`
	Agent     string           `json:"agent_id"`
	Objective string           `json:"objective"`
	After     []string         `json:"depends_on"`
	Inputs    []describedInput `json:"input_refs"`
	Gate      json.RawMessage  `json:"gate"`
	Wait      json.RawMessage  `json:"wait"`
}

type describedInput struct {
	From  string `json:"from_step_id"`
	Alias string `json:"alias"`
}

var (
	camel  = regexp.MustCompile(`[a-z][A-Z]`)
	unfit  = regexp.MustCompile(`[^a-z0-9]+`)
	letter = regexp.MustCompile(`^[a-z]`)
)

// snaked is a JSON value whose fields are spelled as the older client does.
func snaked(raw json.RawMessage) (json.RawMessage, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	var spell func(v any) any
	spell = func(v any) any {
		switch v := v.(type) {
		case []any:
			for i := range v {
				v[i] = spell(v[i])
			}
		case map[string]any:
			out := map[string]any{}
			for name, one := range v {
				out[camel.ReplaceAllStringFunc(name, func(s string) string { return s[:1] + "_" + strings.ToLower(s[1:]) })] = spell(one)
			}
			return out
		}
		return v
	}
	return json.Marshal(spell(v))
}

// word is a name as definitions have them.
func word(s, otherwise string) string {
	s = strings.Trim(unfit.ReplaceAllString(strings.ToLower(s), "-"), "-")
	if !letter.MatchString(s) {
		s = strings.Trim(otherwise+"-"+s, "-")
	}
	return strings.Trim(s[:min(len(s), 60)], "-")
}

func wrong(format string, args ...any) error {
	return fault.New(fault.Invalid, "automation.add", format, args...).
		WithNext("write the definition yourself: tandem automation check FILE, then tandem automation add FILE")
}

var misfires = map[string]string{"skip": "skip", "run_once": "once", "run_late": "once", "run_now": "once", "catch_up": "catch-up"}

// timed is the trigger of a schedule, "" where it begins by hand alone.
func timed(raw json.RawMessage, zone, misfire string) (string, error) {
	var line string
	var s struct {
		Type, Cron, Timezone string
		Expression           string          `json:"cron_expression"`
		Seconds              float64         `json:"interval_seconds"`
		MS                   float64         `json:"interval_ms"`
		Misfire              json.RawMessage `json:"misfire_policy"`
	}
	if len(raw) > 0 && json.Unmarshal(raw, &line) != nil {
		if err := json.Unmarshal(raw, &s); err != nil {
			return "", wrong("the schedule cannot be read")
		}
		line = s.Expression + s.Cron
		if s.Type == "interval" {
			line = fmt.Sprintf("every %ds", int64(s.Seconds+s.MS/1000))
		}
		var policy struct{ Type string }
		if json.Unmarshal(s.Misfire, &misfire) != nil && json.Unmarshal(s.Misfire, &policy) == nil {
			misfire = policy.Type
		}
		if s.Timezone != "" {
			zone = s.Timezone
		}
	}
	if line == "" {
		return "", nil
	}
	out := "[[trigger]]\nid = \"clock\"\nschedule = " + tomlText(line) + "\n"
	if zone != "" {
		out += "zone = " + tomlText(zone) + "\n"
	}
	if is := misfires[misfire]; is != "" {
		out += "misfire = " + tomlText(is) + "\n"
	}
	return out, nil
}

// tomlText is a text as TOML has it.
func tomlText(s string) string {
	b, _ := json.Marshal(s) // a string is always written
	return strings.ReplaceAll(string(b), "\x7f", `\u007f`)
}

// describe reads what a client sent.
func (q *request) describe() (*described, error) {
	for name, raw := range q.body {
		other, err := snaked(raw)
		if err != nil {
			return nil, wrong("%q cannot be read", name)
		}
		delete(q.body, name)
		q.body[camel.ReplaceAllStringFunc(name, func(s string) string { return s[:1] + "_" + strings.ToLower(s[1:]) })] = other
	}
	d := &described{models: map[string]string{}}
	var zone, misfire, prompt string
	var schedule json.RawMessage
	var flow struct{ Nodes []describedNode }
	var mission struct{ Objective string }
	var agents []struct {
		ID     string `json:"agent_id"`
		Policy struct {
			Model struct {
				Provider string `json:"provider_id"`
				ID       string `json:"model_id"`
			} `json:"default_model"`
		} `json:"model_policy"`
	}
	for _, err := range []error{q.get(&d.title, "name"), q.get(&schedule, "schedule"), q.get(&zone, "timezone"),
		q.get(&misfire, "misfire_policy"), q.get(&flow, "flow"), q.get(&mission, "mission"), q.get(&prompt, "prompt", "entrypoint"),
		q.get(&agents, "agents")} {
		if err != nil {
			return nil, err
		}
	}
	if d.name = word(d.title, "a"); d.title == "" || d.name == "a" && d.title != "a" {
		return nil, wrong("it has no name")
	}
	for _, a := range agents {
		if m := a.Policy.Model; m.Provider != "" && m.ID != "" {
			d.models[a.ID] = m.Provider + "/" + m.ID
		}
	}
	if d.nodes = flow.Nodes; len(d.nodes) == 0 && prompt+mission.Objective != "" {
		d.nodes = []describedNode{{ID: "ask", Objective: prompt + mission.Objective}}
	}
	var err error
	d.trigger, err = timed(schedule, zone, misfire)
	return d, err
}

// text is the definition.
func (d *described) text() (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "name = %s\ntitle = %s\n%s", tomlText(d.name), tomlText(d.title), d.trigger)
	for i, n := range d.nodes {
		id := word(n.ID, "n")
		for _, unkept := range []json.RawMessage{n.Gate, n.Wait} {
			if len(unkept) > 0 && string(unkept) != "null" {
				return "", wrong("the node %s has a gate or waits, which is not read here", n.ID)
			}
		}
		if n.Objective == "" || slices.ContainsFunc(d.nodes[:i], func(o describedNode) bool { return word(o.ID, "n") == id }) {
			return "", wrong("the node %s has no objective, or the name of another", n.ID)
		}
		prompt := strings.NewReplacer("{{", "{ {", "}}", "} }").Replace(n.Objective)
		after, inputs := []string{}, []string{}
		for _, one := range n.After {
			after = append(after, tomlText(word(one, "n")))
		}
		for _, in := range n.Inputs {
			alias := strings.ReplaceAll(word(in.Alias, "in"), "-", "_")
			inputs = append(inputs, alias+" = "+tomlText(word(in.From, "n")+".text"))
			prompt += "\n\n" + alias + ":\n{{" + alias + "}}"
		}
		fmt.Fprintf(&b, "\n[[node]]\nid = %s\nafter = [%s]\n", tomlText(id), strings.Join(after, ", "))
		if len(inputs) > 0 {
			fmt.Fprintf(&b, "inputs = { %s }\n", strings.Join(inputs, ", "))
		}
		fmt.Fprintf(&b, "[node.turn]\nprompt = %s\n", tomlText(prompt))
		if model := d.models[n.Agent]; model != "" {
			fmt.Fprintf(&b, "model = %s\n", tomlText(model))
		}
		b.WriteString("[node.output.text.schema]\ntype = \"string\"\n")
	}
	return b.String(), nil
}

// createAutomation stores what a client describes, switched off.
func createAutomation(q *request, family string) (any, error) {
	d, err := q.describe()
	if err != nil {
		return nil, err
	}
	text, err := d.text()
	if err != nil {
		return nil, err
	}
	var a automation
	if err := q.call("automation.show", obj{"name": d.name}, &a); err == nil {
		return nil, fault.New(fault.Conflict, "automation.add", "there is an automation %s", d.name).WithNext("give it another name")
	} else if !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	if err := q.call("automation.add", obj{"text": text}, &a); err != nil {
		return nil, err
	}
	a.Text = text
	return obj{families[family].one: a.record(family)}, nil
}
