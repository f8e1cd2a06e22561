package panel

import (
	"fmt"
	"strconv"
	"time"

	"tandem/internal/panel/ui"
	"tandem/internal/schedule/wire"
	"tandem/internal/told"
)

func copiesNav() page {
	return page{id: "copies", label: "Copies", href: "/panel/copies", icon: "copies", key: "g v", needs: string(wire.List),
		routes: func(p *Panel) {
			p.get("/panel/copies", (*visit).copies)
		}}
}

// CopiesView is what the server does by itself at set times, and what became of it. Where copies go is said on the server's own machine:
// they hold its keys, so the panel shows what to type and offers no form.
type CopiesView struct {
	Now  time.Time
	Rows []ScheduleRow
}

// ScheduleRow is one thing that is done at set times.
type ScheduleRow struct {
	Kind    wire.Kind
	When    string
	Failure string
	Facts   []ui.Pair
	Done    time.Time
	Failed  time.Time
	Next    time.Time
	Open    bool // copies are not locked
}

func (r ScheduleRow) title() string {
	if r.Kind == wire.Backup {
		return "Copies of everything"
	}
	return "Forgetting old payloads of the journal"
}

func (r ScheduleRow) state() (ui.Tone, string) {
	switch {
	case r.Failure != "":
		return ui.Bad, "failed"
	case r.Done.IsZero():
		return ui.Info, "not done yet"
	}
	return ui.Good, "done"
}

// backs says whether copies are made.
func (v CopiesView) backs() bool {
	for _, r := range v.Rows {
		if r.Kind == wire.Backup {
			return true
		}
	}
	return false
}

func scheduleRow(s wire.Schedule) ScheduleRow {
	row := ScheduleRow{Kind: s.Kind, When: s.When, Failure: s.Failure, Done: s.DoneAt, Failed: s.FailedAt, Next: s.Next,
		Open: s.Kind == wire.Backup && s.Recipient == ""}
	if s.Kind == wire.Backup {
		row.Facts = []ui.Pair{{Key: "Into", Value: s.Path, Mono: true, Copy: true}, {Key: "Kept", Value: plural(s.Keep, "copy", "copies")},
			{Key: "Repositories", Value: s.Repos}}
		if s.Recipient != "" {
			row.Facts = append(row.Facts, ui.Pair{Key: "Locked to", Value: s.Recipient, Mono: true})
		}
	} else {
		row.Facts = []ui.Pair{{Key: "Older than", Value: strconv.FormatInt(s.OlderThan, 10) + " hours"}}
	}
	row.Facts = append(row.Facts, ui.Pair{Key: "Set by", Value: told.By(s.By)}, ui.Pair{Key: "Set", Value: ui.Stamp(s.MadeAt)},
		ui.Pair{Key: "Grant", Value: s.Grant, Mono: true})
	return row
}

func (v *visit) copies() error {
	list, err := ask(v, wire.List, struct{}{})
	if err != nil {
		return err
	}
	out := CopiesView{Now: v.now()}
	for _, s := range list.Schedules {
		out.Rows = append(out.Rows, scheduleRow(s))
	}
	return v.show(copiesPage(v.shell("copies", "Copies"), out))
}

// removes is what is typed to have something done no longer.
func (r ScheduleRow) removes() string { return fmt.Sprintf("tandem server schedule remove %s", r.Kind) }
