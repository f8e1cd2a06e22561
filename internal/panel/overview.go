package panel

import (
	"time"

	"tandem/internal/panel/ui"
)

// OverviewView is what the first page shows: what waits, what happened, and
// whether the house is in order.
type OverviewView struct {
	Now      time.Time
	Waiting  []AskRow
	Pending  int
	Actors   int
	Active   int // actors seen in the last hour
	Today    int64
	PerHour  []int // events in each of the last 48 hours
	Size     int64 // entries in the journal
	Sealed   time.Time
	Recent   []ui.Moment
	Health   []ui.Pair
	Problems []Check
	Steps    []SetupStep
}

// SetupStep is something a new installation still wants done.
type SetupStep struct {
	Done    bool
	Title   string
	Detail  string
	Command string
	Href    string
}

func (v OverviewView) stepsLeft() int {
	n := 0
	for _, s := range v.Steps {
		if !s.Done {
			n++
		}
	}
	return n
}

func (v OverviewView) pendingTone() ui.Tone {
	if v.Pending > 0 {
		return ui.Warn
	}
	return ui.Quiet
}

func (v OverviewView) pendingNote() string {
	switch v.Pending {
	case 0:
		return "nothing waits for you"
	case 1:
		return "one waits for an answer"
	}
	return "wait for an answer"
}

func (v OverviewView) sealedNote() string {
	if v.Sealed.IsZero() {
		return "nothing is signed yet"
	}
	return "the journal is signed up to here"
}
