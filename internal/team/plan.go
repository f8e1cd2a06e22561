package team

import (
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"tandem/internal/fault"
	job "tandem/internal/job/wire"
	"tandem/internal/team/wire"
)

// Limits of a plan.
const (
	MaxTasks = 30
	MaxText  = 16 << 10
	maxPlan  = 256 << 10
	maxFiles = 50
)

var taskName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,29}$`)

// parsePlan reads a plan out of what a lead said: one JSON object, whatever stands around it.
func parsePlan(said string) (p wire.Plan, err error) {
	from, to := strings.IndexByte(said, '{'), strings.LastIndexByte(said, '}')
	if from < 0 || to < from || to-from > maxPlan {
		return p, fault.New(fault.Invalid, "team.plan", "there is no JSON object of at most %d bytes in it", maxPlan)
	}
	d := json.NewDecoder(bytes.NewReader([]byte(said[from : to+1])))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, fault.New(fault.Invalid, "team.plan", "it is no plan: %v", err)
	}
	if rest := said[from:][d.InputOffset():]; strings.ContainsRune(rest, '{') {
		return p, fault.New(fault.Invalid, "team.plan", "there is more than one JSON object in it, and it is not known which one is the plan")
	}
	return p, nil
}

// checkPlan refuses a plan that could not be worked on.
func checkPlan(p wire.Plan, workers []string) error {
	bad := func(format string, args ...any) error {
		return fault.New(fault.Invalid, "team.plan", format, args...).WithNext("mend the plan, and give it again")
	}
	if len(p.Tasks) < 1 || len(p.Tasks) > MaxTasks {
		return bad("a plan has between 1 and %d tasks, and this one %d", MaxTasks, len(p.Tasks))
	}
	if len(p.Criteria) > 20 || slices.ContainsFunc(p.Criteria, func(c string) bool { return len(c) > 1000 }) {
		return bad("a plan has at most 20 criteria of at most 1000 bytes")
	}
	names := map[string]wire.Item{}
	for _, t := range p.Tasks {
		switch _, twice := names[t.Name]; {
		case !taskName.MatchString(t.Name):
			return bad("%.40q is no name of a task: up to 30 of a-z, 0-9 and -", t.Name)
		case twice:
			return bad("two tasks are called %s", t.Name)
		case strings.TrimSpace(t.Text) == "" || len(t.Text) > MaxText:
			return bad("the text of %s has between 1 and %d bytes", t.Name, MaxText)
		case len(t.Check) > 4096 || strings.ContainsRune(t.Check, 0):
			return bad("the check of %s is a command of at most 4096 bytes", t.Name)
		case len(t.Files) > maxFiles || slices.ContainsFunc(t.Files, func(f string) bool {
			return len(f) > 1000 || path.IsAbs(f) || strings.Contains("/"+f+"/", "/../")
		}):
			return bad("%s names at most %d files, seen from the repository's folder", t.Name, maxFiles)
		case t.Agent != "" && !slices.Contains(workers, t.Agent):
			return bad("%s is to be done by %.60q, which is none of the team's workers", t.Name, t.Agent)
		}
		names[t.Name] = t
	}
	for _, t := range p.Tasks {
		for _, a := range t.After {
			if _, there := names[a]; !there {
				return bad("%s comes after %.40q, which is no task of the plan", t.Name, a)
			}
		}
	}
	done := map[string]bool{}
	for len(done) < len(names) {
		before := len(done)
		for name, t := range names {
			if !done[name] && !slices.ContainsFunc(t.After, func(a string) bool { return !done[a] }) {
				done[name] = true
			}
		}
		if len(done) == before {
			return bad("some tasks come after each other in a circle")
		}
	}
	return nil
}

// leads is the part of a budget that the lead has: a fifth.
func leads(b job.Budget) job.Budget {
	part := func(n int64) int64 { return min(n, max(1, n/5)) }
	return job.Budget{Cents: part(b.Cents), Tokens: part(b.Tokens), Turns: part(b.Turns)}
}

// share is the part of a budget that each task has. It is refused where there is not enough for each.
func share(b job.Budget, tasks int) (out job.Budget, err error) {
	lead := leads(b)
	part := func(all, lead int64) int64 {
		if all == 0 {
			return 0
		}
		n := (all - lead) / int64(tasks)
		if n == 0 {
			err = fault.New(fault.Exhausted, "team.approve", "%s are not enough for %d tasks", b, tasks).
				WithNext("approve a plan of fewer tasks, or start a team with more")
		}
		return n
	}
	out = job.Budget{Cents: part(b.Cents, lead.Cents), Tokens: part(b.Tokens, lead.Tokens), Turns: part(b.Turns, lead.Turns)}
	return out, err
}
