package panel

import (
	"time"

	"tandem/internal/knowledge/wire"
	"tandem/internal/panel/ui"
)

// Sample data for the pages about knowledge spaces.

var knowledgeCrumb = &ui.Crumb{Label: "Knowledge", Href: knowledgeAt}

func sampleKnowledgeItems() []wire.Entry {
	return []wire.Entry{
		{ID: "kno_01jcq2v7m3k9t4x8w5z6y7r2pd", Space: "handbook", Title: "Release day", Summary: "Releases are cut on Tuesdays.",
			Body: "Releases are cut on Tuesdays, from main.\nWho is on duty cuts them.", Covers: []string{"release/day"}, Key: "release-day",
			Sources: []wire.Source{{Kind: "file", Ref: "docs/release.md", Place: "line 5"}}, State: wire.Default, Author: "ann",
			By: "ann", Version: 3,
			MadeAt: before(48 * time.Hour), LookedAt: before(24 * time.Hour), FreshUntil: galleryNow.Add(90 * 24 * time.Hour)},
		{ID: "kno_01jcq2v7m3k9t4x8w5z6y7r2pe", Space: "handbook", Title: "Hotfixes", Summary: "Two people approve a hotfix.", State: wire.Working,
			Author: "builder", Version: 1, MadeAt: before(time.Hour)},
		{ID: "kno_01jcq2v7m3k9t4x8w5z6y7r2pf", Space: "handbook", Title: "Where staging is", Body: "staging.example.com", State: wire.Promoted,
			Author: "ben", By: "ann", Stale: true, Version: 2, MadeAt: before(900 * time.Hour), LookedAt: before(800 * time.Hour)},
	}
}

func sampleKnowledge() KnowledgeView {
	all := sampleKnowledgeItems()
	return KnowledgeView{Question: "When are releases cut?", May: true, PIN: true, Rows: []wire.Space{
		{Name: "handbook", Purpose: "How we release and who decides", Owners: []string{"ann", "ben"}, Trust: wire.Approved, Answers: 12,
			Working: 2},
		{Name: "contracts", Purpose: "What contracts say", Owners: []string{"ann"}, Readers: []string{"person:ben"},
			Trust: wire.Sourced, Days: 180}},
		Answer: &AnswerView{Now: galleryNow, Known: true, Looked: "handbook", Items: []wire.Cited{{Entry: all[0], Score: 3.2},
			{Entry: all[2], Score: 1}}}}
}

func sampleKnowledgeSpace() KnowledgeSpaceView {
	return KnowledgeSpaceView{Now: galleryNow, Name: "handbook", Purpose: "How we release and who decides",
		Items: sampleKnowledgeItems(), Working: 1,
		May: true, Owns: true, Facts: knowledgeFacts(wire.Space{Owners: []string{"ann"}, Readers: []string{"session:*"},
			Trust: wire.Sourced, Days: 90,
			Answers: 2, Working: 1})}
}

func sampleKnowledgeItem() KnowledgeItemView {
	i := sampleKnowledgeItems()[0]
	return KnowledgeItemView{Now: galleryNow, Item: i, Facts: knowledgeItemFacts(i), May: true, PIN: true}
}
