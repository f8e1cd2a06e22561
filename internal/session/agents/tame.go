package agents

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// told are the entries at the head of a command or skill that only say what it is and how it is called. Others may loosen something.
var told = []string{"name", "description", "argument-hint", "when_to_use", "model", "disable-model-invocation", "user-invocable"}

// tame is the text of a command or skill, or of a file beside a skill, that does nothing by itself. A head is written anew from the
// entries that are known, so that whatever else the old one could be read as is gone.
func tame(data []byte, head bool) []byte {
	text := strings.ReplaceAll(strings.TrimPrefix(strings.ToValidUTF8(string(data), "\ufffd"), "\ufeff"), "\r\n", "\n")
	if !head {
		return []byte(still(text))
	}
	entries, body := split(text)
	var b strings.Builder
	b.WriteString("---\n")
	for _, name := range told {
		if v, ok := entries[name]; ok {
			b.WriteString(name + ": " + scalar(v) + "\n")
		}
	}
	b.WriteString("---\n" + still(body))
	return []byte(b.String())
}

// scalar writes a value that YAML reads as it stands: a yes or no, or else a quoted string.
func scalar(v string) string {
	if v == "true" || v == "false" {
		return v
	}
	return strconv.Quote(still(v))
}

// split takes the entries of one line each from the head of a text. A value that goes on in further lines is joined.
func split(text string) (entries map[string]string, body string) {
	rest, ok := strings.CutPrefix(text, "---\n")
	head, body, closed := strings.Cut("\n"+rest, "\n---")
	if !ok || !closed {
		return nil, text
	}
	entries = map[string]string{}
	last := ""
	for line := range strings.SplitSeq(head, "\n") {
		if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
			if last != "" {
				entries[last] = strings.TrimSpace(entries[last] + " " + strings.TrimSpace(line))
			}
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		if last = ""; slices.Contains(told, name) {
			last, entries[name] = name, unquoted(strings.TrimLeft(strings.TrimSpace(value), "|>-"))
		}
	}
	return entries, strings.TrimPrefix(body, "\n")
}

// unquoted is a value without the quotes around it.
func unquoted(v string) string {
	for _, q := range []string{`"`, "'"} {
		if inner, ok := strings.CutPrefix(v, q); ok && strings.HasSuffix(inner, q) {
			return strings.TrimSuffix(inner, q)
		}
	}
	return v
}

var (
	shellLine  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("!`([^`\n]+)`") })
	shellBlock = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("(?m)^([ \t]*(?:```|~~~)+)[ \t]*!") })
)

// still turns what the program would run before the model reads the text into words that ask the model to run it.
func still(text string) string {
	text = shellLine().ReplaceAllString(text, "(run this, and go on with what it prints: `$1`)")
	text = strings.ReplaceAll(text, "!`", "! `")
	return shellBlock().ReplaceAllString(text, "Run this, and go on with what it prints:\n$1")
}
