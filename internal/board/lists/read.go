package lists

import (
	"bytes"
	"slices"
	"strings"

	"tandem/internal/fault"
)

// Read reads the open tasks of a list, each behind those that it depends on. Its form is seen by what it holds. What is closed or ticked
// off is left out, and a task does not depend on it any more.
func Read(data []byte) ([]Task, error) {
	text := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	var tasks []Task
	var err error
	switch {
	case bytes.HasPrefix(text, []byte("[{")), bytes.HasPrefix(text, []byte("[\n")), bytes.HasPrefix(text, []byte("[\r")):
		tasks, err = fromGitHub(text)
	case bytes.HasPrefix(text, []byte("{")):
		tasks, err = fromBeads(text)
	default:
		tasks = fromMarkdown(string(bytes.TrimPrefix(data, []byte("\ufeff"))))
	}
	if err != nil {
		return nil, err
	}
	if len(tasks) == 0 {
		return nil, fault.New(fault.Invalid, "board.import", "there is no open task in it: no issue, no line of beads, no \"- [ ]\"").
			WithNext("see what is understood: tandem board import --help")
	}
	return ordered(tasks)
}

// ordered puts each task behind those that it depends on, and forgets dependencies that are not among them.
func ordered(tasks []Task) (out []Task, err error) {
	known, done := map[string]bool{}, map[string]bool{}
	for _, t := range tasks {
		known[t.Ref] = true
	}
	for len(out) < len(tasks) {
		before := len(out)
		for _, t := range tasks {
			needs, waits := []string(nil), false
			for _, d := range t.After {
				if known[d] && d != t.Ref && !slices.Contains(needs, d) {
					needs, waits = append(needs, d), waits || !done[d]
				}
			}
			if t.After = needs; !waits && !done[t.Ref] {
				out, done[t.Ref] = append(out, t), true
			}
		}
		if len(out) == before {
			return nil, fault.New(fault.Invalid, "board.import", "some tasks depend on each other in a circle, or two have one name")
		}
	}
	for i := range out {
		if p := out[i].Parent; !known[p] || p == out[i].Ref {
			out[i].Parent = ""
		}
	}
	return out, nil
}

// from says behind a task's words what it was called there, unless that is a board's own id.
func from(t Task, id string) Task {
	if !ours.MatchString(id) {
		t.Description = strings.TrimSpace(t.Description + "\n\nFrom " + id)
	}
	return t
}

// urgency is a label's priority; "" where it says none.
func urgency(label string) string {
	word := strings.ToLower(label)
	word = strings.TrimSpace(word[strings.LastIndexAny(word, ":/")+1:])
	switch word {
	case "critical", "urgent", "p0":
		return "critical"
	case "high", "p1":
		return "high"
	case "medium", "p2":
		return "medium"
	case "low", "p3", "p4":
		return "low"
	}
	return ""
}
