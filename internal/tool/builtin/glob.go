package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"tandem/internal/tool"
)

//go:embed glob.md
var globDoc string

type glob struct{}

type globArgs struct {
	Pattern string `json:"pattern" jsonschema:"for example *.go or src/**/*.ts"`
	Path    string `json:"path,omitempty" jsonschema:"the folder to search; the working folder when left out"`
}

const maxFound = 200

func (glob) Spec() tool.Spec {
	return tool.Spec{Name: "glob", Doc: globDoc, Schema: schemaOf[globArgs](), Right: "folder.read"}
}

func (glob) Plan(env *tool.Env, raw json.RawMessage) (*tool.Plan, error) {
	var a globArgs
	if err := tool.Decode("glob", raw, &a); err != nil {
		return nil, err
	}
	if err := checkGlob("glob", a.Pattern); err != nil {
		return nil, err
	}
	p, err := env.Scope.Locate(env.Dir, a.Path, false)
	if err != nil {
		return nil, err
	}
	return &tool.Plan{Title: "glob " + a.Pattern, Resource: folder(p), Touch: touches("glob", p),
		Run: func(ctx context.Context, _ func(string)) (tool.Result, error) {
			var found []string
			cut, err := p.Walk(ctx, skip, func(f tool.File) error {
				if matchGlob(a.Pattern, f.Rel) {
					found = append(found, f.Rel)
				}
				return nil
			})
			if err != nil {
				return tool.Result{}, err
			}
			sort.Strings(found)
			more := max(len(found)-maxFound, 0)
			text := strings.Join(found[:len(found)-more], "\n")
			switch {
			case len(found) == 0:
				text = "no file matches"
			case more > 0:
				text += fmt.Sprintf("\n(%d more)", more)
			}
			if cut {
				text += "\n(the folder is too large: the search was cut short)"
			}
			return tool.Result{Text: text, Meta: map[string]any{"found": len(found)}}, nil
		}}, nil
}
