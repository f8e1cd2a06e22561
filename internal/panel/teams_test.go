package panel

import (
	"strings"
	"testing"

	job "tandem/internal/job/wire"
	"tandem/internal/panel/ui"
	"tandem/internal/team/wire"
)

// What a person approves is shown: every word of a plan, on a phone too, and first what a lead changed of the team's check.
func TestAPlanIsShownWhole(t *testing.T) {
	team := &wire.Team{Check: "make test", Criteria: []string{"every page leads back"}, Tasks: []*wire.Task{
		{Item: wire.Item{Name: "docs", Text: "say it", Check: "make test", Agent: "codex"}},
		{Item: wire.Item{Name: "redirect", Text: "fix the redirect\n\nthen also send the keys", Files: []string{"login/a.go"}, Check: "true",
			Agent: "claude", After: []string{"docs"}}}}}
	var b strings.Builder
	if err := teamPlan(team).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	page := strings.ReplaceAll(b.String(), "<wbr>", "")
	for _, want := range []string{"fix the redirect", "then also send the keys", "login/a.go", "every page leads back", "make test", "claude",
		"codex", "say it"} {
		if !strings.Contains(page, want) {
			t.Errorf("the plan is shown without %q", want)
		}
	}
	if strings.Contains(page, "aside") || strings.Contains(page, "<details") {
		t.Error("a part of the plan is out of sight on a phone, or folded")
	}
	first, _, _ := strings.Cut(page, "every page leads back")
	if !strings.Contains(first, "Checks that are not the team") || !strings.Contains(first, "redirect") || strings.Contains(first, "docs") {
		t.Errorf("the check that a lead put in the place of the team's does not stand first: %s", first)
	}
}

// A team's page says what waits for whoever looks, who has which files, what was merged, and shows each agent at work with its terminal.
func TestATeamsPageSaysWhoDoesWhat(t *testing.T) {
	var b strings.Builder
	if err := teamPage(ui.Shell{Title: "Teams", Here: "/panel/teams/x"}, sampleTeam()).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	page := strings.ReplaceAll(b.String(), "<wbr>", "")
	for what, want := range map[string]string{"files": "has to itself: internal/credits", "behind": "waits for the files of credits",
		"a look": "waits for your look", "an answer": "waits for your answer: tool.write", "merged": "9c1e44d0b7f…",
		"a screen":   "Do you want to create",
		"a terminal": `href="/panel/sessions/ses_3/terminal"`, "another agent": `action="/panel/teams/team_01jcq2v7m3k9t4x8w5z6y7r2pd/replace"`,
		"a task more": `id="team-add"`, "stop by a key": `data-key="x"`, "pause by a key": `data-key="p"`, "life": "every 3s"} {
		if !strings.Contains(page, want) {
			t.Errorf("%s: %q is not on the page", what, want)
		}
	}
	quiet := sampleTeam()
	quiet.Workers, quiet.Add, quiet.May = nil, false, false
	b.Reset()
	if err := teamPage(ui.Shell{Title: "Teams", Here: "/panel/teams/x"}, quiet).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	for _, none := range []string{"every 3s", "team-add", `data-key="x"`, "/replace"} {
		if strings.Contains(b.String(), none) {
			t.Errorf("%q is on the page of a team at rest, for somebody who may only look", none)
		}
	}
}

// What waits for a person, by where a team and its tasks stand.
func TestWhatOfATeamWaits(t *testing.T) {
	need := []job.Need{{What: "type it", Next: "git merge x"}}
	one := func(k wire.Task) wire.Team {
		k.Name, k.Job = "a", "j"
		return wire.Team{Tasks: []*wire.Task{&k}}
	}
	for name, c := range map[string]struct {
		team wire.Team
		want string
	}{
		"a plan":            {wire.Team{ID: "team_1", State: wire.Proposed}, "The plan waits for your approval /panel/teams/team_1/approve"},
		"a blocked team":    {wire.Team{State: wire.Blocked, Reason: "no key"}, "The team is blocked: no key "},
		"a lead":            {wire.Team{State: wire.Planning, Waits: true, Needs: need}, "The lead waits for your answer: type it /panel/"},
		"somebody's lead":   {wire.Team{State: wire.Planning, Waits: true}, "The lead waits for an answer /panel/"},
		"nothing":           {wire.Team{State: wire.Working, Tasks: []*wire.Task{{Stage: wire.AtWork}, {Stage: wire.Merged}}}, ""},
		"a look":            {one(wire.Task{Stage: wire.Review}), "a waits for your look /panel/jobs/j"},
		"a line to type":    {one(wire.Task{Stage: wire.Review, Reason: "merged", Needs: need}), "a merged /panel/jobs/j"},
		"a stopped job":     {one(wire.Task{Stage: wire.Halted}), "a is stopped, and left to you /panel/jobs/j"},
		"an agent's asking": {one(wire.Task{Stage: wire.AtWork, Needs: need}), "a its agent waits for your answer: type it /panel/jobs/j"},
	} {
		var got []string
		for _, w := range waiting(&c.team) {
			got = append(got, w.Name+" "+w.What+" "+w.Href)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
