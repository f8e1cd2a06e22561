package panel

import (
	"time"

	"tandem/internal/memory/wire"
	"tandem/internal/panel/ui"
	"tandem/internal/unified"
)

// Sample data for the pages about memory.

var memoryCrumb = &ui.Crumb{Label: "Memory", Href: "/panel/memory"}

func sampleMemory() MemoryView {
	return MemoryView{Now: galleryNow, May: true, PIN: true, Passkeys: 1, Waiting: 2, How: "words in the team's own index, best first",
		Older: "/panel/memory?before=mem_4", Rows: []MemoryRow{
			{ID: "mem_1", Text: "Releases are made on Tuesdays, never before a holiday.", Where: "team", From: "by owner", Kind: wire.Decision,
				State: wire.Live, Trust: wire.Stated, Made: before(time.Hour)},
			{ID: "mem_2", Text: "Credits are taken off before rounding; the bank does it the other way round, which is why the two " +
				"reports differ by a cent.",
				Where: "project atlas", From: "from commit 9c1e44d0b7f3", Kind: wire.Lesson, State: wire.Live, Trust: wire.Approved,
				Made: before(30 * time.Hour)},
			{ID: "mem_3", Text: "The staging ledger is at p\u0430ypal.example\u200b", Where: "project atlas",
				From: "from url https://notes.example/credits",
				Kind: wire.Fact, State: wire.Live, Trust: wire.Untrusted, Made: before(90 * time.Hour)},
		}, Passages: []PassageRow{{Source: "handbook", File: "release.md", Place: "Releases > When, line 5", Trust: wire.Untrusted,
			Text: "Releases are cut on Tuesdays. The release day is announced.", Read: before(2 * time.Hour)}}}
}

func sampleRecord() RecordView {
	row := sampleMemory().Rows[1]
	row.State, row.Trust = wire.Proposed, wire.Untrusted
	return RecordView{MemoryRow: row, Now: galleryNow, May: true, PIN: true, Passkeys: 1, Version: 2, Replaces: "mem_9",
		Whole: "Credits are taken off before rounding;\nthe bank does it the other way round.",
		Changes: unified.Diff("Credits are taken off after rounding.\n",
			"Credits are taken off before rounding;\nthe bank does it the other way round.\n"),
		Sources: []SourceRow{{Kind: "commit", Ref: "9c1e44d0b7f3e5a19c1e44d0b7f3e5a19c1e44d0", Place: "internal/billing/credit.go"},
			{Kind: "turn", Ref: "ses_01jcq2v7m3/4", Href: "/panel/sessions/ses_01jcq2v7m3"},
			{Kind: "url", Ref: "https://notes.example/credits", Digest: "6f1c2a9be0d44c8d9b7f3e5a1c0d2e4f"}},
		Facts: []ui.Pair{{Key: "For", Value: "project atlas"}, {Key: "Written by", Value: "builder"}, {Key: "Told to", Value: "3 sessions"},
			{Key: "Record", Value: "mem_01jcq2v7m3k9t4x8w5z6y7r2pd", Mono: true, Copy: true}},
		History: []MemoryVersion{{Version: 2, What: "edited", By: "owner", At: before(time.Hour),
			Lines: unified.Diff("Credits come off before rounding.\n", "Credits are taken off before rounding;\n")},
			{Version: 1, What: "proposed", By: "builder", At: before(30 * time.Hour)}}}
}

func sampleForgotten() ForgottenView {
	return ForgottenView{ID: "mem_2", Derived: []string{"mem_7"}, Told: []string{"ses_01jcq2v7m3"},
		Beyond: []string{"copies of the database that were made before", "what a model was sent"}}
}
