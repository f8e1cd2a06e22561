package panel

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	job "tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/panel/ui"
	"tandem/internal/team/wire"
)

func teamsNav() page {
	return page{id: "teams", label: "Teams", href: "/panel/teams", icon: "people", key: "g y", needs: string(wire.List), routes: teamRoutes}
}

func teamHref(id string) string { return "/panel/teams/" + pathEscape(id) }

func teamRoutes(p *Panel) {
	p.get("/panel/teams", func(v *visit) error { return v.teams("") })
	perform(p, "/panel/teams", wire.Start, startTeam,
		func(v *visit, _ wire.StartIn, t *wire.Team) error { return v.go303(teamHref(t.ID), "team-started") },
		func(v *visit, err error) error { return v.teams(words(err)) })
	p.get("/panel/teams/{id}", func(v *visit) error { return v.team(v.r.PathValue("id"), "") })
	teamAct(p, "pause", wire.Pause, "team-paused")
	perform(p, "/panel/teams/{id}/resume", wire.Resume,
		func(v *visit) (wire.ResumeIn, error) { return wire.ResumeIn{ID: v.r.PathValue("id")}, nil },
		func(v *visit, _ wire.ResumeIn, t *wire.Team) error { return v.go303(teamHref(t.ID), "team-resumed") },
		func(v *visit, err error) error { return v.team(v.r.PathValue("id"), words(err)) })
	teamAct(p, "stop", wire.Stop, "team-stopped")
	teamWorkRoutes(p)
	approve := func(v *visit, problem string) error {
		id := v.r.PathValue("id")
		t, err := ask(v, wire.Get, wire.IDIn{ID: id})
		if err != nil {
			return err
		}
		if t.State != wire.Proposed {
			return v.team(id, "no plan waits for you")
		}
		n := strconv.FormatInt(t.Version, 10)
		return v.confirms("teams", ConfirmView{Title: "Approve this plan?", Does: "Approve", Variant: "primary", Problem: problem,
			Text: fmt.Sprintf("Its %d tasks become jobs, up to %d at once. What each makes is checked, and waits for your look.", len(t.Tasks),
				t.Agents),
			Subject: "plan " + n + " of " + t.ID, Action: teamHref(id) + "/approve", Back: teamHref(id), Fields: []Hidden{{"plan", n}},
			Shown: teamPlan(t)})
	}
	p.get("/panel/teams/{id}/approve", func(v *visit) error { return approve(v, "") })
	perform(p, "/panel/teams/{id}/approve", wire.Approve,
		func(v *visit) (wire.ApproveIn, error) {
			n, err := strconv.ParseInt(v.field("plan"), 10, 64)
			return wire.ApproveIn{ID: v.r.PathValue("id"), Version: n}, err
		},
		func(v *visit, _ wire.ApproveIn, t *wire.Team) error { return v.go303(teamHref(t.ID), "team-approved") },
		func(v *visit, err error) error { return approve(v, words(err)) })
}

// teamAct is something done to one team; its page says what came of it.
func teamAct(p *Panel, verb string, d op.Def[wire.IDIn, *wire.Team], said string) {
	perform(p, "/panel/teams/{id}/"+verb, d,
		func(v *visit) (wire.IDIn, error) { return wire.IDIn{ID: v.r.PathValue("id")}, nil },
		func(v *visit, _ wire.IDIn, t *wire.Team) error { return v.go303(teamHref(t.ID), said) },
		func(v *visit, err error) error { return v.team(v.r.PathValue("id"), words(err)) })
}

func startTeam(v *visit) (in wire.StartIn, err error) {
	in = wire.StartIn{Goal: v.field("goal"), Folder: v.field("folder"), Onto: v.field("onto"), Lead: v.field("lead"), Check: v.field("check")}
	if n := v.field("agents"); n != "" {
		if in.Agents, err = strconv.ParseInt(n, 10, 64); err != nil {
			return in, err
		}
	}
	in.Budget, err = job.ParseBudget(v.field("budget"))
	return in, err
}

// TeamsView is the list of teams.
type TeamsView struct {
	Now     time.Time
	Rows    []*wire.Team
	May     bool
	Folders []string
	Problem string
}

func (v *visit) teams(problem string) error {
	out := TeamsView{Now: v.now(), May: v.has(string(wire.Start)), Problem: problem}
	list, err := ask(v, wire.List, wire.ListIn{})
	if err != nil {
		return err
	}
	if out.Rows = list.Teams; out.May {
		if _, out.Folders, err = v.startingPoint(); err != nil && problem == "" {
			out.Problem = words(err)
		}
	}
	s := v.shell("teams", "Teams")
	s.Here = "/panel/teams"
	return v.show(teamsPage(s, out))
}

// TeamView is one team.
type TeamView struct {
	*wire.Team
	Now      time.Time
	May      bool
	Problem  string
	Workers  []Worker
	Waiting  []Waiting
	Add      bool // the viewer may add a task
	PIN      bool
	Passkeys int
}

func (v *visit) team(id, problem string) error {
	t, err := ask(v, wire.Get, wire.IDIn{ID: id})
	if err != nil {
		return err
	}
	s := v.shell("teams", firstLine(t.Goal))
	s.Back = &ui.Crumb{Label: "Teams", Href: "/panel/teams"}
	s.Here = teamHref(id)
	out := TeamView{Team: t, Now: v.now(), May: v.has(string(wire.Start)), Problem: problem, Waiting: waiting(t)}
	if out.Add = out.May && mayAdd(t) && v.has(string(wire.Edit)); out.Add {
		m, err := v.means()
		if err != nil {
			return err
		}
		out.PIN, out.Passkeys = m.PIN, m.Passkeys
	}
	if out.Workers, err = v.workers(t); err != nil {
		return err
	}
	return v.show(teamPage(s, out))
}

func teamTone(s wire.State) ui.Tone {
	switch s {
	case wire.Proposed, wire.Blocked, wire.Paused:
		return ui.Warn
	case wire.Done:
		return ui.Good
	case wire.Stopped:
		return ui.Quiet
	}
	return ui.Info
}

func stageTone(k *wire.Task) ui.Tone {
	switch k.Stage {
	case wire.Review, wire.Halted:
		return ui.Warn
	case wire.Failed:
		return ui.Bad
	case wire.Merged:
		return ui.Good
	case wire.Waits, wire.Dropped:
		return ui.Quiet
	}
	if len(k.Needs) > 0 {
		return ui.Warn
	}
	return ui.Info
}

func mergedOf(t *wire.Team) string {
	n := 0
	for _, k := range t.Tasks {
		if k.Stage == wire.Merged {
			n++
		}
	}
	return fmt.Sprintf("%d of %d", n, len(t.Tasks))
}

// facts are what is known of a team beside its tasks.
func (v TeamView) facts() []ui.Pair {
	out := []ui.Pair{{Key: "Branch", Value: v.Onto, Mono: true}, {Key: "Folder", Value: v.Folder, Mono: true},
		{Key: "At once", Value: strconv.FormatInt(v.Agents, 10)}, {Key: "Merged", Value: mergedOf(v.Team)}}
	if v.Lead != "" {
		out = append(out, ui.Pair{Key: "Lead", Value: v.Lead, Mono: true})
	}
	if v.Waits {
		out = append(out, ui.Pair{Key: "Waits", Value: "its lead waits for an answer" + needed(v.Needs)})
	}
	if b := v.Budget; b != (job.Budget{}) {
		out = append(out, ui.Pair{Key: "Budget", Value: budgetWords(b)})
	}
	if s := v.Spent; s != nil {
		out = append(out, ui.Pair{Key: "Used", Value: fmt.Sprintf("%s tokens, %s turns, %.2f USD where the price is known", ui.Count(s.Tokens),
			ui.Count(s.Turns), s.Cents/100)})
	}
	out = append(out, ui.Pair{Key: "Time", Value: v.Took(v.Now).String()})
	if e := v.Expected; e != nil {
		said := "%s tokens, %s turns, %.2f USD, until about %s, if the rest goes as what is merged went"
		out = append(out, ui.Pair{Key: "Expected", Value: fmt.Sprintf(said,
			ui.Count(e.Tokens), ui.Count(e.Turns), e.Cents/100, ui.Stamp(e.End))})
	}
	if !v.Until.IsZero() {
		out = append(out, ui.Pair{Key: "Until", Value: v.Until.Format(time.RFC3339)})
	}
	if v.ApprovedBy != "" {
		out = append(out, ui.Pair{Key: "Plan", Value: fmt.Sprintf("%d, approved by %s", v.Version, v.ApprovedBy)})
	}
	return out
}

// needed is what somebody waits for, as far as who looks may see it.
func needed(all []job.Need) (out string) {
	for _, n := range all {
		out += ": " + n.What
	}
	return out
}

// unlike are the tasks of a plan whose check is not the team's: what a lead changes of what green means is looked at first.
func unlike(t *wire.Team) (out []*wire.Task) {
	for _, k := range t.Tasks {
		if k.Check != t.Check {
			out = append(out, k)
		}
	}
	return out
}

// planFacts is what of a task is no text.
func planFacts(k *wire.Task) []ui.Pair {
	return []ui.Pair{{Key: "Check", Value: checkWords(k.Check), Mono: true}, {Key: "Agent", Value: k.Agent, Mono: true},
		{Key: "After", Value: strings.Join(k.After, ", ")}, {Key: "Files", Value: strings.Join(k.Files, ", "), Mono: true}}
}

// checkWords is a check as it is read.
func checkWords(check string) string { return cmp.Or(check, "nothing") }

// about is what stands below a task's name.
func about(k *wire.Task) string {
	parts := []string{firstLine(k.Text)}
	if len(k.After) > 0 {
		parts = append(parts, "after "+strings.Join(k.After, ", "))
	}
	switch {
	case len(k.Needs) > 0 && k.Stage == wire.Review: // it is merged, and not in the branch yet
		return strings.Join(append(parts, k.Needs[0].What), " · ")
	case len(k.Needs) > 0:
		parts = append(parts, "its agent waits for your answer: "+k.Needs[0].What)
	}
	if k.Reason != "" {
		parts = append(parts, k.Reason)
	}
	return strings.Join(parts, " · ")
}

// budgetWords is a budget as it is read, and not as it is typed.
func budgetWords(b job.Budget) string {
	var out []string
	if b.Cents > 0 {
		out = append(out, fmt.Sprintf("%.2f USD", float64(b.Cents)/100))
	}
	if b.Tokens > 0 {
		out = append(out, ui.Count(b.Tokens)+" tokens")
	}
	if b.Turns > 0 {
		out = append(out, ui.Count(b.Turns)+" turns")
	}
	return strings.Join(out, ", ")
}
