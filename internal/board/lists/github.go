package lists

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tandem/internal/fault"
)

// issue is an issue of GitHub as its API and its command line give it.
type issue struct {
	Number int64           `json:"number"`
	Title  string          `json:"title"`
	Body   string          `json:"body"`
	State  string          `json:"state"`
	Labels []label         `json:"labels"`
	Pull   json.RawMessage `json:"pull_request,omitempty"`
}

type label struct {
	Name string `json:"name"`
}

// after are issues that a text says it waits for.
var after = regexp.MustCompile(`(?i)\b(?:depends on|blocked by)((?:[ ,:]|and|#\d+)+)`)
var number = regexp.MustCompile(`#\d+`)

// written is the end of a body that came from a board: what the task waits for and is part of, and a mark that GitHub does not show.
// What stands before it is the description as it was.
var written = regexp.MustCompile(`(?s)^(.*)\n\n(?:Depends on ((?:#\d+(?:, )?)+)\n)?` +
	`(?:Part of (#\d+)\n)?<!-- tandem -->\s*$`)

const (
	mark   = "<!-- tandem -->"
	urgent = "priority: "
)

// fromGitHub reads issues. Pull requests are no tasks.
func fromGitHub(data []byte) (out []Task, err error) {
	var issues []issue
	if err := json.Unmarshal(data, &issues); err != nil {
		return nil, fault.New(fault.Invalid, "board.import", "these are no issues of GitHub: %v", err)
	}
	for _, i := range issues {
		if len(i.Pull) > 0 || strings.EqualFold(i.State, "closed") || strings.TrimSpace(i.Title) == "" {
			continue
		}
		t := Task{Ref: fmt.Sprintf("#%d", i.Number), Title: i.Title}
		if m := written.FindStringSubmatch("\n\n" + strings.ReplaceAll(i.Body, "\r\n", "\n")); m != nil {
			t.Description, t.After = strings.TrimPrefix(m[1], "\n\n"), number.FindAllString(m[2], -1)
			t.Parent = m[3]
			for _, l := range i.Labels {
				if p, is := strings.CutPrefix(l.Name, urgent); is && t.Priority == "" && slices.Contains(priorities, p) {
					t.Priority = p
				} else {
					t.Labels = append(t.Labels, l.Name)
				}
			}
			out = append(out, t)
			continue
		}
		t.Description = strings.TrimSpace(i.Body)
		for _, l := range i.Labels {
			if p := urgency(l.Name); p != "" {
				t.Priority = p
			} else {
				t.Labels = append(t.Labels, l.Name)
			}
		}
		for _, m := range after.FindAllStringSubmatch(i.Body, -1) {
			t.After = append(t.After, number.FindAllString(m[1], -1)...)
		}
		out = append(out, from(t, t.Ref))
	}
	return out, nil
}

func toGitHub(tasks []Task) ([]byte, error) {
	issues, at := []issue{}, map[string]string{}
	for n, t := range tasks {
		at[t.Ref] = "#" + strconv.Itoa(n+1)
	}
	for n, t := range tasks {
		i := issue{Number: int64(n + 1), Title: t.Title, State: "OPEN", Labels: []label{}}
		if t.ended() {
			i.State = "CLOSED"
		}
		if t.Priority != "" {
			i.Labels = append(i.Labels, label{urgent + t.Priority})
		}
		for _, l := range t.Labels {
			i.Labels = append(i.Labels, label{l})
		}
		if t.Description != "" {
			i.Body = t.Description + "\n\n"
		}
		if len(t.After) > 0 {
			var needs []string
			for _, a := range t.After {
				needs = append(needs, at[a])
			}
			i.Body += "Depends on " + strings.Join(needs, ", ") + "\n"
		}
		if t.Parent != "" {
			i.Body += "Part of " + at[t.Parent] + "\n"
		}
		i.Body += mark
		issues = append(issues, i)
	}
	data, err := json.MarshalIndent(issues, "", "  ")
	return append(data, '\n'), err
}
