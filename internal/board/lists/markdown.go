package lists

import (
	"fmt"
	"regexp"
	"strings"
)

var box = regexp.MustCompile(`^(\s*)(?:[-*+]|\d+[.)])\s+\[([ xX])\]\s+(.*\S)`)

// below is the line that a board's checklist has below a box: the task's id, and what a box cannot say. Quoted lines below that are the
// description.
var below = regexp.MustCompile(`^  (T-[0-9a-f]{6}) · (critical|high|medium|low)(?: · after (T-[0-9a-f]{6}(?:, T-[0-9a-f]{6})*))?` +
	`(?: · part of (T-[0-9a-f]{6}))?(?: · labels: (.+))?$`)

// fromMarkdown reads the boxes of a checklist that are not ticked. A box waits for those below it that are set in further, which
// are its parts.
func fromMarkdown(text string) (out []Task) {
	type above struct{ in, at int } // at: -1 where it is ticked off
	var heading string
	var open []above
	var mine *Task // the box above, while its lines go on
	begun := false // in its description
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, "\r")
		if m := below.FindStringSubmatch(line); m != nil && mine != nil {
			mine.Ref, mine.Priority, mine.Description, mine.Labels = m[1], m[2], "", split(m[5])
			mine.After, mine.Parent = split(m[3]), m[4]
			begun = false
			continue
		}
		if said, is := strings.CutPrefix(line, "  >"); is && mine != nil && ours.MatchString(mine.Ref) {
			if begun {
				mine.Description += "\n"
			}
			mine.Description += strings.TrimPrefix(said, " ")
			begun = true
			continue
		}
		mine = nil
		if title, is := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); is && strings.HasPrefix(line, "#") {
			heading, open = strings.TrimSpace(title), nil
			continue
		}
		m := box.FindStringSubmatch(line)
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
			out = append(out, Task{Ref: fmt.Sprintf("line %d", n+1), Title: m[3]})
			if heading != "" {
				out[at].Description = "Under " + heading
			}
			if len(open) > 0 && open[len(open)-1].at >= 0 {
				over := &out[open[len(open)-1].at]
				over.After = append(over.After, out[at].Ref)
				out[at].Parent = over.Ref
			}
			mine, begun = &out[at], false
		}
		open = append(open, above{in, at})
	}
	return out
}

func split(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ", ")
}

func toMarkdown(tasks []Task) []byte {
	var out strings.Builder
	for _, t := range tasks {
		tick := " "
		if t.ended() {
			tick = "x"
		}
		fmt.Fprintf(&out, "- [%s] %s\n", tick, strings.Join(strings.Fields(t.Title), " "))
		facts := []string{t.Ref, t.Priority}
		if len(t.After) > 0 {
			facts = append(facts, "after "+strings.Join(t.After, ", "))
		}
		if t.Parent != "" {
			facts = append(facts, "part of "+t.Parent)
		}
		if len(t.Labels) > 0 {
			facts = append(facts, "labels: "+strings.Join(t.Labels, ", "))
		}
		fmt.Fprintf(&out, "  %s\n", strings.Join(facts, " · "))
		if t.Description != "" {
			for line := range strings.SplitSeq(t.Description, "\n") {
				fmt.Fprintf(&out, "  > %s\n", line)
			}
		}
	}
	return []byte(out.String())
}
