package panel

import (
	"time"

	"tandem/internal/artifact/wire"
	"tandem/internal/panel/ui"
	"tandem/internal/unified"
)

func sampleArtifacts() ArtifactsView {
	return ArtifactsView{Now: galleryNow, Rows: []*wire.Artifact{
		{Name: "weekly.deck.slides", Version: 12, Kind: "pptx", Size: 48_213, MadeAt: before(2 * time.Hour)},
		{Name: "weekly.draft.report", Version: 12, Kind: "markdown", Size: 2_410, MadeAt: before(2 * time.Hour)},
		{Name: "vendor-risk.write.brief", Version: 3, Kind: "html", Size: 9_120, MadeAt: before(50 * time.Hour)}}}
}

func sampleArtifact() ArtifactView {
	return ArtifactView{Now: galleryNow, Name: "weekly.draft.report", Version: 12, Kind: "markdown",
		Text:    "# Week 42\n\nTwelve tasks are done.\n",
		Against: 11, Changes: unified.Parse("--- report\n+++ report\n@@ -1,3 +1,3 @@\n-# Week 41\n+# Week 42\n \n Twelve tasks are done.\n"),
		Versions: []*wire.Artifact{{Name: "weekly.draft.report", Version: 12, Kind: "markdown", Size: 2_410, MadeAt: before(2 * time.Hour)},
			{Name: "weekly.draft.report", Version: 11, Kind: "markdown", Size: 2_396, MadeAt: before(170 * time.Hour)}},
		Facts: []ui.Pair{{Key: "Kind", Value: "markdown, 2.4 KiB"}, {Key: "Made by", Value: "automation.weekly, a model had a hand in it"},
			{Key: "Node", Value: "draft, attempt 1"}, {Key: "Passed", Value: "sections, no-secrets"}}}
}
