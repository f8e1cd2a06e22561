package agents

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// Act is one use of a program's own tool: told when the model asks for it, and again with what came of it.
type Act struct {
	Ref  string // the program's name for it
	Tool string // "" where only the outcome is told
	Args json.RawMessage
	// Ended says that the rest is known.
	Ended   bool
	Text    string
	Bad     bool
	Changes []Change
}

// Change is what a tool did to a file. Pieces are those of a unified diff, each with its "@@" line.
type Change struct {
	Path   string
	Pieces string
	Made   bool // it was not there before
	Gone   bool // it is not there any more
}

// Unified is the change as a patch for somebody in folder.
func (c Change) Unified(folder string) string {
	name := filepath.ToSlash(c.Path)
	if rel, err := filepath.Rel(folder, c.Path); err == nil && filepath.IsLocal(rel) {
		name = filepath.ToSlash(rel)
	}
	name = strings.TrimPrefix(name, "/")
	before, after := "a/"+name, "b/"+name
	if c.Made {
		before = "/dev/null"
	}
	if c.Gone {
		after = "/dev/null"
	}
	pieces := c.Pieces
	if pieces != "" && !strings.HasSuffix(pieces, "\n") {
		pieces += "\n"
	}
	return "--- " + before + "\n+++ " + after + "\n" + pieces
}

// Whole are the pieces of a file that is made or goes.
func Whole(text string, gone bool) string {
	if text == "" {
		return ""
	}
	mark, from, to := "+", "-0,0", "+1,%d"
	if gone {
		mark, from, to = "-", "-1,%d", "+0,0"
	}
	lines := strings.SplitAfter(text, "\n")
	last := lines[len(lines)-1]
	if last == "" {
		lines = lines[:len(lines)-1]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "@@ "+from+" "+to+" @@\n", len(lines))
	for _, l := range lines {
		b.WriteString(mark + l)
	}
	if last != "" {
		b.WriteString("\n\\ No newline at end of file\n")
	}
	return b.String()
}

// block is a piece of a message's content.
type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Ref     string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
	Error   bool            `json:"is_error"`
}

// AskTool is Claude Code's tool for questions, which are carried to people in another way.
const AskTool = "AskUserQuestion"

// acts are the uses of tools, and their outcomes, in a message of Claude Code's. done is what the program notes of an outcome.
func acts(blocks []block, done json.RawMessage) []Act {
	var out []Act
	for _, b := range blocks {
		switch {
		case b.Type == "tool_use" && b.ID != "" && b.Name != AskTool:
			out = append(out, Act{Ref: b.ID, Tool: b.Name, Args: b.Input})
		case b.Type == "tool_result" && b.Ref != "":
			text, shown := texts(b.Content)
			if text == "" && len(shown) > 0 {
				text = "(" + shown[0].Type + ")"
			}
			a := Act{Ref: b.Ref, Ended: true, Text: text, Bad: b.Error}
			if !b.Error {
				a.Changes = patched(done)
			}
			out = append(out, a)
		}
	}
	return out
}

// patched reads which file an editing tool of Claude Code's changed, and how.
func patched(done json.RawMessage) []Change {
	var d struct {
		Type    string `json:"type"`
		Path    string `json:"filePath"`
		Content string `json:"content"`
		Patch   []struct {
			OldStart, OldLines, NewStart, NewLines int
			Lines                                  []string
		} `json:"structuredPatch"`
	}
	if json.Unmarshal(done, &d) != nil || d.Path == "" {
		return nil
	}
	c := Change{Path: d.Path, Made: d.Type == "create"}
	var b strings.Builder
	for _, p := range d.Patch {
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n%s\n", p.OldStart, p.OldLines, p.NewStart, p.NewLines, strings.Join(p.Lines, "\n"))
	}
	c.Pieces = b.String()
	if c.Made && c.Pieces == "" {
		c.Pieces = Whole(d.Content, false)
	}
	if c.Pieces == "" && !c.Made {
		return nil
	}
	return []Change{c}
}
