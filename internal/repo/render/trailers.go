package render

import (
	"regexp"
	"slices"
	"strings"

	"tandem/internal/repo/dsl"
	"tandem/internal/repo/template"
)

// Trailer is a "Key: value" line at the end of a description.
type Trailer struct{ Key, Value string }

// DescriptionTrailers lists the trailers of a description: those of its last
// paragraph, if that is not its only one and is made of trailers alone or has
// one that git writes.
func DescriptionTrailers(description string) []Trailer {
	out, blank, git, bad := trailers(description)
	if !blank || bad != "" && !git {
		return nil
	}
	return out
}

// ParagraphTrailers reads a paragraph that must be trailers; problem says why
// it is not.
func ParagraphTrailers(paragraph string) (out []Trailer, problem string) {
	out, blank, _, bad := trailers(paragraph)
	switch {
	case blank:
		return nil, "The trailer paragraph can't contain a blank line"
	case bad != "":
		return nil, "Invalid trailer line: " + bad
	}
	return out, ""
}

func trailers(body string) (out []Trailer, blank, git bool, bad string) {
	lines := template.Lines(strings.TrimRight(body, " \t\n\r\f"))
	re := regexp.MustCompile(`^([a-zA-Z0-9-]+) *: *(.*)$`)
	var more []string // continuation lines, last first
	for _, line := range slices.Backward(lines) {
		m := re.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, " "):
			more = append(more, line)
		case m != nil:
			more = append(more, m[2])
			more[0] = strings.TrimRight(more[0], " \t\r\f")
			slices.Reverse(more)
			out = append(out, Trailer{m[1], strings.Join(more, "\n")})
			more = nil
			git = git || m[1] == "Signed-off-by"
		case strings.HasPrefix(line, "(cherry picked from commit "):
			git, bad, more = true, line, nil
		case strings.TrimSpace(line) == "":
			slices.Reverse(out)
			return out, true, git, bad
		default:
			bad, more = line, nil
		}
	}
	slices.Reverse(out)
	return out, false, git, bad
}

func trailerList(t *template.Type) *template.Type {
	base := t.Methods
	t.Methods = func() map[string]template.Method {
		m := base()
		m["contains_key"] = func(b *template.Builder, self *template.Expr, call *dsl.Node) (*template.Expr, error) {
			args, err := call.Expect(1, 1)
			if err != nil {
				return nil, err
			}
			key, err := b.Stringed(args[0])
			if err != nil {
				return nil, err
			}
			return template.Map(self, template.BooleanType, func(v []any) (any, error) {
				k, err := key()
				return slices.ContainsFunc(v, func(x any) bool { return x.(Trailer).Key == k }), err
			}), nil
		}
		return m
	}
	return t
}
