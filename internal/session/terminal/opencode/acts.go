package opencode

import (
	"encoding/json"
	"fmt"
	"strings"

	"tandem/internal/session/agents"
)

// acted tells of a tool that was used: once when it begins, once when it ended.
func (l *Link) acted(turn string, p part) {
	if turn == "" || p.Call == "" || p.Tool == "question" || len(p.State.Input) < 3 && p.State.Status == "pending" {
		return // its input is still being written; questions are carried in another way
	}
	a := p.act()
	if l.first(fmt.Sprintf("act %s %t", p.Call, a.Ended)) {
		l.tell(agents.Event{Entry: agents.Entry{Kind: agents.Acted, Act: &a}, Turn: turn})
	}
}

// first says whether something is told for the first time.
func (l *Link) first(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.told[key] {
		return false
	}
	l.told[key] = true
	return true
}

func (p part) act() agents.Act {
	a := agents.Act{Ref: p.Call, Tool: p.Tool, Args: p.State.Input}
	switch p.State.Status {
	case "completed":
		a.Ended, a.Text = true, p.State.Output
		a.Changes = p.files()
	case "error":
		a.Ended, a.Bad, a.Text = true, true, p.State.Error
	}
	return a
}

// files are what an editing tool changed: as the program tells it, or the whole of a file that it made.
func (p part) files() []agents.Change {
	var args map[string]json.RawMessage // by their very names, as the program reads them
	var in struct{ Path, Content string }
	if json.Unmarshal(p.State.Input, &args) != nil || json.Unmarshal(args["filePath"], &in.Path) != nil || in.Path == "" {
		return nil
	}
	_ = json.Unmarshal(args["content"], &in.Content) // an edit has none
	made := p.State.Meta.Exists != nil && !*p.State.Meta.Exists
	if i := strings.Index(p.State.Meta.Diff, "@@ "); i >= 0 {
		return []agents.Change{{Path: in.Path, Pieces: p.State.Meta.Diff[i:], Made: made}}
	}
	if p.Tool == "write" && made {
		return []agents.Change{{Path: in.Path, Pieces: agents.Whole(in.Content, false), Made: true}}
	}
	return nil
}
