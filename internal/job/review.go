package job

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"

	"tandem/internal/fault"
	"tandem/internal/foreign"
	"tandem/internal/job/wire"
)

// Bounds of reviews by other agents.
const (
	maxReviews    = 20
	maxReviewed   = 8 << 10  // of what a reviewer says
	maxReviewDiff = 40 << 10 // of the diff that it is shown; it finds the rest in its checkout
	reviewLasts   = 30 * time.Minute
)

// look is a review by another agent that is under way.
type look struct {
	By      string    `json:"by"`
	Commit  string    `json:"commit"`
	AskedBy string    `json:"asked_by"`
	At      time.Time `json:"at"`
	Try     int64     `json:"try,omitempty"`  // how often a session was begun
	Seat    string    `json:"seat,omitempty"` // the name of that session, and of its checkout where it is a program
	Session string    `json:"session,omitempty"`
	Turn    string    `json:"turn,omitempty"`
}

// The events of a review.
const (
	Look       Kind = "look"        // somebody wants another agent's review
	LookOpens  Kind = "look opens"  // its session is about to be opened
	LookOpened Kind = "look opened" // it is there
	LookAsked  Kind = "look asked"  // the reviewer has its words
	Reviewed   Kind = "reviewed"    // what came of it
	Overlooked Kind = "overlooked"  // nobody wants it any more
)

// review takes an event of a review. The job stays where it is: a review is nobody's approval.
func (j *Job) review(e Event, now time.Time) error {
	switch {
	case e.Kind == Look && j.State == wire.Review && j.Look == nil && j.Path != "" && j.Commit == e.Commit:
		j.Look, j.Reviewer = &look{By: e.Agent, Commit: j.Commit, AskedBy: e.By, At: now}, cmp.Or(e.Agent, wire.DefaultReviewer)
		j.Looks = max(j.Looks, j.lastReview()) + 1
	case e.Kind == Look && j.State == wire.Review && j.Look != nil:
		return fault.New(fault.Conflict, "job.review", "%s looks at it already", j.Reviewer).WithNext("wait for it: tandem job show %s", j.ID)
	case e.Kind == Look && j.State == wire.Review:
		return fault.New(fault.Conflict, "job.review", "the job is another commit by now").WithNext("see it: tandem job show %s", j.ID)
	case j.Look == nil || e.Kind == Look:
		return fault.New(fault.Conflict, "job.review", "this cannot be done now: the job is %s", j.State).
			WithNext("see where it stands: tandem job show %s", j.ID)
	case e.Kind == LookOpens:
		j.Look.Try++
		j.Look.Seat = fmt.Sprintf("%s-look-%d-%d", Called(j.ID), j.Looks, j.Look.Try)
	case e.Kind == LookOpened:
		j.Look.Session = e.Session
		if e.Agent != "" {
			j.Look.By, j.Reviewer = e.Agent, e.Agent
		}
	case e.Kind == LookAsked:
		j.Look.Turn = e.Turn
	case e.Kind == Reviewed:
		j.Reviews = append(j.Reviews, wire.Reviewed{N: j.lastReview() + 1, By: j.Look.By, Commit: j.Look.Commit, Says: e.Says, Text: e.Text,
			Session: j.Look.Session, AskedBy: j.Look.AskedBy, At: now})
		j.Reviews = j.Reviews[max(0, len(j.Reviews)-maxReviews):]
		j.Look, j.Reviewer = nil, ""
	case e.Kind == Overlooked:
		j.Look, j.Reviewer = nil, ""
	}
	return nil
}

// lastReview is the number of the newest review; 0 when there is none.
func (j *Job) lastReview() int64 {
	if len(j.Reviews) == 0 {
		return 0
	}
	return j.Reviews[len(j.Reviews)-1].N
}

// wanted says whether the review that is under way is still about what the job is.
func (l *look) wanted(j *Job) bool { return j.State == wire.Review && j.Commit == l.Commit }

// asked is what a reviewer hears.
func asked(j *Job, diff wire.DiffOut) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Review a change that another agent made, and change nothing. Its task was:\n%s\n\n",
		foreign.Mark("task", "job", fault.Clip(j.Task, 16<<10)))
	fmt.Fprintf(&b, "This is the change, the commit %.12s on top of %.12s:\n%s\n", j.Commit, j.Base,
		foreign.Mark("diff", "job", fault.Clip(diff.Diff, maxReviewDiff)))
	if len(diff.Diff) > maxReviewDiff || diff.Cut {
		fmt.Fprintf(&b, "Its end is missing here. All files that it changes:\n%s\n", foreign.Mark("files", "job", changed(diff.Files)))
	}
	if j.Check != "" {
		fmt.Fprintf(&b, "Tandem ran its check on exactly this commit: it is %s.\n", j.Known())
	}
	b.WriteString("The files as they would be are in this checkout. Does the change do its task, is it right, and does it do nothing " +
		"else?\n\nBegin your answer with one of these words: GOOD when you would take it as it is, CHANGES when something has to change " +
		"first, UNSURE when you cannot tell. Then say why in a few lines, and what has to change: one line each, as FILE:LINE: what. " +
		"A person decides.")
	return b.String()
}

// changed names the first files of a change, one in a line.
func changed(files []wire.File) string {
	var lines []string
	for _, f := range files[:min(len(files), 200)] {
		lines = append(lines, fmt.Sprintf("%s (%s)", f.Path, f.How))
	}
	if len(files) > 200 {
		lines = append(lines, "and more")
	}
	return strings.Join(lines, "\n")
}

// opinion reads what a reviewer said. What begins with none of the words says nothing clear.
func opinion(said string) (wire.Opinion, string) {
	said = strings.TrimSpace(said)
	word, rest := said, ""
	if i := strings.IndexFunc(said, unicode.IsSpace); i >= 0 {
		word, rest = said[:i], strings.TrimSpace(said[i:])
	}
	switch strings.Trim(word, ":*.,") {
	case "GOOD":
		return wire.Good, fault.Clip(rest, maxReviewed)
	case "CHANGES":
		return wire.Changes, fault.Clip(rest, maxReviewed)
	case "UNSURE":
		return wire.Unclear, fault.Clip(rest, maxReviewed)
	}
	return wire.Unclear, fault.Clip(said, maxReviewed)
}
