package panel

import (
	"time"

	"tandem/internal/contextrun/wire"
	"tandem/internal/panel/ui"
)

func sampleContexts() ContextsView {
	return ContextsView{Now: galleryNow, Rows: []*wire.Run{
		{ID: "ctx_01k5z8", Objective: "Ship version 3", Status: wire.Running, Kind: "interactive", MovedAt: before(2 * time.Minute)},
		{ID: "release-2", Objective: "Ship version 2", Status: wire.Completed, Kind: "interactive", MovedAt: before(50 * time.Hour)},
		{ID: "ctx_01k4b2", Objective: "Why is the query slow?", Status: wire.Awaiting, Kind: "investigation", MovedAt: before(72 * time.Hour)}}}
}

func sampleContext() ContextView {
	ends := galleryNow.Add(time.Minute)
	return ContextView{Now: galleryNow, ID: "ctx_01k5z8", Status: wire.Running, Text: "Ship version 3 to everybody.",
		Waits: "of 2 tasks 1 wait for others, 1 are held",
		Facts: []ui.Pair{{Key: "Kind", Value: "interactive"}, {Key: "Begun by", Value: "builder"}, {Key: "Revision", Value: "4, after 9 events"}},
		Steps: []wire.Step{{ID: "build", Title: "Build", Stage: wire.Done}, {ID: "ship", Title: "Ship it", Stage: wire.InProgress}},
		Tasks: []*wire.Task{{ID: "r1", Kind: "review", Stage: wire.InProgress, Holder: "reviewer", Attempt: 1, MaxAttempts: 3, LeaseEnds: &ends},
			{ID: "m1", Kind: "merge", Stage: wire.Pending, Waits: 1, After: []string{"r1"}}},
		Board: []ui.Pair{{Key: "Fact", Value: "the tag is v3"}, {Key: "Decision", Value: "no migration in this version"}},
		Happened: []ui.Moment{{Tone: ui.Info, Icon: "automation", Title: "context.task.started", Detail: "r1", Who: "reviewer",
			At: before(2 * time.Minute)}}}
}
