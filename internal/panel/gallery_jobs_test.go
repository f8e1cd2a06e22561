package panel

import (
	"time"

	"tandem/internal/job/wire"
	"tandem/internal/panel/ui"
	"tandem/internal/unified"
)

// Sample data for the pages about jobs.

var jobsCrumb = &ui.Crumb{Label: "Jobs", Href: "/panel/jobs"}

func sampleJobs() JobsView {
	rows := []JobRow{
		{ID: "job_01jcq2v7m3k9t4x8w5z6y7r2pd", Task: "Take the credit off the total, once, in one place", Agent: "claude",
			Folder: "/home/me/src/atlas", State: wire.Review, Verdict: wire.Green, Open: true, Since: before(4 * time.Minute)},
		{ID: "job_2", Task: "Why is the build slow on the second machine", Agent: "codex", Folder: "/home/me/src/atlas", State: wire.Working,
			Verdict: wire.Red, Open: true, Since: before(12 * time.Second)},
		{ID: "job_3", Task: "Rename Open to Unpaid\u202e everywhere, in the documents and in the names of files as well",
			Agent:  "anthropic/claude-sonnet-4-5",
			Folder: "/home/me/src/site", State: wire.Stopped, Verdict: wire.Red, Open: true, Since: before(2 * time.Hour)},
		{ID: "job_4", Task: "Mend the links of the handbook", Agent: "opencode", Folder: "/home/me/src/site", State: wire.Merged,
			Verdict: wire.Green, Since: before(26 * time.Hour)},
		{ID: "job_5", Task: "Round once", Agent: "claude", Folder: "/home/me/src/atlas", State: wire.Queued, Verdict: wire.Green, Open: true,
			Since: before(time.Minute)},
	}
	return JobsView{Now: galleryNow, May: true, Rows: rows, Default: "anthropic/claude-sonnet-4-5",
		Folders: []string{"/home/me/src/atlas", "/home/me/src/site"}, More: true,
		Queues: []QueueRow{{Repo: "/home/me/src/atlas", Branch: "main", Protected: true, Jobs: rows[4:]},
			{Repo: "/home/me/src/site", Branch: "main", Paused: true,
				Reason: "main moved from 4f2a19c07b to 9d11e0c5aa, and not by this queue"}}}
}

const sampleUnified = "diff --git a/internal/billing/invoice.go b/internal/billing/invoice.go\nindex 1111111..2222222 100644\n" +
	"--- a/internal/billing/invoice.go\n+++ b/internal/billing/invoice.go\n@@ -3,7 +3,7 @@ package billing\n \n" +
	"-// Total adds up an invoice's lines.\n+// Total adds up an invoice's lines, less what was credited.\n func " +
	"(i Invoice) Total() Money {\n" +
	" \tvar sum Money\n \tfor _, l := range i.Lines {\n \t\tsum += l.Amount\n \t}\n-\treturn sum\n+\treturn sum - i.Credited\n }\n" +
	"diff --git a/scripts/check b/scripts/check\nold mode 100755\nnew mode 100644\n"

func sampleJob() JobView {
	return JobView{JobRow: sampleJobs().Rows[0], Now: galleryNow, May: true, Merge: true, Hears: true, Checked: true,
		Text:   "Take the credit off the total, once, in one place.\n\n- keep the tests as they are\n- say it in `docs/billing.md`",
		Reason: "its check is green", First: []string{"It changed scripts/check, which the check consists of.",
			"While its agent worked, refs/heads/main moved from 4f2a19c07b12 to 9d11e0c5aa34."},
		Commit: "9c1e44d0b7f3e5a19c1e44d0b7f3e5a19c1e44d0", Base: "4f2a19c07b124f2a19c07b124f2a19c07b124f2a",
		JobDiff: sampleJobDiff(), SessionHref: "/panel/sessions/ses_1",
		Changed: []string{"internal/billing/invoice.go", "scripts/check"}, Unsent: 1,
		Said: []wire.Comment{{N: 1, File: "internal/billing/invoice.go", Line: 10, Text: "What of an invoice **without** lines?", By: "owner",
			At: before(time.Minute)}, {N: 2, File: "scripts/check", Text: "Why?", By: "anna", Sent: true, Answered: true, At: before(time.Hour)}},
		Checks: []JobCheck{{N: 2, Verdict: wire.Green, How: "exit code 0 after 4.2 s on 9c1e44d0b7f3",
			Output: "ok  \tatlas/internal/billing\t0.4s\n"},
			{N: 1, Verdict: wire.Red, How: "exit code 1 after 4.0 s on 77aa01b2c3d4",
				Output: "--- FAIL: TestTotal (0.00s)\n    invoice_test.go:22: got 120, want 100\nFAIL\n"}},
		Facts: []ui.Pair{{Key: "Agent", Value: "claude", Mono: true}, {Key: "Check", Value: "go test ./...", Mono: true},
			{Key: "Started in", Value: "/home/me/src/atlas", Mono: true}, {Key: "For the branch", Value: "main", Mono: true},
			{Key: "Commit", Value: "9c1e44d0b7f3e5a19c1e44d0b7f3e5a19c1e44d0", Mono: true, Copy: true}, {Key: "Budget", Value: "10turns"}}}
}

func sampleJobDiff() JobDiff {
	return JobDiff{Diffs: unified.Parse(sampleUnified), Unread: true, Looked: "77aa01b2c3d477aa01b2c3d477aa01b2c3d477aa",
		Files: []wire.File{{Path: "scripts/check", How: "changed", Checks: true},
			{Path: "docs/total.png", How: "changed", Type: "image/png", Size: 48213}},
		Pictures: []Picture{{Path: "docs/total.png", WasHref: ui.Asset("icon.svg"), IsHref: ui.Asset("icon.svg")}},
		Steps: []wire.Step{{Commit: "77aa01b2c3d477aa01b2c3d477aa01b2c3d477aa", Subject: "Take the credit off\u202e", At: before(time.Hour)},
			{Commit: "9c1e44d0b7f3e5a19c1e44d0b7f3e5a19c1e44d0", Subject: "Say it in the documents, too", At: before(4 * time.Minute)}}}
}

func besideJob() JobView {
	v := sampleJob()
	v.Beside, v.Queued = true, true
	return v
}

func stoppedJob() JobView {
	v := sampleJob()
	v.JobRow, v.Reason, v.Merge, v.First = sampleJobs().Rows[2], "3 checks in a row were red", false, nil
	v.Checks = v.Checks[1:]
	v.Checks[0].Open = true
	v.Cut, v.Hidden = true, 2
	return v
}
