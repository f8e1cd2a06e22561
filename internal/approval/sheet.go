package approval

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Form says how a piece of a call is read.
type Form string

// The forms. What has no better one is JSON.
const (
	Line    Form = "line"
	Text    Form = "text"
	Command Form = "command"
	Gone    Form = "gone" // text that goes
	Come    Form = "come" // text that comes in its place
	Diff    Form = "diff" // a unified diff
	Fact    Form = "fact" // what a name in the call stood for when it was asked about: the approval is bound to it
	JSON    Form = "json"
	Bytes   Form = "bytes" // not text: its kind, size and digest
)

// Piece is a part of a call as a person reads it. Text is as it came: whoever shows it draws what hides in it.
type Piece struct {
	Name string `json:"name" jsonschema:"the argument, with those around it: args.command"`
	Form Form   `json:"form" jsonschema:"line, text, command, gone, come, diff, fact, json or bytes"`
	Text string `json:"text"`
	// From is the number of its first line, where it goes on from the page before.
	From int `json:"from,omitempty" jsonschema:"of a piece that goes on from the page before: the number of its first line"`
}

// Sheet is everything that is decided about, in the order in which it is read: what names stood for, then the arguments.
func (a *Ask) Sheet() []Piece {
	var out []Piece
	covered := map[string]bool{}
	for _, b := range a.Bound {
		form := Fact
		if b.Diff {
			form = Diff
		}
		out = append(out, Piece{Name: b.Name, Form: form, Text: b.Value})
		for _, c := range b.Covers {
			covered[c] = true
		}
	}
	for _, p := range arguments("", orNothing(a.Input)) {
		if !covered[p.Name] {
			out = append(out, p)
		}
	}
	return out
}

var (
	goes  = map[string]bool{"old": true, "old_string": true, "oldString": true}
	comes = map[string]bool{"new": true, "new_string": true, "newString": true, "content": true}
)

// arguments are the fields of a call, each with those inside it: a command first, and what goes before what comes.
func arguments(within string, in json.RawMessage) []Piece {
	fields, ok := object(in)
	if !ok {
		return []Piece{{Name: cmp.Or(within, "input"), Form: JSON, Text: readable(in)}}
	}
	names := make([]string, 0, len(fields))
	for n := range fields {
		names = append(names, n)
	}
	order := func(name string) int {
		switch {
		case name == "command":
			return -1
		case goes[name]:
			return 1
		case comes[name]:
			return 2
		}
		return 0
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(order(a)-order(b), strings.Compare(a, b)) })
	var out []Piece
	for _, n := range names {
		out = append(out, argument(strings.TrimPrefix(within+"."+n, "."), n, fields[n])...)
	}
	return out
}

func argument(path, name string, raw json.RawMessage) []Piece {
	var text string
	switch inner, ok := object(raw); {
	case ok && len(inner) > 0:
		return arguments(path, raw)
	case len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &text) != nil:
		return []Piece{{Name: path, Form: JSON, Text: readable(raw)}}
	case name == "command":
		return []Piece{{Name: path, Form: Command, Text: text}}
	}
	if data, ok := binary(text); ok {
		return []Piece{{Name: path, Form: Bytes, Text: about(data)}}
	}
	switch {
	case goes[name]:
		return []Piece{{Name: path, Form: Gone, Text: text}}
	case comes[name]:
		return []Piece{{Name: path, Form: Come, Text: text}}
	case strings.Contains(text, "\n"):
		return []Piece{{Name: path, Form: Text, Text: text}}
	}
	return []Piece{{Name: path, Form: Line, Text: text}}
}

// object are the fields of a JSON object. One that has a name twice is none: whoever reads it next may take the other.
func object(raw json.RawMessage) (map[string]json.RawMessage, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	fields := map[string]json.RawMessage{}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if _, twice := fields[name]; err != nil || !ok || twice {
			return nil, false
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil, false
		}
		fields[name] = value
	}
	return fields, true
}

// readable is JSON with its lines and without escapes that nobody reads.
func readable(raw json.RawMessage) string {
	var v any
	var out bytes.Buffer
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // a number stays as it was written
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if d.Decode(&v) != nil || e.Encode(v) != nil || bytes.Count(raw, []byte(":")) != bytes.Count(out.Bytes(), []byte(":")) {
		return string(raw) // not JSON, or with a name twice, of which one would be left out
	}
	var line bytes.Buffer
	if json.Compact(&line, raw) == nil && line.Len() <= 80 && !bytes.Contains(line.Bytes(), []byte(`\u`)) {
		return line.String()
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// binary is what a text holds that is not for reading: bytes in base64, by themselves or as a data URL, or a text with zeros.
func binary(text string) ([]byte, bool) {
	if head, body, ok := strings.Cut(text, ";base64,"); ok && strings.HasPrefix(head, "data:") && len(head) < 100 {
		text = body
	} else if len(text) < minBinary {
		return []byte(text), strings.ContainsRune(text, 0)
	}
	if strings.ContainsRune(text, 0) {
		return []byte(text), true
	}
	data, err := base64.StdEncoding.DecodeString(strings.NewReplacer("\n", "", "\r", "").Replace(text))
	if err != nil || utf8.Valid(data) && !bytes.ContainsRune(data, 0) {
		return nil, false // base64 of a text is shown as it is: what is not decoded here may be decoded elsewhere
	}
	return data, true
}

// minBinary is how long base64 is before it is taken for bytes: a short word is read as a word.
const minBinary = 256

// Content is the bytes of a piece that is not text, by its name.
func (a *Ask) Content(name string) ([]byte, error) {
	raw := orNothing(a.Input)
	for _, n := range strings.Split(name, ".") {
		fields := map[string]json.RawMessage{}
		if json.Unmarshal(raw, &fields) != nil || fields[n] == nil {
			return nil, fmt.Errorf("the call has no %.80q", name)
		}
		raw = fields[n]
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, err
	}
	if data, ok := binary(text); ok {
		return data, nil
	}
	return []byte(text), nil
}
