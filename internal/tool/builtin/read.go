package builtin

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"tandem/internal/fault"
	"tandem/internal/tool"
)

//go:embed read.md
var readDoc string

type read struct{}

type readArgs struct {
	Path   string `json:"path" jsonschema:"the file, absolute or relative to the working folder"`
	Offset int    `json:"offset,omitempty" jsonschema:"the first line to read, counting from 1"`
	Limit  int    `json:"limit,omitempty" jsonschema:"how many lines to read, 2000 when left out"`
}

// Limits of what the model gets of one file.
const (
	maxFile     = 16 << 20
	maxLine     = 2000
	defaultRead = 2000
	maxText     = 200 << 10
)

func (read) Spec() tool.Spec {
	return tool.Spec{Name: "read", Doc: readDoc, Schema: schemaOf[readArgs](), Right: "folder.read"}
}

func (read) Plan(env *tool.Env, raw json.RawMessage) (*tool.Plan, error) {
	var a readArgs
	if err := tool.Decode("read", raw, &a); err != nil {
		return nil, err
	}
	if a.Offset < 0 || a.Limit < 0 {
		return nil, fault.New(fault.Invalid, "read", "offset and limit count lines and cannot be negative")
	}
	p, err := env.Scope.Locate(env.Dir, a.Path, false)
	if err != nil {
		return nil, err
	}
	return &tool.Plan{Title: "read " + a.Path, Resource: folder(p), Touch: touches("read", p),
		Run: func(ctx context.Context, _ func(string)) (tool.Result, error) {
			b, err := p.ReadFile(maxFile)
			if err != nil {
				return tool.Result{}, err
			}
			if env.Document != nil && packed(p.Path) {
				text, err := env.Document(ctx, p.Path, b)
				if err != nil {
					return tool.Result{}, err
				}
				b = []byte(text)
			}
			return numbered(b, a.Offset, a.Limit)
		}}, nil
}

// packed says whether a file is a document whose bytes are no text. What is text as it
// lies there is read as it is, so that it can be edited.
func packed(path string) bool {
	return slices.Contains([]string{".pdf", ".docx", ".pptx", ".xlsx"}, strings.ToLower(filepath.Ext(path)))
}

// numbered shows lines with their numbers, and says what it left out.
func numbered(b []byte, offset, limit int) (tool.Result, error) {
	if bytes.IndexByte(b[:min(len(b), 8000)], 0) >= 0 || !utf8.Valid(b) {
		return tool.Result{}, fault.New(fault.Invalid, "read", "the file is not text (%d bytes)", len(b))
	}
	if limit == 0 {
		limit = defaultRead
	}
	lines := strings.SplitAfter(string(b), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	first := max(offset, 1)
	if first > len(lines) && len(lines) > 0 {
		return tool.Result{}, fault.New(fault.Invalid, "read", "the file has %d lines, so there is no line %d", len(lines), first)
	}
	var out strings.Builder
	n := first
	for ; n <= len(lines) && n < first+limit && out.Len() < maxText; n++ {
		l := strings.TrimRight(lines[n-1], "\r\n")
		if len(l) > maxLine {
			l = strings.ToValidUTF8(l[:maxLine], "") + " … (line cut)"
		}
		fmt.Fprintf(&out, "%6d\t%s\n", n, l)
	}
	if n <= len(lines) {
		fmt.Fprintf(&out, "(%d more lines; continue with offset %d)\n", len(lines)-n+1, n)
	}
	if len(lines) == 0 {
		out.WriteString("(the file is empty)\n")
	}
	return tool.Result{Text: out.String(), Meta: map[string]any{"lines": len(lines)}}, nil
}
