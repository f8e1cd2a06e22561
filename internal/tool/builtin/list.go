package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"tandem/internal/tool"
)

//go:embed list.md
var listDoc string

type list struct{}

type listArgs struct {
	Path string `json:"path,omitempty" jsonschema:"the folder; the working folder when left out"`
}

const maxEntries = 1000

func (list) Spec() tool.Spec {
	return tool.Spec{Name: "list", Doc: listDoc, Schema: schemaOf[listArgs](), Right: "folder.read"}
}

func (list) Plan(env *tool.Env, raw json.RawMessage) (*tool.Plan, error) {
	var a listArgs
	if err := tool.Decode("list", raw, &a); err != nil {
		return nil, err
	}
	p, err := env.Scope.Locate(env.Dir, a.Path, false)
	if err != nil {
		return nil, err
	}
	return &tool.Plan{Title: "list " + p.Path, Resource: folder(p), Touch: touches("list", p),
		Run: func(context.Context, func(string)) (tool.Result, error) {
			entries, err := p.Entries()
			if err != nil {
				return tool.Result{}, err
			}
			var out strings.Builder
			for i, e := range entries {
				if i >= maxEntries {
					fmt.Fprintf(&out, "(%d more)\n", len(entries)-i)
					break
				}
				name := e.Name()
				if e.IsDir() {
					name += "/"
				}
				out.WriteString(name + "\n")
			}
			if out.Len() == 0 {
				out.WriteString("(nothing)\n")
			}
			return tool.Result{Text: out.String(), Meta: map[string]any{"entries": len(entries)}}, nil
		}}, nil
}
