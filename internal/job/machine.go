package job

import (
	"fmt"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/foreign"
	"tandem/internal/job/wire"
	"tandem/internal/op"
)

// Job is a job as it is stored: what people see of it, and what comes next.
type Job struct {
	wire.Job
	Tenant string `json:"-"`
	Home   string `json:"-"` // which of a cluster's servers has it; "" for the first

	state, body string // as they are in the database
	unread      bool   // the body cannot be read

	Try  int64  `json:"try,omitempty"`  // how often a workspace was begun
	Seat string `json:"seat,omitempty"` // the name of the session and of the workspace
	// Opening says that this try was begun, and nobody has written down what came of it.
	Opening bool   `json:"opening,omitempty"`
	Branch  string `json:"branch,omitempty"`  // of the workspace
	Work    string `json:"work,omitempty"`    // where in the workspace the agent works
	Prompt  string `json:"prompt,omitempty"`  // what the agent is told next, or was told last
	Flight  string `json:"flight,omitempty"`  // the turn under way
	Tip     string `json:"tip,omitempty"`     // where the branch that it is for stood before the turn
	Said    string `json:"said,omitempty"`    // what people said meanwhile
	Cut     int64  `json:"cut,omitempty"`     // how often something cut this turn off
	Limited int64  `json:"limited,omitempty"` // how often its provider refused this turn for its rate
	Rounds  int64  `json:"rounds,omitempty"`  // how often this turn was ended because its agent made one call again and again
	// RedTrees are the files on which the check was red since somebody said something: an agent that hands them in again goes in circles.
	RedTrees []string `json:"red_trees,omitempty"`
	// Hush says that turns of its session have to end before anything else is done.
	Hush bool `json:"hush,omitempty"`
	// Before is where a stopped job stood.
	Before  wire.State `json:"before,omitempty"`
	Discard bool       `json:"discard,omitempty"` // its workspace is to go, though it was not merged
	Stays   bool       `json:"stays,omitempty"`   // its workspace could not be taken away

	Look  *look `json:"look,omitempty"`  // another agent's review that is under way
	Looks int64 `json:"looks,omitempty"` // how often one was asked for

	Views []viewed `json:"views,omitempty"` // who looked at all of which commit, the newest last

	Storey int64  `json:"storey,omitempty"` // how many jobs of its stack were below it
	Ground string `json:"ground,omitempty"` // what the job below became, while its workspace does not hold that

	Locks []string `json:"locks,omitempty"` // digests of the lock files that wait for a person's word

	Caller op.Caller `json:"caller"`
	// Voices are those whose comments wait: the agent acts on their words once it has heard them.
	Voices [][]string `json:"voices,omitempty"`
}

// Limits of a job.
const (
	MaxTask        = 64 << 10
	DefaultBound   = 3
	MaxBound       = 20
	DefaultSeconds = 600
	MaxSeconds     = 3600
)

// Event is something that happened to a job.
type Event struct {
	Kind Kind
	// Placed
	Task, Space, Folder string
	// Opened; the base also of Remade, Conflict and Landed; session and agent also of TookOver, the agent also of Told and Resume
	Repo, Base, Onto, Path, Branch, Work, Session, Agent string
	Unsaved                                              int64
	// Opened, Returned, Failed, Landed: where the branch stands
	Tip string
	// Prompted, Ended, Remade, Merged, Landed
	Turn, Commit, Ref, Next, By string
	// Failed, Told, Stop, Conflict
	Text string
	// Checked
	Own, ByBase *wire.Evidence
	Altered     []string
	Tree        string // git's name for the files of the commit
	Discard     bool
	// Ended, Failed, WasCut, Hushed
	Moved []wire.Moved
	// Failed: its turn may still be under way
	Running bool
	// Failed: no other agent takes it over
	Untaken bool
	// Failed: lock files that wait for a person's word
	Lock  *wire.Lock
	Locks []string
	// Told: with all comments; Ended: those whose lines changed
	Sent     bool
	Answered []int64
	// Queue, Ranked
	Priority int64
	// Limited: when it is tried again
	Later time.Time
	// Reviewed
	Says wire.Opinion
}

// Kind names an event.
type Kind string

// The events.
const (
	Placed   Kind = "placed"   // what is to be done, and where, is known
	Carded   Kind = "carded"   // the card of its task says what became of it
	Opened   Kind = "opened"   // workspace and session are there
	Prompted Kind = "prompted" // the agent has its words
	WasCut   Kind = "cut"      // a restart, or the end of its program, ended the turn
	Limited  Kind = "limited"  // the provider refused the turn for its rate
	Circled  Kind = "circled"  // the turn was ended: its agent made the same call again and again
	Ended    Kind = "ended"    // the turn ended, and this commit holds what it left
	Failed   Kind = "failed"   // what was tried did not work
	Checked  Kind = "checked"  // the check ran
	Returned Kind = "returned" // what was sent back is on its way to the agent
	Told     Kind = "told"     // a person has something to say
	Allowed  Kind = "allowed"  // a person said that what lock files name is fetched
	Recheck  Kind = "recheck"  // a person wants the check to run again
	Remade   Kind = "remade"   // the branch moved, and this commit holds both
	Conflict Kind = "conflict" // the branch moved, and the two do not go together
	Merge    Kind = "merge"    // a person said so, and it is done
	Pulled   Kind = "pulled"   // its pull request was merged at a forge
	Stop     Kind = "stop"
	Resume   Kind = "resume"
	Seated   Kind = "seated" // another agent is about to be opened
	TookOver Kind = "took over"
	Hushed   Kind = "hushed"  // the turn of a stopped job is over
	Unended  Kind = "unended" // it is not, and could not be ended
	Gone     Kind = "gone"    // the workspace is gone
	Stuck    Kind = "stuck"   // the workspace cannot be taken away
)

// Apply moves the job, or says why the event does not fit where it stands.
func (j *Job) Apply(e Event, now time.Time) error {
	was := j.State
	switch e.Kind {
	case Look, LookOpens, LookOpened, LookAsked, Reviewed, Overlooked:
		return j.review(e, now)
	}
	if !j.stacked(e) && !j.queued(e, now) {
		if err := j.apply(e); err != nil {
			return err
		}
	}
	if j.heard(e); j.State != wire.Stopped {
		j.Lock, j.Locks = nil, nil
	} else if e.Kind == Failed {
		j.Lock, j.Locks = e.Lock, e.Locks
	}
	if j.Moved = append(j.Moved, e.Moved...); len(j.Moved) > maxMovedInAll {
		j.Moved = append(j.Moved[:maxMovedInAll:maxMovedInAll], wire.Moved{Ref: "(and more)"})
	}
	if j.State != was {
		j.MovedAt = now
	}
	return nil
}

func (j *Job) apply(e Event) error {
	switch e.Kind {
	case Stop:
		return j.stop(e)
	case Resume:
		if err := j.hands(e.Agent); err != nil {
			return err
		}
		return j.resume()
	case Told:
		if err := j.hands(e.Agent); err != nil {
			return err
		}
		return j.told(e.Text)
	case Hushed:
		j.Flight, j.Hush, j.Unended = "", false, ""
		return nil
	case Unended:
		j.Unended = e.Text
		return nil
	case Gone:
		j.Path, j.Work, j.Branch, j.Discard, j.Opening = "", "", "", false, false
		return nil
	case Stuck:
		j.Stays, j.Reason = true, e.Text
		return nil
	case Carded:
		j.Card = e.Text
		return nil
	}
	switch from := j.State; {
	case from == wire.Planned && e.Kind == Placed && j.sought():
		j.place(e)
	case from == wire.Planned && e.Kind == Opened:
		j.opened(e)
		j.begin(j.first())
	case from == wire.Stopped && j.Before == wire.Planned && j.Opening && e.Kind == Opened: // a resume goes on there
		j.opened(e)
		j.Before, j.Prompt = wire.SentBack, j.first()
	case from == wire.Working && e.Kind == Seated && j.Flight == "" && j.Taker != "":
		j.Try++
		j.Seat = j.seat(j.Try)
	case from == wire.Working && e.Kind == TookOver && j.Flight == "" && j.Taker != "":
		j.takenOver(e)
	case from == wire.Working && e.Kind == Prompted && j.Flight == "":
		j.Flight, j.Later, j.Reason = e.Turn, time.Time{}, ""
	case from == wire.Working && e.Kind == WasCut && j.Flight != "":
		j.cut(e.Text)
	case from == wire.Working && e.Kind == Limited && j.Flight != "":
		j.limited(e)
	case from == wire.Working && e.Kind == Circled && j.Flight != "":
		j.circled(e.Text)
	case from == wire.Working && e.Kind == Ended && j.Flight != "":
		j.ended(e.Commit)
	case from == wire.Checking && e.Kind == Checked && e.Own != nil:
		j.checked(e)
	case from == wire.SentBack && e.Kind == Returned:
		j.Tip = e.Tip
		j.begin(j.Prompt)
	case (from == wire.Planned || from == wire.Working || from == wire.Checking || from == wire.SentBack) && e.Kind == Failed:
		if e.Tip != "" {
			j.Tip = e.Tip // said once
		}
		if e.Untaken {
			j.Taker = ""
		}
		j.fail(e.Text)
		j.Hush = j.Hush || e.Running
	case from == wire.Stopped && e.Kind == Allowed && j.Lock != nil && j.Lock.Digest == e.Text && j.Path != "" && j.Commit != "":
		j.State, j.Reason, j.Before, j.StoppedBy = wire.Checking, "", "", ""
	case (from == wire.Review || from == wire.Stopped) && e.Kind == Recheck && j.Commit != "" && j.Check != "" && j.Path != "":
		j.Reds, j.Reason, j.RedTrees = 0, "", nil
		j.State = wire.Checking
	case from == wire.Review && e.Kind == Remade:
		j.Reason = "the " + j.beneath(e.Base) + " moved: this is both together, and needs another look"
		j.based(e.Base) // what came in from the branch is not the job's
		j.take(e.Commit)
	case from == wire.Review && e.Kind == Conflict:
		j.based(e.Base)
		j.back(e.Text)
	case (from == wire.Review || from == wire.Stopped) && e.Kind == Pulled && e.Commit == j.Commit &&
		j.Commit != "" && !j.hushes():
		j.State, j.Reason, j.Ref, j.Next, j.MergedBy, j.Elsewhere = wire.Merged, "", e.Ref, "", e.By, e.Text
		j.Held = false
	case from == wire.Review && e.Kind == Merge && e.Commit == j.Commit && j.Verdict != wire.Red && !j.Held:
		j.State, j.Reason, j.Ref, j.Next, j.MergedBy = wire.Merged, "", e.Ref, e.Next, e.By
	default:
		return fault.New(fault.Conflict, "job", "this cannot be done now: the job is %s", from).
			WithNext("see where it stands: tandem job show %s", j.ID)
	}
	return nil
}

// sought says that what is to be done, or where, has yet to be asked for.
func (j *Job) sought() bool { return j.Task == "" || j.Folder == "" }

func (j *Job) place(e Event) {
	if j.Board() && j.Task == "" {
		j.Space, j.Card = e.Space, taken
	}
	if j.From != "" && j.Task == "" {
		j.Task = e.Task
	}
	if j.Named != "" {
		j.Folder = e.Folder
	}
}

func (j *Job) opened(e Event) {
	j.Repo, j.Onto, j.Path, j.Branch = e.Repo, e.Onto, e.Path, e.Branch
	j.based(e.Base)
	j.Work, j.Session, j.Agent, j.Tip, j.Opening = e.Work, e.Session, e.Agent, e.Tip, false
	j.Unsaved = e.Unsaved
}

// based says what the job is the difference to from now on.
func (j *Job) based(base string) {
	if j.Base = base; j.Ground == base {
		j.Ground = ""
	}
}

// begin has the agent told something next.
func (j *Job) begin(prompt string) {
	j.State, j.Reason, j.Prompt, j.Flight, j.Cut, j.Limited, j.Rounds, j.Later = wire.Working, "", prompt, "", 0, 0, 0, time.Time{}
	j.Turns++
}

// back has the agent told what is wrong.
func (j *Job) back(prompt string) {
	if j.Said != "" {
		prompt += "\n\nA person says:\n" + j.Said
	}
	j.State, j.Reason, j.Prompt, j.Flight, j.Said = wire.SentBack, "", prompt, "", ""
}

func (j *Job) fail(why string) {
	j.Before, j.State, j.Reason, j.Flight, j.StoppedBy, j.Later = j.State, wire.Stopped, why, "", "", time.Time{}
}

func (j *Job) ended(commit string) {
	j.Flight = ""
	switch {
	case commit == j.Base && j.Said == "":
		j.fail("the agent changed nothing")
	case j.Said != "":
		said := j.Said
		j.Said = ""
		j.back("A person says:\n" + said)
	default:
		j.take(commit)
	}
}

// take has a commit checked, where there is a check.
func (j *Job) take(commit string) {
	if commit != j.Commit {
		j.Verdict, j.ByBase, j.Altered = wire.Unchecked, "", nil
	}
	j.Commit = commit
	if j.Check == "" {
		j.State = wire.Review
		return
	}
	j.State = wire.Checking
}

func (j *Job) checked(e Event) {
	j.Verdict, j.Altered, j.ByBase = e.Own.Verdict, e.Altered, ""
	if e.ByBase != nil {
		j.ByBase = e.ByBase.Verdict
	}
	if j.Verdict == wire.Green {
		j.Reds, j.RedTrees = 0, nil
		if j.Said != "" {
			j.back("The check passed.")
			return
		}
		j.State = wire.Review
		return
	}
	if e.Own.Lacks != "" {
		j.fail(lacks(e.Own.Lacks) + " " + j.ID)
		j.Verdict = wire.Unchecked // a resume checks it again
		return
	}
	j.Reds++
	said := red(e.Own)
	switch {
	case j.Reds >= j.Bound:
		j.fail(fmt.Sprintf("the check is red after try %d of %d", j.Reds, j.Bound))
		j.Prompt = said
	case j.handedIn(e.Tree):
		j.fail("the agent goes round in circles: it handed in the same files again, and the check is as red on them as before")
		j.Prompt = said
	default:
		j.back(said)
	}
}

// red is what the agent hears of a red check.
func red(e *wire.Evidence) string {
	how := fmt.Sprintf("exit code %d", e.Exit)
	if e.Late {
		how = "it took too long and was ended"
	}
	if e.Full {
		how = "it wrote too much to the disk and was ended"
	}
	said := "the end of its output:\n" + foreign.Mark("output", "check", e.Output)
	if e.Kept { // a number of the agent's choosing, or how it ended, would tell of them as well
		how, said = "it is red", "its output and how it ended are not shown to you: the commit holds files that you may not see"
	}
	return fmt.Sprintf("Tandem ran the check on your work, on a clean checkout of commit %.12s, without the network. It failed: %s.\n\n"+
		"command: %s\n\n%s\n\nMend the cause, and end your turn: tandem runs the check again. Do not weaken the check.",
		e.Commit, how, e.Command, said)
}

// first is the agent's first prompt.
func (j *Job) first() string {
	var b strings.Builder
	b.WriteString(j.Task)
	b.WriteString("\n\nYou work in a checkout of your own. ")
	if j.Held {
		b.WriteString("It begins with the work of another job, which is not merged yet: build on it, and leave it as it is. ")
	}
	b.WriteString("When you end your turn, tandem commits what you changed")
	if j.Check != "" {
		fmt.Fprintf(&b, " and runs this check on a clean checkout, without the network: %s", j.Check)
	}
	b.WriteString(". A person reviews it then. End by saying in a few words what you did, and what is open.")
	return b.String()
}

func (j *Job) told(text string) error {
	switch j.State {
	case wire.Working, wire.Checking, wire.SentBack:
		if len(j.Said)+len(text) > MaxTask {
			return fault.New(fault.Exhausted, "job.send", "the agent has %d bytes to hear already, and hears %d at once", len(j.Said), MaxTask).
				WithNext("wait for the end of its turn: tandem job wait %s", j.ID)
		}
		j.Said = strings.TrimPrefix(j.Said+"\n"+text, "\n")
		return nil
	case wire.Review, wire.Queued, wire.Stopped:
		if j.Session == "" || j.Path == "" {
			break
		}
		j.Reds, j.StoppedBy, j.RedTrees = 0, "", nil
		if j.State == wire.Stopped && j.Turns < 2 && j.Commit == "" { // it may not have heard its task
			text = j.first() + "\n\nA person says:\n" + text
		}
		j.back(text)
		return nil
	}
	return fault.New(fault.Conflict, "job.send", "the job is %s: nobody works on it", j.State).
		WithNext("see where it stands: tandem job show %s", j.ID)
}

func (j *Job) stop(e Event) error {
	switch {
	case j.State == wire.Merged:
		return fault.New(fault.Conflict, "job.stop", "the job is merged already").WithNext("see it: tandem job show %s", j.ID)
	case j.State == wire.Stopped && !e.Discard:
		return nil
	}
	if j.State != wire.Stopped {
		flight, works := j.Flight, j.State == wire.Working // its words may be on their way
		j.fail(e.Text)
		j.Flight, j.Hush, j.StoppedBy = flight, j.Hush || works, e.By
	}
	j.Discard = j.Discard || e.Discard
	return nil
}

const goOn = "Your last turn was stopped. Look at what is done already, and go on from there.\n\n"

func (j *Job) resume() error {
	switch {
	case j.State != wire.Stopped:
		return fault.New(fault.Conflict, "job.resume", "the job is %s, and not stopped", j.State).
			WithNext("see where it stands: tandem job show %s", j.ID)
	case j.Discard || j.Session != "" && j.Path == "":
		return fault.New(fault.Conflict, "job.resume", "its workspace was discarded").WithNext("start another one: tandem job start TASK")
	}
	before := j.Before
	j.Before, j.Reds, j.Reason, j.Stays, j.Flight, j.StoppedBy, j.RedTrees = "", 0, "", false, "", "", nil
	switch before {
	case wire.Working:
		j.begin(goOn + strings.TrimPrefix(j.Prompt, goOn))
	case wire.Checking:
		if j.Verdict == wire.Red { // it was red too often
			j.back(j.Prompt)
			break
		}
		j.State = wire.Checking
	case wire.SentBack, wire.Review:
		j.State = before
	case wire.Queued: // it was taken out, and is to be queued again
		j.look("")
	default:
		j.State = wire.Planned
	}
	return nil
}
