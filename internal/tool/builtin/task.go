package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/tool"
)

//go:embed task.md
var taskDoc string

type task struct{}

type taskArgs struct {
	Title    string   `json:"title,omitempty" jsonschema:"the work in a few words"`
	Prompt   string   `json:"prompt" jsonschema:"what the child has to do and to report, with all it has to know"`
	Tools    []string `json:"tools,omitempty" jsonschema:"only these of your tools; all of them when left out"`
	ReadOnly bool     `json:"read_only,omitempty" jsonschema:"the child looks and reports, and changes nothing"`
}

func (task) Spec() tool.Spec {
	return tool.Spec{Name: "task", Doc: taskDoc, Schema: schemaOf[taskArgs](), Right: "session.create", Changes: true}
}

func (task) Plan(env *tool.Env, raw json.RawMessage) (*tool.Plan, error) {
	var a taskArgs
	if err := tool.Decode("task", raw, &a); err != nil {
		return nil, err
	}
	if strings.TrimSpace(a.Prompt) == "" {
		return nil, fault.New(fault.Invalid, "task", "the prompt is empty").WithNext("say what the child has to do")
	}
	if a.Title == "" {
		a.Title, _, _ = strings.Cut(strings.TrimSpace(a.Prompt), "\n")
	}
	if r := []rune(a.Title); len(r) > 60 {
		a.Title = string(r[:60]) + "…"
	}
	run := func(ctx context.Context) (tool.Result, error) {
		if env.Delegate == nil {
			return tool.Result{}, fault.New(fault.Conflict, "task", "only a session hands work to a child")
		}
		turn, err := env.Delegate(ctx, tool.Task(a))
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Result{}, &tool.Delegated{Turn: turn}
	}
	return &tool.Plan{Title: "task: " + a.Title, Resource: op.Resource{Kind: "session", Path: "/"}, Touch: op.Touch{Tool: "task"},
		Run: func(ctx context.Context, _ func(string)) (tool.Result, error) { return run(ctx) },
		// The child is opened once, so asking again finds it.
		Recover: func(ctx context.Context) (tool.Result, bool, error) {
			r, err := run(ctx)
			return r, err == nil, err
		}}, nil
}
