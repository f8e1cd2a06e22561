package codex

import (
	"encoding/json"
	"fmt"
	"strings"

	"tandem/internal/session/agents"
)

// change is what becomes of one file.
type change struct {
	Path string          `json:"path"`
	Kind json.RawMessage `json:"kind"`
	Diff string          `json:"diff"`
}

// how says what is done, and where the file goes.
func (c change) how() (kind, move string) {
	var k struct {
		Type string `json:"type"`
		Move string `json:"move_path"`
	}
	if json.Unmarshal(c.Kind, &k) != nil {
		_ = json.Unmarshal(c.Kind, &k.Type) // an older form is the word alone
	}
	return k.Type, k.Move
}

// tool is a piece of a turn in which a tool was used.
type tool struct {
	Type   string `json:"type"`
	ID     string `json:"id"`
	Status string `json:"status"`
	// A command.
	Command string `json:"command"`
	Cwd     string `json:"cwd"`
	Output  string `json:"aggregatedOutput"`
	Code    *int   `json:"exitCode"`
	// Files.
	Changes []change `json:"changes"`
	// A tool of a server, or another one.
	Server string          `json:"server"`
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"arguments"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
	Query string `json:"query"`
}

// acted tells of a tool that was used: once when it begins, once when it ended.
func (l *Link) acted(turnID string, raw json.RawMessage) {
	a, ok := actOf(raw)
	key := fmt.Sprintf("act %s %s %t", turnID, a.Ref, a.Ended)
	if ok && l.once(key) {
		l.tell(agents.Event{Entry: agents.Entry{Kind: agents.Acted, Act: &a}, Turn: turnID})
	}
}

// actOf reads an item; false is one that is no use of a tool.
func actOf(raw json.RawMessage) (agents.Act, bool) {
	var t tool
	if json.Unmarshal(raw, &t) != nil || t.ID == "" {
		return agents.Act{}, false
	}
	a := agents.Act{Ref: t.ID, Ended: t.Status != "" && t.Status != "inProgress", Bad: t.Status == "failed" || t.Status == "declined"}
	args := map[string]any{}
	switch t.Type {
	case "commandExecution":
		a.Tool, args["command"], args["cwd"] = "Bash", t.Command, t.Cwd
		a.Text = t.Output
		if t.Code != nil && *t.Code != 0 {
			a.Text = strings.TrimSpace(a.Text + fmt.Sprintf("\nexit code %d", *t.Code))
		}
	case "fileChange":
		a.Tool, args["changes"] = "Edit", t.Changes
		if a.Ended && !a.Bad {
			a.Changes = t.files()
		}
		a.Text = fmt.Sprintf("%d files changed", len(t.Changes))
	case "mcpToolCall":
		a.Tool, args = "mcp__"+t.Server+"__"+t.Tool, nil
		a.Args, a.Text = t.Args, content(t.Result)
	case "dynamicToolCall":
		a.Tool, args = t.Tool, nil
		a.Args, a.Text = t.Args, content(t.Result)
	case "webSearch":
		a.Tool, args["query"], a.Ended = "WebSearch", t.Query, true
	default:
		return a, false
	}
	if t.Error != nil {
		a.Text, a.Bad = t.Error.Message, true
	}
	if t.Status == "declined" {
		a.Text = "it was not allowed"
	}
	if args != nil {
		data, err := json.Marshal(args)
		if err != nil {
			return a, false
		}
		a.Args = data
	}
	return a, true
}

// Changes reads what it would do to files, as it asks for it.
func Changes(raw json.RawMessage) []agents.Change {
	var t tool
	if len(raw) == 0 || json.Unmarshal(raw, &t.Changes) != nil {
		return nil
	}
	return t.files()
}

// Files are those that it would change so: where they are, and where they go. What cannot be read as changes is an error.
func Files(raw json.RawMessage) (out []string, err error) {
	var t tool
	if len(raw) == 0 {
		return nil, nil
	}
	err = json.Unmarshal(raw, &t.Changes)
	for _, c := range t.Changes {
		out = append(out, c.Path)
		if _, to := c.how(); to != "" {
			out = append(out, to)
		}
	}
	return out, err
}

// files are the changes as pieces of a patch. A file that is made or goes is told whole.
func (t tool) files() []agents.Change {
	var out []agents.Change
	for _, c := range t.Changes {
		kind, _ := c.how()
		one := agents.Change{Path: c.Path, Pieces: c.Diff, Made: kind == "add", Gone: kind == "delete"}
		if (one.Made || one.Gone) && !strings.HasPrefix(c.Diff, "@@") {
			one.Pieces = agents.Whole(c.Diff, one.Gone)
		}
		if i := strings.LastIndex(one.Pieces, "\n\nMoved to: "); i >= 0 && kind == "update" {
			one.Pieces = one.Pieces[:i+1]
		}
		out = append(out, one)
	}
	return out
}

// content is what a server's tool answered, in words.
func content(raw json.RawMessage) string {
	var r struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
	}
	if json.Unmarshal(raw, &r) != nil || len(r.Content) == 0 {
		if string(raw) == "null" {
			return ""
		}
		return string(raw)
	}
	var all []string
	for _, c := range r.Content {
		if c.Type != "text" {
			c.Text = "(" + c.Type + ")"
		}
		all = append(all, c.Text)
	}
	return strings.Join(all, "\n")
}
