package pattern

import (
	"fmt"
	"regexp"
	"strings"
)

// String is one string pattern.
type String struct {
	Kind string // exact, substring, glob or regex, with "-i" when case does not count
	Text string
	re   *regexp.Regexp
}

// New makes a pattern of a kind.
func New(kind, text string) (String, error) {
	p := String{Kind: kind, Text: text}
	base, fold := strings.CutSuffix(kind, "-i")
	flags := "(?s)"
	if fold {
		flags = "(?si)"
	}
	var err error
	switch base {
	case "exact":
		if fold {
			p.re, err = regexp.Compile(flags + `^(?:` + regexp.QuoteMeta(text) + `)$`)
		}
	case "substring":
		if fold {
			p.re, err = regexp.Compile(flags + regexp.QuoteMeta(text))
		}
	case "glob":
		if !strings.ContainsAny(text, `?*[]{}\\`) {
			// A glob without wildcards names one string.
			if fold {
				return New("exact-i", text)
			}
			return Exact(text), nil
		}
		var expr string
		if expr, err = globExpr(text, false); err == nil {
			p.re, err = regexp.Compile(flags + `^(?:` + expr + `)$`)
		}
	case "regex":
		if fold {
			p.re, err = regexp.Compile("(?i)" + text)
		} else {
			p.re, err = regexp.Compile(text)
		}
	default:
		return p, KindError(kind)
	}
	return p, err
}

// Exact matches one string.
func Exact(text string) String { return String{Kind: "exact", Text: text} }

// Substring matches strings that hold text.
func Substring(text string) String { return String{Kind: "substring", Text: text} }

// All matches every string.
func All() String { return Substring("") }

// Match reports whether s matches.
func (p String) Match(s string) bool {
	switch p.Kind {
	case "exact":
		return s == p.Text
	case "substring":
		return strings.Contains(s, p.Text)
	}
	return p.re.MatchString(s)
}

// AsExact returns the only string the pattern can match.
func (p String) AsExact() (string, bool) { return p.Text, p.Kind == "exact" }

// Regexp is the pattern as an unanchored or anchored expression, for finding
// and replacing.
func (p String) Regexp() *regexp.Regexp {
	switch p.Kind {
	case "exact":
		return regexp.MustCompile(`\A(?:` + regexp.QuoteMeta(p.Text) + `)\z`)
	case "substring":
		return regexp.MustCompile(regexp.QuoteMeta(p.Text))
	}
	return p.re
}

// globExpr turns a shell glob into a regular expression. With paths, "*" and
// "?" stop at separators and "**" spans them.
func globExpr(glob string, paths bool) (string, error) {
	var b strings.Builder
	any, one := ".*", "."
	if paths {
		any, one = "[^/]*", "[^/]"
	}
	rs := []rune(glob)
	depth := 0
	for i := 0; i < len(rs); i++ {
		switch c := rs[i]; c {
		case '*':
			n := 1
			for i+1 < len(rs) && rs[i+1] == '*' {
				i++
				n++
			}
			start := i - n + 1
			if paths && n == 2 && (start == 0 || rs[start-1] == '/') && (i+1 == len(rs) || rs[i+1] == '/') {
				if i+1 < len(rs) {
					b.WriteString("(?:.*/)?")
					i++
				} else {
					b.WriteString(".*")
				}
				continue
			}
			b.WriteString(any)
		case '?':
			b.WriteString(one)
		case '[':
			end, expr := globClass(rs[i:])
			if end < 0 {
				return "", fmt.Errorf("error parsing glob '%s': unclosed character class; missing ']'", glob)
			}
			b.WriteString(expr)
			i += end
		case '{':
			depth++
			b.WriteString("(?:")
		case '}':
			if depth == 0 {
				return "", fmt.Errorf("error parsing glob '%s': unopened alternate group; missing '{' (maybe escape '}' with '[}]'?)", glob)
			}
			depth--
			b.WriteString(")")
		case ',':
			if depth > 0 {
				b.WriteString("|")
			} else {
				b.WriteString(",")
			}
		case '\\':
			if i+1 < len(rs) {
				i++
				b.WriteString(regexp.QuoteMeta(string(rs[i])))
			} else {
				return "", fmt.Errorf("error parsing glob '%s': dangling '\\'", glob)
			}
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	if depth > 0 {
		return "", fmt.Errorf("error parsing glob '%s': unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)", glob)
	}
	return b.String(), nil
}

func globClass(rs []rune) (int, string) {
	var b strings.Builder
	b.WriteString("[")
	i := 1
	if i < len(rs) && (rs[i] == '!' || rs[i] == '^') {
		b.WriteString("^")
		i++
	}
	first := true
	for ; i < len(rs); i++ {
		c := rs[i]
		if c == ']' && !first {
			b.WriteString("]")
			return i, b.String()
		}
		first = false
		if c == '\\' || c == '[' || c == ']' || c == '^' || c == '&' || c == '~' {
			b.WriteString("\\")
		}
		b.WriteRune(c)
	}
	return -1, ""
}

// Glob compiles a path glob whose stars stop at separators.
func Glob(glob string, fold bool) (*regexp.Regexp, error) {
	expr, err := globExpr(glob, true)
	if err != nil {
		return nil, err
	}
	flags := "(?s)"
	if fold {
		flags = "(?si)"
	}
	return regexp.Compile(flags + `^(?:` + expr + `)$`)
}

// Expr is a combination of string patterns.
type Expr struct {
	Op   string // "" for a single pattern, else "~", "|" or "&"
	Pat  String
	Args []*Expr
}

// One wraps a single pattern.
func One(p String) *Expr { return &Expr{Pat: p} }

// Match reports whether s matches the combination.
func (e *Expr) Match(s string) bool {
	switch e.Op {
	case "~":
		return !e.Args[0].Match(s)
	case "|":
		for _, a := range e.Args {
			if a.Match(s) {
				return true
			}
		}
		return false
	case "&":
		for _, a := range e.Args {
			if !a.Match(s) {
				return false
			}
		}
		return true
	}
	return e.Pat.Match(s)
}

// Exacts lists the names of the exact patterns in the combination.
func (e *Expr) Exacts() []string {
	if e.Op == "" {
		if s, ok := e.Pat.AsExact(); ok {
			return []string{s}
		}
		return nil
	}
	if e.Op == "~" {
		return nil
	}
	var out []string
	for _, a := range e.Args {
		out = append(out, a.Exacts()...)
	}
	return out
}

// IsAll says whether the pattern matches every string by what it is.
func (p String) IsAll() bool {
	return p.Kind == "substring" && p.Text == "" || p.Kind == "glob" && p.Text == "*"
}

// KindError says that there is no such kind of pattern for strings.
type KindError string

// Error is the sentence for people.
func (e KindError) Error() string { return "Invalid string pattern kind `" + string(e) + ":`" }
