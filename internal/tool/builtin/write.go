package builtin

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/tool"
)

//go:embed write.md
var writeDoc string

type write struct{}

type writeArgs struct {
	Path    string `json:"path" jsonschema:"the file, absolute or relative to the working folder"`
	Content string `json:"content" jsonschema:"the whole new content"`
}

func (write) Spec() tool.Spec {
	return tool.Spec{Name: "write", Doc: writeDoc, Schema: schemaOf[writeArgs](), Right: "folder.write", Changes: true}
}

func (write) Plan(env *tool.Env, raw json.RawMessage) (*tool.Plan, error) {
	var a writeArgs
	if err := tool.Decode("write", raw, &a); err != nil {
		return nil, err
	}
	if a.Path == "" {
		return nil, fault.New(fault.Invalid, "write", "path is missing")
	}
	p, err := env.Scope.Locate(env.Dir, a.Path, true)
	if err != nil {
		return nil, err
	}
	run := func(ctx context.Context) (tool.Result, error) { return replace(ctx, env, p, []byte(a.Content)) }
	return &tool.Plan{Title: "write " + a.Path, Resource: folder(p), Touch: touches("write", p),
		Bind: func() ([]op.Bound, error) {
			return bindFile(p, func(string) (string, error) { return a.Content, nil }, "args.content")
		},
		Run: func(ctx context.Context, _ func(string)) (tool.Result, error) { return run(ctx) },
		// Writing the same content again changes nothing, so a crash in the middle is simply completed.
		Recover: func(ctx context.Context) (tool.Result, bool, error) {
			r, err := run(ctx)
			return r, err == nil, err
		}}, nil
}

// replace changes a file's content, after its old content was kept.
func replace(ctx context.Context, env *tool.Env, p tool.Place, content []byte) (tool.Result, error) {
	before, err := p.ReadFile(maxFile)
	existed := err == nil
	if err != nil && !fault.Is(err, fault.NotFound) {
		return tool.Result{}, err
	}
	if err := unchanged(ctx, p, before, existed); err != nil {
		return tool.Result{}, err
	}
	if existed && bytes.Equal(before, content) {
		return tool.Result{Text: fmt.Sprintf("%s has this content already", p.Path)}, nil
	}
	if env.Before != nil {
		if err := env.Before(ctx, p.Path, before, existed); err != nil {
			return tool.Result{}, err
		}
	}
	if err := p.WriteFile(content); err != nil {
		return tool.Result{}, err
	}
	verb := "created"
	if existed {
		verb = "changed"
	}
	return tool.Result{Text: fmt.Sprintf("%s %s (%d bytes)", verb, p.Path, len(content)),
		Meta: map[string]any{"diff": diff(env.Dir, p.Path, before, content, existed, true), "path": p.Path}}, nil
}
