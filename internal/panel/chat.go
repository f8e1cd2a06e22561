package panel

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"tandem/internal/panel/ui"
	"tandem/internal/provider"
	"tandem/internal/session"
	"tandem/internal/unified"
)

// entriesOf puts a conversation in the order it is read: a result stands in
// the card of its call.
func entriesOf(messages []*session.Message, calls map[string]*session.Call, asker map[string]string) []ChatEntry {
	var out []ChatEntry
	cards := map[string]*CallCard{}
	for _, m := range messages {
		e := ChatEntry{Who: "agent", Name: m.Model, At: m.CreatedAt}
		if m.Role == session.RoleUser {
			e.Who, e.Name = "you", asker[m.Turn]
		}
		for _, b := range m.Blocks {
			one := e
			switch {
			case b.Kind == provider.Text && e.Who == "you":
				out = append(out, withFiles(e, b.Text)...)
				continue
			case b.Kind == provider.Text && b.Text != "", b.Kind == provider.Reasoning && b.Text != "":
				one.Kind, one.Text = string(b.Kind), b.Text
			case b.Kind == provider.ImageKind && b.Image != nil:
				one.Kind, one.Text = "image", fmt.Sprintf("%s, %d bytes %s", b.Image.Mime, len(b.Image.Data), b.Image.URL)
			case b.Kind == provider.CallKind && b.Call != nil:
				card := cardOf(b.Call.Name, b.Call.Args, calls[b.Call.ID])
				cards[b.Call.ID] = card
				one.Kind, one.Call = "call", card
			case b.Kind == provider.ResultOf && b.Result != nil:
				if card := cards[b.Result.CallID]; card != nil {
					card.Result, card.Bad = b.Result.Text, b.Result.Error
					if card.State == "" {
						card.State = "done"
					}
				}
				continue
			default:
				continue
			}
			out = append(out, one)
		}
	}
	return out
}

// besideIt is a file as the doors put it beside a prompt.
var besideIt = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)<file name="([^"\n]{1,200})">\n(.*?)\n</file>\n?`)
})

// withFiles is a prompt, and each file beside it.
func withFiles(e ChatEntry, text string) []ChatEntry {
	var out []ChatEntry
	said := e
	said.Kind, said.Text = "text", strings.TrimSpace(besideIt().ReplaceAllString(text, ""))
	if said.Text != "" {
		out = append(out, said)
	}
	for _, m := range besideIt().FindAllStringSubmatch(text, -1) {
		file := e
		file.Kind, file.File, file.Text = "file", m[1], m[2]
		out = append(out, file)
	}
	return out
}

// cardOf is a call as people read it. What a finished edit changed comes with
// its result; before that the arguments say what it would change.
func cardOf(tool string, args json.RawMessage, c *session.Call) *CallCard {
	card := &CallCard{Tool: tool, Args: pretty(args)}
	if c != nil {
		card.Title, card.State, card.Ask = c.Title, string(c.State), c.Ask
	}
	if c != nil && c.Result != nil {
		card.Result, card.Bad = c.Result.Text, c.Result.Error
		if text, ok := c.Result.Meta["diff"].(string); ok {
			for _, f := range unified.Parse(text) {
				card.Diffs = append(card.Diffs, FileDiff{f.Path, f.Lines})
			}
		}
	}
	if len(card.Diffs) == 0 && !card.Bad {
		for _, f := range changes(args) {
			card.Diffs = append(card.Diffs, FileDiff{f.Path, changed(f.Before, f.After)})
		}
	}
	if len(card.Diffs) > 0 {
		card.Args = besides(args)
	}
	return card
}

// shownBelow takes out of a conversation what an ask at its end shows whole.
func shownBelow(entries []ChatEntry, ask string) {
	for _, e := range entries {
		if e.Call != nil && e.Call.Ask == ask && e.Call.State == "asking" {
			e.Call.Diffs, e.Call.Args, e.Call.Below = nil, "", true
		}
	}
}

// changed is what goes and what comes in its place. Where something goes, it is
// a piece of a file and nobody knows its lines, so they have no numbers.
func changed(before, after string) []unified.Line {
	lines := unified.Diff(before, after)
	if before != "" {
		for i := range lines {
			lines[i].Old, lines[i].New = 0, 0
		}
	}
	return lines
}

// besides are a call's arguments that its diff does not show; "" when it shows all.
func besides(args json.RawMessage) string {
	in := map[string]json.RawMessage{}
	if json.Unmarshal(args, &in) != nil {
		return pretty(args)
	}
	for _, shown := range []string{"path", "file_path", "filePath", "old", "old_string", "oldString", "new", "new_string", "newString",
		"content", "patch"} {
		delete(in, shown)
	}
	if len(in) == 0 {
		return ""
	}
	rest, _ := json.Marshal(in) // it came of JSON
	return pretty(rest)
}

func callTone(c CallCard) ui.Tone {
	switch {
	case c.Bad || c.State == "failed":
		return ui.Bad
	case c.State == "asking":
		return ui.Warn
	case c.State == "done":
		return ui.Good
	case c.State == "running":
		return ui.Info
	}
	return ui.Quiet
}

func callWord(c CallCard) string {
	switch {
	case c.Bad:
		return "failed"
	case c.State == "asking":
		return "waits for an approval"
	case c.State == "":
		return "proposed"
	}
	return c.State
}

// long tells whether a text is better folded away.
func long(s string) bool { return len(s) > 1200 }

// fileChange is a file that a tool's call changes.
type fileChange struct{ Path, Before, After string }

// changes finds the edits in a call's arguments: a path with what was there and
// what will be, in the words that editing tools use.
func changes(args json.RawMessage) []fileChange {
	in := map[string]any{}
	_ = json.Unmarshal(args, &in) // an input that is no object has no fields
	text := func(names ...string) string {
		for _, n := range names {
			if s, ok := in[n].(string); ok {
				return s
			}
		}
		return ""
	}
	path, after := text("path", "file_path", "filePath"), text("new", "new_string", "content")
	if path == "" || after == "" {
		return nil
	}
	return []fileChange{{Path: path, Before: text("old", "old_string"), After: after}}
}
