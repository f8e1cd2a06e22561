package panel

import (
	"time"

	job "tandem/internal/job/wire"
	"tandem/internal/panel/ui"
	"tandem/internal/team/wire"
)

// Sample data for the pages about teams.

var teamsCrumb = &ui.Crumb{Label: "Teams", Href: "/panel/teams"}

func sampleTeams() TeamsView {
	return TeamsView{Now: galleryNow, May: true, Folders: []string{"/home/me/src/atlas"}, Rows: []*wire.Team{sampleTeam().Team,
		{ID: "team_2", Goal: "Mend the links of the handbook", Folder: "/home/me/src/site", State: wire.Proposed, MovedAt: before(time.Minute),
			Tasks: []*wire.Task{{Item: wire.Item{Name: "links", Text: "Mend them"}, Stage: wire.Waits}}},
		{ID: "team_3", Goal: "Round once", Folder: "/home/me/src/atlas", State: wire.Done, MovedAt: before(26 * time.Hour)}}}
}

func sampleTeam() TeamView {
	v := TeamView{Now: galleryNow, May: true, Add: true, PIN: true, Passkeys: 1, Team: &wire.Team{
		ID: "team_01jcq2v7m3k9t4x8w5z6y7r2pd", State: wire.Working,
		Goal: "Move billing to the new API", Folder: "/home/me/src/atlas", Onto: "main", Agents: 3, Lead: "claude",
		Budget: job.Budget{Tokens: 2_000_000}, Spent: &wire.Spent{Cents: 120, Tokens: 412_000, Turns: 14},
		Expected: &wire.Expected{Spent: wire.Spent{Cents: 310, Tokens: 1_020_000, Turns: 36}, End: after(time.Hour)},
		Version:  2, ApprovedBy: "owner",
		MadeAt: before(40 * time.Minute), MovedAt: before(20 * time.Minute),
		Tasks: []*wire.Task{
			{Item: wire.Item{Name: "client", Text: "Write the client of the new API", Agent: "claude", Check: "go test ./..."}, Stage: wire.Merged,
				Job: "job_1", Commit: "9c1e44d0b7f3aa20"},
			{Item: wire.Item{Name: "invoices", Text: "Read invoices from it", After: []string{"client"}, Agent: "codex", Check: "go test ./..."},
				Stage: wire.Review, Job: "job_2"},
			{Item: wire.Item{Name: "credits", Text: "Read credits from it", After: []string{"client"}, Agent: "claude", Check: "go test ./...",
				Files: []string{"internal/credits"}},
				Stage: wire.AtWork, Job: "job_3", Needs: []job.Need{{What: "tool.write"}}},
			{Item: wire.Item{Name: "docs", Text: "Say it in the documents", After: []string{"invoices", "credits"}, Agent: "codex",
				Files: []string{"internal/**"}}, Stage: wire.Waits},
			{Item: wire.Item{Name: "rounding", Text: "Round once", Agent: "codex"}, Stage: wire.AtWork, Job: "job_4"}},
		Events: []wire.Happened{{At: before(20 * time.Minute), What: "working"}, {At: before(19 * time.Minute), What: "client begins as job_1"}}}}
	v.Waiting = waiting(v.Team)
	v.Workers = []Worker{
		{Task: v.Tasks[2], Job: "job_3", Session: "ses_3", Hands: handsTo(JobView{JobRow: JobRow{Agent: "claude"}}),
			Program: &ProgramView{State: "needs permission", Agent: "claude"},
			Screen: "● Read internal/credits/read.go (212 lines)\n\n● Write(internal/credits/new.go)\n\n  Do you want to create new.go?\n" +
				"  ❯ 1. Yes\n    2. No, and tell Claude what to do differently"},
		{Task: v.Tasks[4], Job: "job_4", Session: "ses_4", Hands: handsTo(JobView{JobRow: JobRow{Agent: "codex"}}),
			Program: &ProgramView{State: "working", Agent: "codex"},
			Screen:  "• Ran go test ./internal/round\n  └ ok  atlas/internal/round 0.3s\n\n• Working (12s • esc to interrupt)"}}
	return v
}

// teamShell is one whose page is not read again: the gallery has it at another address.
func teamShell() ui.Shell {
	s := galleryShell("teams", "Move billing", teamsCrumb)
	s.Here = ""
	return s
}
