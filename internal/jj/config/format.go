package config

import (
	"fmt"
	"strconv"
	"strings"
)

// FormatName writes a dotted name, quoting what needs it.
func FormatName(keys []string) string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = FormatKey(k)
	}
	return strings.Join(out, ".")
}

// FormatKey quotes a key when it cannot stand bare.
func FormatKey(k string) string {
	for i := 0; i < len(k); i++ {
		if !bareKey(k[i]) {
			return FormatString(k)
		}
	}
	if k == "" {
		return `""`
	}
	return k
}

// FormatString writes a TOML string in the quotes that need least escaping.
func FormatString(s string) string {
	hasQuote, hasOther := strings.Contains(s, `"`), false
	for _, r := range s {
		if r == '\\' {
			hasQuote = true
		}
		if r == '\'' || r < 0x20 || r == 0x7f {
			hasOther = true
		}
	}
	if hasQuote && !hasOther {
		return "'" + s + "'"
	}
	if strings.Contains(s, "\n") && !strings.Contains(s, `"""`) {
		body := strings.NewReplacer(`\`, `\\`, "\t", "\t").Replace(s)
		return "\"\"\"\n" + body + "\"\"\""
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Plain is the value as Go data: strings, numbers, booleans, lists and maps.
func (v *Value) Plain() any {
	switch x := v.V.(type) {
	case []*Value:
		out := []any{}
		for _, e := range x {
			out = append(out, e.Plain())
		}
		return out
	case *Table:
		out := map[string]any{}
		for k, e := range x.M {
			out[k] = e.Plain()
		}
		return out
	case Date:
		return string(x)
	}
	return v.V
}

// Text is the value as TOML on one line.
func (v *Value) Text() string {
	if v.Raw != "" {
		return v.Raw
	}
	switch x := v.V.(type) {
	case string:
		return FormatString(x)
	case bool:
		return strconv.FormatBool(x)
	case int64:
		return strconv.FormatInt(x, 10)
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	case Date:
		return string(x)
	case []*Value:
		var parts []string
		for _, e := range x {
			parts = append(parts, e.Text())
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case *Table:
		if len(x.Keys) == 0 {
			return "{}"
		}
		var parts []string
		for _, k := range x.Keys {
			parts = append(parts, FormatKey(k)+" = "+x.M[k].Text())
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	return ""
}
