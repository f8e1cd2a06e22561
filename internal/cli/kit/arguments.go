package kit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Arguments shows a call's arguments as a person reads them: text as text, whole, an edit as what goes and what comes, and
// only what has no better form as JSON.
func Arguments(w io.Writer, in json.RawMessage) {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(in, &fields) != nil {
		fmt.Fprintf(w, "Arguments:\n  %s\n", Seen(string(in)))
		return
	}
	fmt.Fprintln(w, "Arguments:")
	listFields(w, "  ", fields)
}

func listFields(w io.Writer, margin string, fields map[string]json.RawMessage) {
	names := make([]string, 0, len(fields))
	for n := range fields {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(order(a), order(b)), strings.Compare(a, b)) })
	for _, n := range names {
		showField(w, margin, n, fields[n])
	}
}

// order puts what goes before what comes.
func order(name string) int {
	switch {
	case goes[name]:
		return 10
	case comes[name]:
		return 20
	}
	return 0
}

var (
	goes  = map[string]bool{"old": true, "old_string": true}
	comes = map[string]bool{"new": true, "new_string": true, "content": true}
)

func showField(w io.Writer, margin, name string, raw json.RawMessage) {
	var text string
	var inner map[string]json.RawMessage
	label := margin + Seen(name) + ":"
	switch {
	case json.Unmarshal(raw, &text) == nil && goes[name]:
		fmt.Fprintf(w, "%s\n%s\n", label, marked(text, margin+"- "))
	case json.Unmarshal(raw, &text) == nil && comes[name]:
		fmt.Fprintf(w, "%s\n%s\n", label, marked(text, margin+"+ "))
	case json.Unmarshal(raw, &text) == nil && strings.Contains(strings.TrimRight(text, "\n"), "\n"):
		fmt.Fprintf(w, "%s\n%s\n", label, marked(text, margin+"| "))
	case json.Unmarshal(raw, &text) == nil:
		fmt.Fprintf(w, "%s %s\n", label, Seen(text))
	case json.Unmarshal(raw, &inner) == nil && len(inner) > 0:
		fmt.Fprintln(w, label)
		listFields(w, margin+"  ", inner)
	default:
		var pretty bytes.Buffer
		enc := json.NewEncoder(&pretty)
		enc.SetEscapeHTML(false)
		enc.SetIndent(margin, "  ")
		var any any
		if json.Unmarshal(raw, &any) != nil || enc.Encode(any) != nil {
			pretty.Reset()
			pretty.Write(raw)
		}
		fmt.Fprintf(w, "%s %s\n", label, Seen(strings.TrimSpace(pretty.String())))
	}
}

// marked is a text line by line, each behind a mark, so that no line of it can pass for one of ours.
func marked(text, mark string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = mark + Seen(l)
	}
	return strings.Join(lines, "\n")
}

var blanks = regexp.MustCompile(` {17,}`)

// Seen is a text in which nothing is hidden: controls, marks of direction and odd blanks are spelled out, and a long run of
// blanks, which would push the rest out of sight, is counted.
func Seen(s string) string {
	s = blanks.ReplaceAllStringFunc(s, func(run string) string { return fmt.Sprintf("<%d blanks>", len(run)) })
	var b strings.Builder
	for _, r := range s {
		if r != ' ' && unicode.Is(unicode.Zs, r) || unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko) {
			fmt.Fprintf(&b, "<U+%04X>", r)
			continue
		}
		b.WriteRune(r)
	}
	return Visible(b.String())
}
