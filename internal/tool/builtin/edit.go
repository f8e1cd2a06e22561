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

//go:embed edit.md
var editDoc string

type edit struct{}

type editArgs struct {
	Path string `json:"path" jsonschema:"the file, absolute or relative to the working folder"`
	Old  string `json:"old" jsonschema:"the exact text to replace; it must occur once, unless all is set"`
	New  string `json:"new" jsonschema:"the text to put in its place"`
	All  bool   `json:"all,omitempty" jsonschema:"replace every occurrence"`
}

func (edit) Spec() tool.Spec {
	return tool.Spec{Name: "edit", Doc: editDoc, Schema: schemaOf[editArgs](), Right: "folder.write", Changes: true}
}

func (edit) Plan(env *tool.Env, raw json.RawMessage) (*tool.Plan, error) {
	var a editArgs
	if err := tool.Decode("edit", raw, &a); err != nil {
		return nil, err
	}
	switch {
	case a.Path == "":
		return nil, fault.New(fault.Invalid, "edit", "path is missing")
	case a.Old == "":
		return nil, fault.New(fault.Invalid, "edit", "old is empty").WithNext("use write to create a file")
	case a.Old == a.New:
		return nil, fault.New(fault.Invalid, "edit", "old and new are the same")
	}
	p, err := env.Scope.Locate(env.Dir, a.Path, true)
	if err != nil {
		return nil, err
	}
	run := func(ctx context.Context) (tool.Result, error) {
		b, err := p.ReadFile(maxFile)
		if err != nil {
			return tool.Result{}, err
		}
		text, err := a.apply(string(b))
		if err != nil {
			return tool.Result{}, err
		}
		return replace(ctx, env, p, []byte(text))
	}
	return &tool.Plan{Title: "edit " + a.Path, Resource: folder(p), Touch: touches("edit", p),
		Bind: func() ([]op.Bound, error) { return bindFile(p, a.apply, "args.old", "args.new") },
		Run:  func(ctx context.Context, _ func(string)) (tool.Result, error) { return run(ctx) },
		// The file itself tells: the old text is gone and the new one is there, or the edit has not happened.
		Recover: func(ctx context.Context) (tool.Result, bool, error) {
			b, err := p.ReadFile(maxFile)
			if err != nil {
				return tool.Result{}, false, err
			}
			switch text := string(b); {
			case !strings.Contains(text, a.Old) && strings.Contains(text, a.New) && a.New != "":
				return tool.Result{Text: "changed " + p.Path + " (confirmed after a restart)"}, true, nil
			case strings.Contains(a.New, a.Old) || a.New == "":
				return tool.Result{}, false, nil // both states look alike
			}
			r, err := run(ctx)
			return r, err == nil, err
		}}, nil
}

func (a editArgs) apply(text string) (string, error) {
	n := strings.Count(text, a.Old)
	switch {
	case n == 0:
		return "", fault.New(fault.Conflict, "edit", "%s does not hold the old text", a.Path).
			WithNext("read the file again and copy the text exactly, without line numbers")
	case n > 1 && !a.All:
		return "", fault.New(fault.Conflict, "edit", "the old text occurs %d times in %s", n, a.Path).
			WithNext("give more of the text around it, or set all")
	}
	return strings.ReplaceAll(text, a.Old, a.New), nil
}
