package template

import (
	"encoding/binary"
	"strings"

	"golang.org/x/crypto/blake2b"

	"tandem/internal/repo/dsl"
	"tandem/internal/repo/text"
)

type printer = func(*text.Text) error

// builtin finds a core function; names are listed for suggestions.
var builtinNames = []string{
	"fill", "indent", "pad_start", "pad_end", "pad_centered", "truncate_start", "truncate_end", "hash", "label",
	"raw_escape_sequence", "hyperlink", "replace", "stringify", "json", "if", "try", "coalesce", "concat", "join",
	"separate", "surround", "config",
}

func (b *Builder) function(n *dsl.Node) (*Expr, error) {
	if f, ok := b.Lang.Functions[n.Name]; ok {
		return f(b, n)
	}
	switch n.Name {
	case "fill", "indent":
		return b.fillOrIndent(n)
	case "pad_start", "pad_end", "pad_centered":
		return b.pad(n)
	case "truncate_start", "truncate_end":
		return b.truncate(n)
	case "hash":
		return b.oneString(n, func(s string) (any, error) {
			// jj hashes a string with its length before it.
			sum := blake2b.Sum512(append(binary.LittleEndian.AppendUint64(nil, uint64(len(s))), s...))
			const digits = "0123456789abcdef"
			var out strings.Builder
			for _, c := range sum {
				out.WriteByte(digits[c>>4])
				out.WriteByte(digits[c&15])
			}
			return out.String(), nil
		})
	case "label":
		return b.label(n)
	case "raw_escape_sequence":
		return b.raw(n)
	case "hyperlink":
		return b.hyperlink(n)
	case "replace":
		return b.replace(n)
	case "stringify":
		return b.oneString(n, func(s string) (any, error) { return s, nil })
	case "json":
		return b.json(n)
	case "if":
		return b.cond(n)
	case "try":
		return b.try(n)
	case "coalesce", "concat", "join", "separate":
		return b.sequence(n)
	case "surround":
		return b.surround(n)
	case "config":
		return b.config(n)
	}
	names := append([]string(nil), builtinNames...)
	for f := range b.Lang.Functions {
		names = append(names, f)
	}
	err := dsl.NewError(dsl.NoSuchFunction, n.NameSpan, "Function `%s` doesn't exist", n.Name)
	err.Name, err.Candidates = n.Name, dsl.Similar(n.Name, names)
	return nil, err
}

func (b *Builder) oneString(n *dsl.Node, f func(string) (any, error)) (*Expr, error) {
	args, err := n.Expect(1, 1)
	if err != nil {
		return nil, err
	}
	s, err := b.Stringed(args[0])
	if err != nil {
		return nil, err
	}
	return Value(StringType, func() (any, error) {
		v, err := s()
		if err != nil {
			return nil, err
		}
		return f(v)
	}), nil
}
