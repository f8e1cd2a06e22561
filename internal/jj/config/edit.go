package config

import (
	"fmt"
	"strings"
)

// FirstLine is what a new file of settings starts with.
const FirstLine = "#:schema https://docs.jj-vcs.dev/latest/config-schema.json\n\n"

// Set puts a value into the text of a file and leaves everything else as it
// is written. It refuses to replace a table, or a value by a table.
func Set(src string, keys []string, v *Value) (string, error) {
	root, err := ParseTOML(src)
	if err != nil {
		return "", err
	}
	t := root
	for i, k := range keys[:len(keys)-1] {
		old := t.Get(k)
		if old == nil {
			return insertTable(src, t, keys[:len(keys)-1], i, keys[len(keys)-1], v)
		}
		sub, ok := old.V.(*Table)
		if !ok {
			return "", fmt.Errorf("Would overwrite non-table value with parent table %s", FormatName(keys[:i+1]))
		}
		if sub.Inline {
			return insertInline(src, old, keys[i+1:], v)
		}
		t = sub
	}
	leaf := keys[len(keys)-1]
	if old := t.Get(leaf); old != nil {
		if sub, ok := old.V.(*Table); ok && !sub.Inline {
			return "", fmt.Errorf("Would overwrite entire table %s", FormatName(keys))
		}
		return src[:old.start] + v.Text() + src[old.end:], nil
	}
	switch {
	case t.header:
		return insertLine(src, t.end, FormatKey(leaf)+" = "+v.Text()), nil
	case t.dotted:
		return insertLine(src, lastEnd(src, t), FormatName(keys)+" = "+v.Text()), nil
	}
	return appendTable(src, keys[:len(keys)-1], leaf, v), nil
}

func insertTable(src string, t *Table, path []string, at int, leaf string, v *Value) (string, error) {
	if t.dotted {
		return insertLine(src, lastEnd(src, t), FormatName(append(path[:len(path):len(path)], leaf))+" = "+v.Text()), nil
	}
	return appendTable(src, path, leaf, v), nil
}

func appendTable(src string, path []string, leaf string, v *Value) string {
	if src != "" && !strings.HasSuffix(src, "\n") {
		src += "\n"
	}
	if strings.TrimSpace(src) != "" && !strings.HasSuffix(src, "\n\n") {
		src += "\n"
	}
	return src + "[" + FormatName(path) + "]\n" + FormatKey(leaf) + " = " + v.Text() + "\n"
}

// insertInline puts a pair into a table in braces.
func insertInline(src string, in *Value, keys []string, v *Value) (string, error) {
	for i, k := range keys {
		t := in.V.(*Table)
		old := t.Get(k)
		if old == nil {
			body := strings.TrimRight(src[in.start:in.end-1], " \t")
			if len(t.Keys) > 0 {
				body += ","
			}
			return src[:in.start] + body + " " + FormatName(keys[i:]) + " = " + v.Text() + " }" + src[in.end:], nil
		}
		if i == len(keys)-1 {
			return src[:old.start] + v.Text() + src[old.end:], nil
		}
		if _, ok := old.V.(*Table); !ok || old.end == 0 {
			return "", fmt.Errorf("Would overwrite non-table value with parent table %s", FormatName(keys[:i+1]))
		}
		in = old
	}
	return src, nil
}

func insertLine(src string, at int, line string) string {
	if at == 0 { // a document without pairs of its own: before the first table, after the opening comments
		at = firstHeader(src)
	}
	before := src[:at]
	if before != "" && !strings.HasSuffix(before, "\n") {
		before += "\n"
	}
	after := src[at:]
	if strings.HasPrefix(after, "[") {
		after = "\n" + after
	}
	return before + line + "\n" + after
}

func firstHeader(src string) int {
	p := &tomlParser{src: src}
	p.blank()
	return p.pos
}

// lastEnd is the end of the line of the last value under a table.
func lastEnd(src string, t *Table) int {
	at := 0
	for _, v := range t.M {
		if sub, ok := v.V.(*Table); ok && !sub.Inline {
			at = max(at, lastEnd(src, sub))
			continue
		}
		at = max(at, lineAfter(src, v.end))
	}
	return at
}

func lineAfter(src string, at int) int {
	if i := strings.IndexByte(src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(src)
}

// Unset removes a value from the text of a file, with the comments before it.
// found is false when there is no such value.
func Unset(src string, keys []string) (out string, found bool, err error) {
	root, err := ParseTOML(src)
	if err != nil {
		return "", false, err
	}
	t, inline := root, false
	for _, k := range keys[:len(keys)-1] {
		v := t.Get(k)
		if v == nil {
			return src, false, nil
		}
		sub, ok := v.V.(*Table)
		if !ok {
			return src, false, nil
		}
		t, inline = sub, inline || sub.Inline
	}
	v := t.Get(keys[len(keys)-1])
	if v == nil {
		return src, false, nil
	}
	if sub, ok := v.V.(*Table); ok && !sub.Inline {
		return "", false, fmt.Errorf("Would delete entire table %s", FormatName(keys))
	}
	if inline {
		return unsetInline(src, root, keys)
	}
	return src[:v.pair] + src[lineAfter(src, v.end):], true, nil
}

// unsetInline writes the outermost table in braces anew without the value.
func unsetInline(src string, root *Table, keys []string) (string, bool, error) {
	t := root
	var outer *Value
	for _, k := range keys[:len(keys)-1] {
		v := t.Get(k)
		if t = v.V.(*Table); t.Inline && outer == nil {
			outer = v
		}
		if outer != nil {
			v.Raw = ""
		}
	}
	leaf := keys[len(keys)-1]
	delete(t.M, leaf)
	for i, k := range t.Keys {
		if k == leaf {
			t.Keys = append(t.Keys[:i], t.Keys[i+1:]...)
			break
		}
	}
	return src[:outer.start] + outer.Text() + src[outer.end:], true, nil
}
