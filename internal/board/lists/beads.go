package lists

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"tandem/internal/fault"
)

// bead is a line of an export of beads.
type bead struct {
	ID          string     `json:"id"`
	Title       string     `json:"title"`
	Description string     `json:"description,omitempty"`
	Status      string     `json:"status,omitempty"`
	Priority    *int       `json:"priority,omitempty"`
	Type        string     `json:"issue_type,omitempty"`
	Made        string     `json:"created_at,omitempty"`
	Changed     string     `json:"updated_at,omitempty"`
	Closed      string     `json:"closed_at,omitempty"`
	Labels      []string   `json:"labels,omitempty"`
	Needs       []beadNeed `json:"dependencies,omitempty"`
}

type beadNeed struct {
	Of   string `json:"issue_id,omitempty"`
	On   string `json:"depends_on_id"`
	Kind string `json:"type,omitempty"`
	Made string `json:"created_at,omitempty"`
}

// fromBeads reads a line for each task.
func fromBeads(data []byte) (out []Task, err error) {
	for n, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var b bead
		if err := json.Unmarshal(line, &b); err != nil {
			return nil, fault.New(fault.Invalid, "board.import", "line %d is no task of beads: %v", n+1, err)
		}
		if b.Status == "closed" || b.Status == "tombstone" || strings.TrimSpace(b.Title) == "" {
			continue
		}
		t := Task{Ref: b.ID, Title: b.Title, Description: b.Description, Labels: b.Labels}
		if b.Priority != nil {
			t.Priority = priorities[max(0, min(*b.Priority, len(priorities)-1))]
		}
		for _, d := range b.Needs {
			switch d.Kind { // others hold nothing up
			case "blocks", "":
				t.After = append(t.After, d.On)
			case "parent-child":
				t.Parent = d.On
			}
		}
		out = append(out, from(t, b.ID))
	}
	return out, nil
}

func toBeads(tasks []Task) ([]byte, error) {
	var out bytes.Buffer
	lines := json.NewEncoder(&out) // a line each
	for _, t := range tasks {
		b := bead{ID: t.Ref, Title: t.Title, Description: t.Description, Status: "open", Type: "task", Labels: t.Labels,
			Made: stamp(t.Made), Changed: stamp(t.Changed)}
		switch {
		case t.ended():
			b.Status, b.Closed = "closed", b.Changed
		case t.State == "in_progress", t.State == "claimed":
			b.Status = "in_progress"
		}
		if p := slices.Index(priorities, t.Priority); p >= 0 {
			b.Priority = &p
		}
		for _, a := range t.After {
			b.Needs = append(b.Needs, beadNeed{Of: t.Ref, On: a, Kind: "blocks", Made: b.Made})
		}
		if t.Parent != "" {
			b.Needs = append(b.Needs, beadNeed{Of: t.Ref, On: t.Parent, Kind: "parent-child", Made: b.Made})
		}
		if err := lines.Encode(b); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
