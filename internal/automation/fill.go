package automation

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"tandem/internal/automation/spec"
)

var hole = regexp.MustCompile(`\{\{([^{}]*)\}\}`)

// filled puts inputs into what a definition says: a text that is nothing but {{name}} becomes the value itself.
func filled(v any, inputs map[string]any) any {
	switch v := v.(type) {
	case string:
		if m := hole.FindStringSubmatch(v); m != nil && m[0] == v {
			return inputs[strings.TrimSpace(m[1])]
		}
		return text(v, inputs)
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, one := range v {
			out[name] = filled(one, inputs)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			out[i] = filled(one, inputs)
		}
		return out
	}
	return v
}

// text puts inputs into a text: texts as they are, everything else as JSON. What is put in is not looked at for holes again.
func text(s string, inputs map[string]any) string {
	return hole.ReplaceAllStringFunc(s, func(m string) string {
		switch v := inputs[strings.TrimSpace(strings.Trim(m, "{}"))].(type) {
		case string:
			return v
		case nil:
			return ""
		default:
			data, err := json.Marshal(v)
			if err != nil {
				return fmt.Sprint(v)
			}
			return string(data)
		}
	})
}

// maxOutput is how much one step may give on.
const maxOutput = 256 << 10

// outputs are the fields of an answer that the node declares.
func outputs(n *spec.Node, answer any) (map[string]any, error) {
	data, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	if len(n.Output) == 0 {
		return nil, nil
	}
	if len(data) > maxOutput {
		return nil, fmt.Errorf("it gave %d bytes; %d are allowed", len(data), maxOutput)
	}
	var fields map[string]any
	if err := spec.Decode(data, &fields); err != nil {
		return nil, fmt.Errorf("it gave no object with outputs")
	}
	return chosen(n, fields), nil
}

func chosen(n *spec.Node, fields map[string]any) map[string]any {
	out := map[string]any{}
	for name := range n.Output {
		if v, ok := fields[name]; ok {
			out[name] = v
		}
	}
	return out
}

// spoken reads outputs from what a program or a model wrote: an object with their names, or, where there is one output alone, the text.
func spoken(n *spec.Node, said string) (map[string]any, error) {
	if len(n.Output) == 0 {
		return nil, nil
	}
	if len(said) > maxOutput {
		return nil, fmt.Errorf("it wrote %d bytes; %d are allowed", len(said), maxOutput)
	}
	said = strings.TrimSpace(said)
	var fields map[string]any
	bare := said
	if inner, ok := strings.CutPrefix(said, "```json"); ok {
		bare = strings.TrimSuffix(strings.TrimSpace(inner), "```")
	}
	if spec.Decode([]byte(bare), &fields) == nil {
		if out := chosen(n, fields); len(out) == len(n.Output) {
			return out, nil
		}
	}
	for name, o := range n.Output {
		if len(n.Output) > 1 {
			break
		}
		var v any
		if !o.Plain() && spec.Decode([]byte(bare), &v) == nil {
			return map[string]any{name: v}, nil
		}
		return map[string]any{name: said}, nil
	}
	return nil, fmt.Errorf("it wrote no JSON object with its outputs")
}
