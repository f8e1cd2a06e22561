// Package lists reads and writes tasks as other programs keep them: issues of GitHub as JSON, lines of beads, checklists in Markdown.
//
// What was written here is read again as it was, with title, description, priority, labels and dependencies, whichever form it had. Of
// lists that others wrote it takes what is open. It holds no file: bytes in, tasks out, and back. Titles are lines: in a checklist, what
// of a title is no line becomes one.
package lists

import (
	"time"

	"tandem/internal/fault"
)

// Task is a task as a list has it.
type Task struct {
	Ref         string // what it is called there; on a board its id
	Title       string
	Description string
	Priority    string // critical, high, medium or low; "" where nothing is said of it
	Labels      []string
	After       []string // refs of what must be done first
	Parent      string   // ref of the task that it is part of
	State       string   // of a board; "" for what was read, all of which is open
	Made        time.Time
	Changed     time.Time
}

// ended says whether nothing is left to do.
func (t Task) ended() bool { return t.State == "done" || t.State == "cancelled" }

// Form is how a list is written.
type Form string

// The forms of lists.
const (
	GitHub   Form = "github"
	Beads    Form = "beads"
	Markdown Form = "markdown"
)

// Forms are all of them, with the end of a file's name that means each.
var Forms = map[Form]string{GitHub: ".json", Beads: ".jsonl", Markdown: ".md"}

// ParseForm reads the name of a form.
func ParseForm(s string) (Form, error) {
	if Forms[Form(s)] == "" {
		return "", fault.New(fault.Invalid, "board.export", "%q is no form of a list", fault.Clip(s, 40)).
			WithNext("use markdown, github or beads")
	}
	return Form(s), nil
}

// FormOf is the form that a file's name means; "" where it means none.
func FormOf(name string) Form {
	for f, end := range Forms {
		if len(name) > len(end) && name[len(name)-len(end):] == end {
			return f
		}
	}
	return ""
}
