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

//go:embed question.md
var questionDoc string

type question struct{}

type questionArgs struct {
	Questions []questionItem `json:"questions" jsonschema:"one to four questions"`
}

type questionItem struct {
	Header   string           `json:"header,omitempty" jsonschema:"a word or two"`
	Question string           `json:"question" jsonschema:"the whole question"`
	Options  []questionOption `json:"options,omitempty" jsonschema:"answers to choose from; a person may always answer in other words"`
	Multiple bool             `json:"multiple,omitempty" jsonschema:"several options may be chosen"`
}

type questionOption struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

func (question) Spec() tool.Spec {
	return tool.Spec{Name: "question", Doc: questionDoc, Schema: schemaOf[questionArgs](), Right: "tool.execute"}
}

func (question) Plan(_ *tool.Env, raw json.RawMessage) (*tool.Plan, error) {
	var a questionArgs
	if err := tool.Decode("question", raw, &a); err != nil {
		return nil, err
	}
	if len(a.Questions) == 0 || len(a.Questions) > 4 {
		return nil, fault.New(fault.Invalid, "question", "ask one to four questions at a time")
	}
	w := &tool.Waiting{}
	for _, q := range a.Questions {
		if strings.TrimSpace(q.Question) == "" {
			return nil, fault.New(fault.Invalid, "question", "a question is empty")
		}
		out := tool.Question{Header: q.Header, Question: q.Question, Multiple: q.Multiple}
		for _, o := range q.Options {
			out.Options = append(out.Options, tool.Option(o))
		}
		w.Questions = append(w.Questions, out)
	}
	return &tool.Plan{Title: "question: " + a.Questions[0].Question, Resource: op.Resource{Kind: "tool", Path: "/question"},
		Touch: op.Touch{Tool: "question"},
		Run:   func(context.Context, func(string)) (tool.Result, error) { return tool.Result{}, w }}, nil
}
