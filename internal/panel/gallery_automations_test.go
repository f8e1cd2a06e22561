package panel

import (
	"time"

	"tandem/internal/automation/wire"
	packs "tandem/internal/pack/wire"
	"tandem/internal/panel/ui"
	"tandem/internal/unified"
)

// Sample data for the pages about automations.

var automationsCrumb = &ui.Crumb{Label: "Automations", Href: "/panel/automations"}

func sampleRuns() []RunRow {
	return []RunRow{
		{ID: "run_01jcq2v7m3k9t4x8w5z6y7r2pd", Name: "morning", Status: "running", Cause: "the schedule weekdays", By: "ann",
			Began: before(4 * time.Minute)},
		{ID: "run_2", Name: "nightly", Status: "paused", Cause: "the schedule nights", By: "ann", Needs: "nobody knows whether send acted",
			Began: before(8 * time.Hour)},
		{ID: "run_3", Name: "morning", Status: "completed", Cause: "ann", By: "ann", Began: before(24 * time.Hour),
			Ended: before(23 * time.Hour)},
		{ID: "run_4", Name: "morning", Status: "failed", Cause: "ann", By: "ann", Reason: "keep: report/files exists",
			Began: before(48 * time.Hour),
			Ended: before(47 * time.Hour)},
	}
}

func sampleAutomations() AutomationsView {
	return AutomationsView{Now: galleryNow, May: true, Draft: true, Runs: sampleRuns(), Rows: []AutomationRow{
		{Name: "morning", Title: "How many files there are", On: true, Newer: true, Begins: "every weekday at 9:00, Europe/Berlin", Open: 1,
			Changed: before(3 * time.Hour)},
		{Name: "nightly", Title: "Tests, and who should look at what failed", On: true, Begins: "every day at 2:00", Open: 1,
			Changed: before(50 * time.Hour)},
		{Name: "weekly-mail", Changed: before(90 * time.Hour)},
	}}
}

func sampleAutomation() AutomationView {
	return AutomationView{AutomationRow: sampleAutomations().Rows[0], Now: galleryNow, May: true, MayOn: true,
		Digest: "9c1e44d0b7f3e5a19c1e44d0b7f3e5a19c1e44d0b7f3e5a19c1e44d0b7f3e5a1",
		Latest: "9c1e44d0b7f3e5a19c1e44d0b7f3e5a19c1e44d0b7f3e5a19c1e44d0b7f3e5a1",
		Live:   "4f2a19c07b124f2a", Text: automationExample,
		Changes: unified.Parse("--- morning\n+++ morning\n@@ -9,3 +9,3 @@\n [node.command]\n-run = [\"ls\"]\n+run = [\"sh\", \"-c\", " +
			"\"ls | wc -l\"]\n folder = \"/srv/app\"\n"),
		MayDo: []wire.May{{Node: "count", Kind: "command", What: "sh -c \"ls | wc -l\" in /srv/app, without the network"},
			{Node: "look", Kind: "gate", What: "asks a person"}, {Node: "keep", Kind: "operation",
				What: "resource.put on resource:/report/files"}},
		Runs: sampleRuns(), Ticks: []wire.TickRow{{Trigger: "weekdays", Due: before(time.Hour), Count: 1, Run: "run_1"},
			{Trigger: "weekdays", Due: before(50 * time.Hour), Count: 3, Why: "the server was away, and one run was made for all"}},
		Facts: []ui.Pair{{Key: "Version", Value: "9c1e44d0b7f3e5a19c1e44d0b7f3e5a1", Mono: true, Copy: true}, {Key: "Stored by", Value: "ann"},
			{Key: "Begins", Value: "every weekday at 9:00, Europe/Berlin"}, {Key: "Acts as", Value: "automation.morning", Mono: true}}}
}

func sampleRun() RunView {
	steps := []StepRow{
		{Node: "count", Kind: "command", State: "done", Attempt: 2, Output: "{\n  \"files\": 42\n}",
			Notes: []string{"count hidden ones, too"}},
		{Node: "read", Kind: "operation", State: "unknown", Attempt: 1, Reason: "the server ended while it acted",
			Waits: "a person says whether it was done",
			Input: "{\n  \"key\": \"report/files\"\n}"},
		{Node: "look", Kind: "gate", State: "held", After: []string{"count", "read"}, Waits: "somebody answers",
			AskHref: "/panel/approvals/ask_1",
			Input:   "{\n  \"count.files\": 42\n}"},
		{Node: "wait", Kind: "wait", State: "held", After: []string{"count"}, Waits: "somebody hands over brief", Handoff: "brief",
			Given: "{\n  \"pages\": \"\"\n}"},
		{Node: "keep", Kind: "map", State: "waiting", After: []string{"look"}},
		{Node: "keep", Kind: "map", Item: 1, State: "failed", Reason: "report/files exists"},
	}
	return RunView{RunRow: sampleRuns()[1], Now: galleryNow, May: true, Mend: true, Repair: true, Steps: steps, Levels: levels(steps),
		Repairs: []RepairRow{repairRow(wire.Repaired{Node: "count", By: "ann", At: before(time.Minute), Reason: "it counted folders",
			Changes: "@@ -1,1 +1,1 @@\n-run 2: ls | wc -l\n+run 2: find . -type f | wc -l\n"})},
		Facts: []ui.Pair{{Key: "Begun by", Value: "the schedule weekdays, for ann"}, {Key: "Began", Value: ui.Stamp(before(4 * time.Minute))},
			{Key: "Version", Value: "9c1e44d0b7f3e5a19c1e44d0b7f3e5a1", Mono: true, Copy: true}}}
}

func sampleStepAct() StepActView {
	v := StepActView{ConfirmView: stepActs["accept"], Gives: true}
	v.Subject, v.Action, v.Back, v.Present, v.PIN, v.Passkeys = "send", "/panel/runs/run_2/accept", "/panel/runs/run_2", true, true, 1
	return v
}

func sampleRepair() RepairView {
	return RepairView{Run: "run_2", Node: "draft", Action: "/panel/runs/run_2/review", Back: "/panel/runs/run_2", Model: "anthropic/claude",
		Prompt: "Write the mail.\nBe short.", System: "You write mails.", Reason: "it was too long"}
}

func sampleRehearsal() RehearsalView {
	return RehearsalView{Run: "run_3", Name: "morning", Was: "completed", Status: "open", Missing: []string{"tell"}, Gone: []string{"count"},
		Steps: []RehearsedRow{{Name: "draft", Then: "done", Now: "done", Answer: "recorded", Differs: true,
			Asked: diffOf("draft", "@@ -1,2 +1,2 @@\n prompt:\n-Write the mail.\n+Write a short mail.\n")},
			{Name: "tell", Then: "skipped", Now: "ready", Answer: "none", Differs: true}, {Name: "send 1", Then: "not there", Now: "failed",
				Answer: "refused", Reason: "the output id is missing", Differs: true, Gives: diffOf("send", "@@ -1,1 +1,1 @@\n-{}\n+{\"id\": 1}\n")}}}
}

func samplePacks() PacksView {
	return PacksView{Now: galleryNow, Rows: []PackRow{
		{Name: "weekly-report", Title: "The week as slides", Version: "1", By: "ann", Installed: true, At: before(30 * time.Hour)},
		{Name: "nightly-tests", Title: "Tests at night, and who should look", Version: "1"}}}
}

func samplePack() PackView {
	return PackView{PackRow: samplePacks().Rows[1], Now: galleryNow, Here: true, About: "Every night the tests run.", MayDo: true,
		Digest: "9c1e44d0b7f3e5a19c1e44d0b7f3e5a19c1e44d0b7f3e5a19c1e44d0b7f3e5a1",
		Settings: []PackSetting{{"folder", "the folder with the checkout, which is granted", "/srv/app"},
			{"when", "when it runs", "every day at 2:00"}},
		May:       []packs.May{{Whose: "automation nightly", What: "test: runs make test in /srv/app, without the network"}},
		Cannot:    []string{"there is an automation nightly, which is not of this pack"},
		Ungranted: []string{"/srv/app"}, Install: "/panel/packs/nightly-tests/install?set-folder=%2Fsrv%2Fapp",
		Changes: diffOf("nightly-tests", "@@ -1,1 +1,1 @@\n-schedule = \"every day at 2:00\"\n+schedule = \"every day at 3:00\"\n")}
}

func poisonedPack() PackView {
	v := poisoned(samplePack())
	v.Install = samplePack().Install // the panel makes it

	for i, one := range samplePack().Settings { // named by packs that come with tandem, and filled in by a person
		v.Settings[i].Name, v.Settings[i].Value = one.Name, one.Value
	}
	return v
}

func poisonedRepair() RepairView {
	v := poisoned(sampleRepair())
	v.Node = "draft" // which the form hands on as it is
	return v
}

func poisonedStep() StepActView {
	v := poisoned(sampleStepAct())
	v.Fields = nil // what a person has filled in goes back as it is, in fields that show nothing
	return v
}
