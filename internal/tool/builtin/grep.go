package builtin

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/tool"
)

//go:embed grep.md
var grepDoc string

type grep struct{}

type grepArgs struct {
	Pattern    string `json:"pattern" jsonschema:"a regular expression (RE2)"`
	Path       string `json:"path,omitempty" jsonschema:"the folder to search; the working folder when left out"`
	Include    string `json:"include,omitempty" jsonschema:"only files that match this glob, for example *.go"`
	IgnoreCase bool   `json:"ignore_case,omitempty"`
}

const (
	maxMatches  = 200
	maxSearched = 2 << 20 // larger files are data, not source
)

func (grep) Spec() tool.Spec {
	return tool.Spec{Name: "grep", Doc: grepDoc, Schema: schemaOf[grepArgs](), Right: "folder.read"}
}

func (grep) Plan(env *tool.Env, raw json.RawMessage) (*tool.Plan, error) {
	var a grepArgs
	if err := tool.Decode("grep", raw, &a); err != nil {
		return nil, err
	}
	expr := a.Pattern
	if a.IgnoreCase {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil || a.Pattern == "" {
		return nil, fault.New(fault.Invalid, "grep", "%q is not a regular expression", a.Pattern)
	}
	if a.Include != "" {
		if err := checkGlob("grep", a.Include); err != nil {
			return nil, err
		}
	}
	p, err := env.Scope.Locate(env.Dir, a.Path, false)
	if err != nil {
		return nil, err
	}
	return &tool.Plan{Title: "grep " + a.Pattern, Resource: folder(p), Touch: touches("grep", p),
		Run: func(ctx context.Context, _ func(string)) (tool.Result, error) {
			var out strings.Builder
			matches := 0
			cut, err := p.Walk(ctx, skip, func(f tool.File) error {
				if a.Include != "" && !matchGlob(a.Include, f.Rel) {
					return nil
				}
				matches += search(f, re, &out, maxMatches-matches)
				if matches >= maxMatches {
					return tool.ErrEnough
				}
				return nil
			})
			if err != nil {
				return tool.Result{}, err
			}
			if matches == 0 {
				out.WriteString("nothing matches\n")
			}
			if cut {
				out.WriteString("(there is more: narrow the search)\n")
			}
			return tool.Result{Text: out.String(), Meta: map[string]any{"matches": matches}}, nil
		}}, nil
}

func search(f tool.File, re *regexp.Regexp, out *strings.Builder, room int) int {
	b, err := f.Read(maxSearched)
	if err != nil || bytes.IndexByte(b[:min(len(b), 8000)], 0) >= 0 {
		return 0
	}
	n, found := 0, 0
	for line := range bytes.Lines(b) {
		n++
		if !re.Match(bytes.TrimRight(line, "\r\n")) {
			continue
		}
		if found == room {
			break
		}
		found++
		text := strings.ToValidUTF8(string(bytes.TrimSpace(line[:min(len(line), 400)])), "�")
		fmt.Fprintf(out, "%s:%d: %s\n", f.Rel, n, text)
	}
	return found
}
