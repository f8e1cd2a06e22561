package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/tool"
)

//go:embed todo.md
var todoDoc string

type todo struct{}

type todoArgs struct {
	Todos []todoItem `json:"todos" jsonschema:"the whole list, in order"`
}

type todoItem struct {
	Content string `json:"content" jsonschema:"what is to be done"`
	Status  string `json:"status" jsonschema:"pending, in_progress, completed or cancelled"`
}

var todoMarks = map[string]string{"pending": "[ ]", "in_progress": "[>]", "completed": "[x]", "cancelled": "[-]"}

func (todo) Spec() tool.Spec {
	return tool.Spec{Name: "todo", Doc: todoDoc, Schema: schemaOf[todoArgs](), Right: "tool.execute", Passes: true}
}

func (todo) Plan(env *tool.Env, raw json.RawMessage) (*tool.Plan, error) {
	var a todoArgs
	if err := tool.Decode("todo", raw, &a); err != nil {
		return nil, err
	}
	if len(a.Todos) > 200 {
		return nil, fault.New(fault.Invalid, "todo", "a list has at most 200 entries")
	}
	items := make([]tool.Todo, len(a.Todos))
	var shown strings.Builder
	for i, t := range a.Todos {
		mark, ok := todoMarks[t.Status]
		if !ok || strings.TrimSpace(t.Content) == "" {
			return nil, fault.New(fault.Invalid, "todo", "entry %d: it needs a content and a status of pending, in_progress, completed or cancelled",
				i+1)
		}
		items[i] = tool.Todo{ID: strconv.Itoa(i + 1), Content: t.Content, Status: t.Status}
		fmt.Fprintf(&shown, "%s %s\n", mark, t.Content)
	}
	return &tool.Plan{Title: fmt.Sprintf("todo (%d)", len(items)), Resource: op.Resource{Kind: "tool", Path: "/todo"},
		Touch: op.Touch{Tool: "todo"},
		Run: func(ctx context.Context, _ func(string)) (tool.Result, error) {
			if env.Todos == nil {
				return tool.Result{}, fault.New(fault.Conflict, "todo", "there is no session to keep a list for")
			}
			if err := env.Todos(ctx, items); err != nil {
				return tool.Result{}, err
			}
			return tool.Result{Text: shown.String()}, nil
		}}, nil
}
