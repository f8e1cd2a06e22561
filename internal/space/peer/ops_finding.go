package peer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tandem/internal/board"
	"tandem/internal/fault"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// FindingIn reports a finding.
type FindingIn struct {
	Service        string    `json:"service" jsonschema:"what it is about"`
	Severity       string    `json:"severity" jsonschema:"critical, high, medium, low or info"`
	Summary        string    `json:"summary"`
	Category       string    `json:"category,omitempty"`
	Count          int       `json:"count,omitempty" jsonschema:"how often it occurs"`
	Patterns       []Pattern `json:"patterns,omitempty"`
	Recommendation string    `json:"recommendation,omitempty"`
	TaskID         string    `json:"task_id,omitempty" jsonschema:"the task it belongs to"`
	Which
}

func (r *Room) opFinding(ctx context.Context, in FindingIn) (Said, error) {
	if !slices.Contains(Severities, in.Severity) {
		return Said{}, fault.New(fault.Invalid, "board.finding", "severity %q is not known", clip(in.Severity)).WithNext("use one of: %s",
			strings.Join(Severities, ", "))
	}
	if strings.TrimSpace(in.Service) == "" || strings.TrimSpace(in.Summary) == "" || in.Count < 0 {
		return Said{}, fault.New(fault.Invalid, "board.finding", "a finding needs a service and a summary, and its count is not negative")
	}
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Said{}, err
	}
	defer s.mu.Unlock()
	f := Finding{ID: "F-" + string(newTaskID()[2:]), Service: in.Service, Severity: in.Severity, Summary: in.Summary, Category: in.Category,
		Count: in.Count, Patterns: in.Patterns, Recommendation: in.Recommendation}
	text := fmt.Sprintf("Reported [%s] finding for %s", strings.ToUpper(in.Severity), escape(in.Service))
	if in.Count > 0 {
		text += fmt.Sprintf(" | %d occurrences", in.Count)
	}
	if len(in.Patterns) > 0 {
		text += fmt.Sprintf(" | %d pattern(s)", len(in.Patterns))
	}
	if in.TaskID != "" {
		id := board.TaskID(in.TaskID)
		if _, ok := s.board[id]; !ok {
			return Said{}, fault.New(fault.NotFound, "board.finding", "there is no task %s in this space", clip(in.TaskID)).
				WithNext("call intandem_board for the ids")
		}
		f.Task = &id
		text += " | linked to " + in.TaskID
	}
	_, queued, err := r.sendOrQueue(ctx, s, thing{class: space.ClassFinding, content: f})
	if err != nil {
		return Said{}, s.named(err)
	}
	out := Said{ID: f.ID, State: "stored", Text: text}
	if queued {
		out.State, out.Text = "queued", text+"\nThe host cannot be reached; it goes out when it is back."
	}
	return r.withMail(ctx, s, out)
}

// FindingsIn filters findings.
type FindingsIn struct {
	Severity string `json:"severity,omitempty"`
	Service  string `json:"service,omitempty"`
	Which
}

// Findings are findings.
type Findings struct {
	Said
	Findings []Finding `json:"findings"`
}

func (r *Room) opFindings(ctx context.Context, in FindingsIn) (Findings, error) {
	s, err := r.enterSeat(ctx)
	if err != nil {
		return Findings{}, err
	}
	defer s.mu.Unlock()
	stale := r.fresh(ctx, s)
	out := Findings{Findings: []Finding{}}
	counts := map[string]int{}
	for _, f := range s.findings {
		if in.Severity != "" && f.Severity != in.Severity || in.Service != "" && f.Service != in.Service {
			continue
		}
		f.By = s.name(seal.MemberID(f.By))
		out.Findings = append(out.Findings, f)
		counts[f.Severity]++
	}
	slices.SortStableFunc(out.Findings, func(a, b Finding) int {
		return slices.Index(Severities, a.Severity) - slices.Index(Severities, b.Severity)
	})
	out.Text = "No findings recorded."
	if len(out.Findings) > 0 {
		var by []string
		for _, sev := range Severities {
			if counts[sev] > 0 {
				by = append(by, fmt.Sprintf("%s: %d", sev, counts[sev]))
			}
		}
		out.Text = fmt.Sprintf("Findings (%d total - %s):", len(out.Findings), strings.Join(by, ", "))
	}
	for _, f := range out.Findings {
		out.Text += "\n" + f.line()
	}
	if stale != "" {
		out.Text += "\nNot up to date: " + stale
	}
	return out, nil
}

func (f Finding) line() string {
	s := fmt.Sprintf("[%s] %s %s: %s (%s)", f.ID, strings.ToUpper(f.Severity), escape(f.Service), escape(f.Summary), escape(f.By))
	if f.Count > 0 {
		s += fmt.Sprintf(" x%d", f.Count)
	}
	if f.Task != nil {
		s += " for " + string(*f.Task)
	}
	for _, p := range f.Patterns {
		s += fmt.Sprintf("\n  %s x%d %s", escape(p.Pattern), p.Count, escape(p.Source))
	}
	if f.Recommendation != "" {
		s += "\n  Recommendation: " + escape(f.Recommendation)
	}
	return s
}
