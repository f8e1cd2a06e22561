package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/tool"
)

//go:embed tandem.md
var tandemDoc string

// own is the tool called tandem. Its call changes nothing by itself: the operation inside goes through the gate with its own
// right, resource and record.
type own struct{}

type ownArgs struct {
	Operation string         `json:"operation,omitempty" jsonschema:"the operation's name, such as board.list"`
	Input     map[string]any `json:"input,omitempty" jsonschema:"what the operation takes"`
}

const maxAnswer = 100 << 10

func (own) Spec() tool.Spec {
	return tool.Spec{Name: "tandem", Doc: tandemDoc, Schema: schemaOf[ownArgs](), Right: "tool.execute", Passes: true}
}

func (own) Plan(env *tool.Env, raw json.RawMessage) (*tool.Plan, error) {
	var a ownArgs
	if err := tool.Decode("tandem", raw, &a); err != nil {
		return nil, err
	}
	if a.Operation == "" && a.Input != nil {
		return nil, fault.New(fault.Invalid, "tandem", "the input belongs to no operation").WithNext("name the operation")
	}
	return &tool.Plan{Title: strings.TrimSpace("tandem " + a.Operation), Resource: op.Resource{Kind: "tool", Path: "/tandem"},
		Touch: op.Touch{Tool: "tandem"},
		Run: func(ctx context.Context, _ func(string)) (tool.Result, error) {
			if env.Operations == nil || env.Operate == nil {
				return tool.Result{}, fault.New(fault.Conflict, "tandem", "only a session uses operations this way").
					WithNext("call the operation itself")
			}
			return a.run(ctx, env)
		}}, nil
}

func (a ownArgs) run(ctx context.Context, env *tool.Env) (tool.Result, error) {
	var list strings.Builder
	for _, o := range env.Operations(ctx) {
		line, _, _ := strings.Cut(o.Doc, "\n")
		fmt.Fprintf(&list, "%s: %s\n", o.Name, line)
		if a.Operation == "" || a.Operation != o.Name && a.Operation != o.Tool {
			continue
		}
		if a.Input == nil {
			return tool.Result{Text: fmt.Sprintf("%s\n\n%s\n\ninput: %s", o.Name, o.Doc, o.Schema)}, nil
		}
		input, err := json.Marshal(a.Input)
		if err != nil {
			return tool.Result{}, fault.New(fault.Invalid, "tandem", "the input cannot be read")
		}
		out, err := env.Operate(ctx, o.Name, input)
		if err != nil {
			return tool.Result{}, err
		}
		text, err := json.Marshal(out)
		if err != nil {
			return tool.Result{}, fmt.Errorf("encode the answer of %s: %w", o.Name, err)
		}
		if len(text) > maxAnswer {
			return tool.Result{Text: strings.ToValidUTF8(string(text[:maxAnswer]), "") + "… (cut; ask for less)"}, nil
		}
		return tool.Result{Text: string(text)}, nil
	}
	if a.Operation != "" {
		return tool.Result{}, fault.New(fault.NotFound, "tandem", "there is no operation %.60q for you", a.Operation).
			WithNext("list them: call tandem without arguments")
	}
	return tool.Result{Text: list.String()}, nil
}
