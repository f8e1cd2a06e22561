package board

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/space/peer"
)

// Tasks that stand elsewhere become a plan for the board: GitHub's issues, an export of beads, a checklist in Markdown. What is closed or
// ticked off there is left out, and a task does not depend on it any more.

// brought reads a file of tasks, whose form is seen by what it holds.
func brought(data []byte) ([]peer.PlanTask, error) {
	text := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	var tasks []peer.PlanTask
	var err error
	switch {
	case bytes.HasPrefix(text, []byte("[{")), bytes.HasPrefix(text, []byte("[\n")), bytes.HasPrefix(text, []byte("[\r")):
		tasks, err = fromGitHub(text)
	case bytes.HasPrefix(text, []byte("{")):
		tasks, err = fromBeads(text)
	default:
		tasks = fromMarkdown(string(text))
	}
	if err != nil {
		return nil, err
	}
	if len(tasks) == 0 {
		return nil, fault.New(fault.Invalid, "board.import", "there is no open task in it: no issue, no line of beads, no \"- [ ]\"").
			WithNext("see what is understood: tandem board import --help")
	}
	for i := range tasks {
		t := &tasks[i]
		if all := []rune(t.Title); len(all) > peer.MaxTitle {
			t.Description = strings.TrimSpace(t.Title + "\n\n" + t.Description)
			t.Title = string(all[:peer.MaxTitle-1]) + "…"
		}
		if all := []rune(t.Description); len(all) > peer.MaxDescription {
			t.Description = string(all[:peer.MaxDescription-1]) + "…"
		}
	}
	return ordered(tasks)
}

// ordered puts each task behind those that it depends on, and forgets dependencies that are not among them.
func ordered(tasks []peer.PlanTask) (out []peer.PlanTask, err error) {
	known, done := map[string]bool{}, map[string]bool{}
	for _, t := range tasks {
		known[t.Ref] = true
	}
	for len(out) < len(tasks) {
		before := len(out)
		for _, t := range tasks {
			needs, waits := []string(nil), false
			for _, d := range t.DependsOn {
				if known[d] && d != t.Ref {
					needs, waits = append(needs, d), waits || !done[d]
				}
			}
			if t.DependsOn = needs; !waits && !done[t.Ref] {
				out, done[t.Ref] = append(out, t), true
			}
		}
		if len(out) == before {
			return nil, fault.New(fault.Invalid, "board.import", "some tasks depend on each other in a circle, or two have one name")
		}
	}
	return out, nil
}

// after are issues that a text says it waits for.
var after = regexp.MustCompile(`(?i)\b(?:depends on|blocked by)((?:[ ,:]|and|#\d+)+)`)
var number = regexp.MustCompile(`#\d+`)

// fromGitHub reads issues as GitHub's API gives them, or its command line. Pull requests are no tasks.
func fromGitHub(data []byte) (out []peer.PlanTask, err error) {
	var issues []struct {
		Number      int64
		Title, Body string
		State       string
		Labels      []struct{ Name string }
		Pull        json.RawMessage `json:"pull_request"`
	}
	if err := json.Unmarshal(data, &issues); err != nil {
		return nil, fault.New(fault.Invalid, "board.import", "these are no issues of GitHub: %v", err)
	}
	for _, i := range issues {
		if len(i.Pull) > 0 || strings.EqualFold(i.State, "closed") || strings.TrimSpace(i.Title) == "" {
			continue
		}
		t := peer.PlanTask{Ref: fmt.Sprintf("#%d", i.Number), Title: i.Title, Description: strings.TrimSpace(i.Body)}
		var names []string
		for _, l := range i.Labels {
			names = append(names, l.Name)
			if p := urgency(l.Name); p != "" {
				t.Priority = p
			}
		}
		for _, m := range after.FindAllStringSubmatch(i.Body, -1) {
			t.DependsOn = append(t.DependsOn, number.FindAllString(m[1], -1)...)
		}
		out = append(out, about(t, t.Ref, names))
	}
	return out, nil
}

// fromBeads reads a line for each task, as beads exports them.
func fromBeads(data []byte) (out []peer.PlanTask, err error) {
	for n, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var b struct {
			ID, Title, Description, Status string
			Priority                       *int64
			Labels                         []string
			Dependencies                   []struct {
				On   string `json:"depends_on_id"`
				Kind string `json:"type"`
			}
		}
		if err := json.Unmarshal(line, &b); err != nil {
			return nil, fault.New(fault.Invalid, "board.import", "line %d is no task of beads: %v", n+1, err)
		}
		if b.Status == "closed" || b.Status == "tombstone" || strings.TrimSpace(b.Title) == "" {
			continue
		}
		t := peer.PlanTask{Ref: b.ID, Title: b.Title, Description: strings.TrimSpace(b.Description)}
		if b.Priority != nil {
			t.Priority = []string{"critical", "high", "medium", "low"}[max(0, min(*b.Priority, 3))]
		}
		for _, d := range b.Dependencies {
			if d.Kind == "blocks" || d.Kind == "" { // others hold nothing up
				t.DependsOn = append(t.DependsOn, d.On)
			}
		}
		out = append(out, about(t, b.ID, b.Labels))
	}
	return out, nil
}

// about says behind a task's words what it was called there, and its labels.
func about(t peer.PlanTask, id string, labels []string) peer.PlanTask {
	said := "From " + id
	if len(labels) > 0 {
		said += "; labels: " + strings.Join(labels, ", ")
	}
	t.Description = strings.TrimSpace(t.Description + "\n\n" + said)
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

var box = regexp.MustCompile(`^(\s*)(?:[-*+]|\d+[.)])\s+\[([ xX])\]\s+(.*\S)`)

// fromMarkdown reads the boxes of a checklist that are not ticked. A box waits for those below it that are set in further.
func fromMarkdown(text string) (out []peer.PlanTask) {
	type above struct{ in, at int } // at: -1 where it is ticked off
	var heading string
	var open []above
	for n, line := range strings.Split(text, "\n") {
		if title, is := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); is && strings.HasPrefix(line, "#") {
			heading, open = strings.TrimSpace(title), nil
			continue
		}
		m := box.FindStringSubmatch(strings.TrimRight(line, "\r"))
		if m == nil {
			continue
		}
		in := len(strings.ReplaceAll(m[1], "\t", "    "))
		for len(open) > 0 && open[len(open)-1].in >= in {
			open = open[:len(open)-1]
		}
		at := -1
		if m[2] == " " {
			at = len(out)
			out = append(out, peer.PlanTask{Ref: fmt.Sprintf("line %d", n+1), Title: m[3]})
			if heading != "" {
				out[at].Description = "Under " + heading
			}
			if len(open) > 0 && open[len(open)-1].at >= 0 {
				over := &out[open[len(open)-1].at]
				over.DependsOn = append(over.DependsOn, out[at].Ref)
			}
		}
		open = append(open, above{in, at})
	}
	return out
}
