package peer

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem/internal/board"
	"tandem/internal/db"
	"tandem/internal/fault"
)

// BoardIn says which tasks to show. What is done or cancelled is left out unless it is asked for.
type BoardIn struct {
	TaskID string `json:"task_id,omitempty" jsonschema:"only this task, with what was said about it"`
	Mine   bool   `json:"mine,omitempty" jsonschema:"only tasks that you hold or are to get"`
	Ready  bool   `json:"ready,omitempty" jsonschema:"only tasks that can be claimed now"`
	Status string `json:"status,omitempty" jsonschema:"only these states, behind commas: open, blocked, claimed, in_progress, done, cancelled"`
	Text   string `json:"text,omitempty" jsonschema:"only tasks with these words in title, description, labels, result or comments"`
	Label  string `json:"label,omitempty" jsonschema:"only tasks with this label; with several, behind commas, those that have them all"`
	Under  string `json:"under,omitempty" jsonschema:"only parts of this task, and their parts"`
	All    bool   `json:"all,omitempty" jsonschema:"done and cancelled ones, too"`

	Archived bool `json:"archived,omitempty" jsonschema:"only tasks that were put away"`
	Which
}

var statuses = []board.Status{board.Open, board.Blocked, board.Claimed, board.InProgress, board.Done, board.Cancelled}

func (in BoardIn) statuses() (out []board.Status) {
	for s := range strings.SplitSeq(in.Status, ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, board.Status(s))
		}
	}
	return out
}

func (in BoardIn) check() error {
	for _, s := range in.statuses() {
		if !slices.Contains(statuses, s) {
			return fault.New(fault.Invalid, "board.show", "%q is not a status", clip(string(s))).
				WithNext("use open, blocked, claimed, in_progress, done or cancelled")
		}
	}
	return nil
}

// filters says whether some kind of task was asked for.
func (in BoardIn) filters() bool {
	return in.Archived || in.Mine || in.Ready || in.Status != "" || in.Text != "" || in.Label != "" || in.Under != ""
}

// leavesOut says whether a task is not shown only because it has ended.
func (in BoardIn) leavesOut(t board.Task) bool {
	return t.Status.Ended() && !in.All && !in.Archived && in.Status == "" && in.TaskID == ""
}

// wants says whether a task is one of those that were asked for.
func (in BoardIn) wants(l Line, me string) bool {
	states := in.statuses()
	switch {
	case in.TaskID != "" && string(l.ID) != in.TaskID,
		in.Mine && l.Holder != me,
		in.Ready && l.Status != board.Open,
		len(states) > 0 && !slices.Contains(states, l.Status):
		return false
	}
	for label := range strings.SplitSeq(in.Label, ",") {
		if label = strings.TrimSpace(label); label != "" && !hasLabel(l.Labels, label) {
			return false
		}
	}
	words := append([]string{string(l.ID), l.Title, l.Description, l.Result, l.Reason}, l.Labels...)
	for _, c := range l.Comments {
		words = append(words, c.Text)
	}
	all := strings.ToLower(strings.Join(words, "\n"))
	for w := range strings.FieldsSeq(strings.ToLower(in.Text)) {
		if !strings.Contains(all, w) {
			return false
		}
	}
	return true
}

// remarks are what was said about a task, or how much.
func (l Line) remarks(whole bool) string {
	if !whole {
		switch n := len(l.Comments); n {
		case 0:
			return ""
		case 1:
			return fmt.Sprintf("\n  1 comment: task_id=%s shows it", l.ID)
		default:
			return fmt.Sprintf("\n  %d comments: task_id=%s shows them", n, l.ID)
		}
	}
	var b strings.Builder
	for _, c := range l.Comments {
		at, text := db.Time(c.At).UTC().Format(time.DateTime), strings.ReplaceAll(escape(c.Text), "\n", "\n  ")
		fmt.Fprintf(&b, "\n  %s %s: %s", at, escape(c.By), text)
	}
	return b.String()
}
