package panel

import (
	"time"

	"tandem/internal/panel/ui"
	"tandem/internal/schedule/wire"
)

// Sample data for the page about copies.

func sampleCopies() CopiesView {
	return CopiesView{Now: galleryNow, Rows: []ScheduleRow{
		{Kind: wire.Backup, When: "every day at 3:00", Failure: "no space left on /mnt/copies", Done: before(31 * time.Hour),
			Failed: before(7 * time.Hour), Next: after(17 * time.Hour), Open: true,
			Facts: []ui.Pair{{Key: "Into", Value: "/mnt/copies", Mono: true, Copy: true}, {Key: "Kept", Value: "14 copies"},
				{Key: "Repositories", Value: "content"}, {Key: "Set by", Value: "owner"}, {Key: "Grant", Value: "grt_01jcq2v7m3", Mono: true}}},
		{Kind: wire.Forget, When: "every day at 3:00", Done: before(7 * time.Hour), Next: after(17 * time.Hour),
			Facts: []ui.Pair{{Key: "Older than", Value: "8760 hours"}, {Key: "Set by", Value: "owner"}}},
	}}
}
