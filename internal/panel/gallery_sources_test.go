package panel

import (
	"tandem/internal/panel/ui"
	"tandem/internal/source/wire"
)

// Sample data for the page about sources.

func sampleSources() SourcesView {
	facts := func(folder, imports string) []ui.Pair {
		return []ui.Pair{{Key: "Folder", Value: folder, Mono: true, Copy: true}, {Key: "Found", Value: "412 documents in 3,108 passages"},
			{Key: "Could not be read", Value: "2 files"}, {Key: "Import", Value: imports}, {Key: "Looked at", Value: "every 60 minutes"},
			{Key: "Read with the eyes of", Value: "ann"}}
	}
	return SourcesView{Now: galleryNow, May: true, PIN: true, Rows: []BoundRow{
		{Name: "handbook", State: wire.Active, Waiting: true, Facts: facts("/srv/docs", "120 of 414 files"),
			Bad: []BadRow{{"old/scan.pdf", "its pages are pictures: there is no text in it"}, {"tables/big.xlsx", "larger than 64 MB"}}},
		{Name: "contracts", State: wire.Quarantined, Reason: "more than half of its files are gone at once",
			Facts: facts("/srv/contracts", "2026-11-16 09:12")},
		{Name: "app-docs", State: wire.Active, Facts: append([]ui.Pair{{Key: "Repository", Value: "docs of app at main", Mono: true},
			{Key: "Commit", Value: "9f2c1a7be04d5568c1f0e2b7a3d49c8812ab77e0", Mono: true, Copy: true}}, facts("", "2026-11-16 09:30")[1:]...)},
		{Name: "manual", State: wire.Active, Reason: "example.org answers 503 Service Unavailable for its robots.txt", Facts: append([]ui.Pair{
			{Key: "Address", Value: "https://example.org/manual/", Mono: true, Copy: true},
			{Key: "Links", Value: "followed 2 deep, at most 50 pages"}}, facts("", "2026-11-15 18:00")[1:]...)},
	}, Preview: &PreviewView{Where: "/srv/minutes", Sample: "2026/10/monday.md\n2026/10/retro.docx",
		Facts: []ui.Pair{{Key: "Folder", Value: "/srv/minutes", Mono: true}, {Key: "Would be read", Value: "31 files, 2 MB"},
			{Key: "Formats", Value: "4 docx, 27 markdown"}, {Key: "Would be left out", Value: "1 file"}},
		Left: []BadRow{{"keys/id_ed25519", "it holds a key"}}}}
}
