package approval

import (
	"encoding/json"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/told"
)

// State is where an ask stands.
type State string

// The states; see the package comment for the ways between them.
const (
	Pending   State = "pending"
	Approved  State = "approved"
	Rework    State = "rework"
	Cancelled State = "cancelled"
	Expired   State = "expired"
	Spent     State = "spent"
)

// Who ended an ask that no person answered.
const (
	Withdrawn = "withdrawn" // its asker: it was settled elsewhere
	Abandoned = "abandoned" // nobody: what waited for the answer is gone
)

// How long an ask waits for an answer, and how long an approval waits to be used.
const (
	Patience  = 24 * time.Hour
	ShelfLife = time.Hour
)

// Limits of what people write and read.
const (
	MaxFeedback = 8 << 10
	// MaxShown is how large a call may be that a person is asked about. What cannot be shown whole is refused unasked.
	MaxShown = 256 << 10
	// MaxCommand is how long a command line may be that a person is asked about.
	MaxCommand = 16 << 10
	// MaxListed is how much of a call's arguments a list carries; the ask itself has them whole.
	MaxListed = 16 << 10
	// MaxPending is how many unanswered asks one asker may have, so that nobody drowns the inbox.
	MaxPending = 200
	// MaxOwn is how many an actor of the house may have that acts for people by itself, as an automation does with a run at each of them.
	MaxOwn = 2000
	// MaxFrom is how many of them come from one source, where many are one asker: those whom nobody knows yet.
	MaxFrom = 20
)

// Settles is how long an ask of a source is safe from the next ones of the same source.
const Settles = 10 * time.Minute

// Ask is one call that waits for an answer.
type Ask struct {
	ID        string          `json:"id"`
	Tenant    string          `json:"-"`
	State     State           `json:"state" jsonschema:"pending, approved, rework, cancelled, expired or spent"`
	Op        string          `json:"op" jsonschema:"the operation that was called"`
	Resource  string          `json:"resource" jsonschema:"what it touches, as kind:/path"`
	Digest    string          `json:"digest" jsonschema:"SHA-256 of the exact call; the answer is bound to it"`
	Input     json.RawMessage `json:"input" jsonschema:"the call's arguments, without secrets"`
	AskerID   string          `json:"asker_id"`
	Asker     string          `json:"asker" jsonschema:"the name of who asks"`
	AskerKind op.Kind         `json:"asker_kind"`
	For       []string        `json:"for,omitempty" jsonschema:"on whose behalf, nearest first"`
	Session   string          `json:"session,omitempty"`
	From      string          `json:"from,omitempty" jsonschema:"where an asker comes from whom nobody knows yet: an address, or the tunnel"`
	Called    string          `json:"called,omitempty" jsonschema:"the session's name, as people know it"`
	Reason    string          `json:"reason" jsonschema:"why an answer is needed"`
	By        string          `json:"by,omitempty" jsonschema:"the grant or rule that says so"`
	Approvers []string        `json:"approvers" jsonschema:"who may answer; person:* is any person who may decide"`
	Needs
	Answers   []Answer   `json:"answers,omitempty" jsonschema:"who agreed, and how they showed that they are here"`
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt time.Time  `json:"expires_at"`
	DecidedAt *time.Time `json:"decided_at,omitempty"`
	DecidedBy string     `json:"decided_by,omitempty"`
	Feedback  string     `json:"feedback,omitempty"`
	SpentAt   *time.Time `json:"spent_at,omitempty"`
	// Always is what a standing answer would let pass, in this session and in the call's folder.
	Always         string `json:"always,omitempty" jsonschema:"what always-here would let pass in this session"`
	AlwaysInFolder string `json:"always_in_folder,omitempty" jsonschema:"what always-here would let pass in the call's folder"`
	// Bound is what names in the call stood for when it was asked about. The digest covers it: when a name stands for something
	// else, it is another call.
	Bound []op.Bound `json:"bound,omitempty" jsonschema:"what names in the arguments stood for when it was asked; the approval holds for that alone"`
	// Successor, First, Title and Cut are made when an ask is read.
	Successor string   `json:"successor,omitempty" jsonschema:"of one ask that ended without an answer: the ask in which the same call waits now"`
	MayNot    string   `json:"may_not,omitempty" jsonschema:"of one ask that waits: why the person who reads it may not answer it"`
	MayDeny   bool     `json:"-"` // of one ask that waits: who reads it may say no, whatever a yes needs
	Gone      []string `json:"-"` // of a new ask: those that gave way to it
	First     *Page    `json:"first_page,omitempty" jsonschema:"of one ask: the first page of what is decided about; approval.page has the others"`
	Title     string   `json:"title,omitempty" jsonschema:"in a line what would be done: the beginning of a command, or the operation and what it touches"`
	Cut       bool     `json:"input_cut,omitempty" jsonschema:"the arguments are too long for a list: read the ask itself"`
}

// Who says who asks, as people read it: a terminal's ask is its person's terminal's, for nobody was proven.
func (a *Ask) Who() string { return told.Who(a.Asker, a.AskerKind == op.Local, a.For) }

// Verdict is an answer to an ask.
type Verdict string

// The three answers.
const (
	Approve  Verdict = "approve"
	SendBack Verdict = "rework"
	Cancel   Verdict = "cancel"
)

// CheckVerdict refuses an answer that says nothing.
func CheckVerdict(v Verdict, feedback string) error {
	switch {
	case v != Approve && v != SendBack && v != Cancel:
		return fault.New(fault.Invalid, "approval.decide", "%q is not an answer", v).WithNext("answer approve, rework or cancel")
	case v == SendBack && feedback == "":
		return fault.New(fault.Invalid, "approval.decide", "sending it back needs a word about what to change").WithNext(`add --feedback "…"`)
	case len(feedback) > MaxFeedback:
		return fault.New(fault.Invalid, "approval.decide", "the feedback has %d bytes; %d are allowed", len(feedback), MaxFeedback)
	}
	return nil
}

// Decide applies an answer. It says no to whoever may not give it, and to every answer to what is settled. named says whom the approvers
// name now.
func (a *Ask) Decide(by op.Caller, in DecideIn, now time.Time, named Named) (*Ask, error) {
	v, feedback := in.Verdict, in.Feedback
	if err := CheckVerdict(v, feedback); err != nil {
		return nil, err
	}
	if err := a.mayAnswer(by, named); err != nil {
		return nil, err
	}
	a = a.At(now)
	if a.State != Pending {
		return nil, a.settled()
	}
	if v == Approve && unseen(a.Input) {
		return nil, fault.New(fault.Conflict, "approval.decide",
			"%s was filed by an older program, which kept only its beginning: nobody can look at it whole", a.ID).
			WithNext("cancel it; the asker asks anew")
	}
	if err := a.looked(in.Digest, in.Pages, v == Approve); err != nil {
		return nil, err
	}
	if v == Approve {
		next, err := a.answered(by, now, named)
		if err == nil {
			next.Feedback = feedback
		}
		return next, err
	}
	next := *a
	next.DecidedBy, next.Feedback, next.DecidedAt = by.Name, feedback, &now
	if next.State = Cancelled; v == SendBack {
		next.State = Rework
	}
	return &next, nil
}

func (a *Ask) mayAnswer(by op.Caller, named Named) error {
	switch {
	case by.Kind != op.Person:
		return fault.New(fault.Denied, "approval.decide", "only a person answers an ask, and %s is %s", by.Name, by.Kind.Words())
	case by.Door == op.DoorMCP:
		return fault.New(fault.Denied, "approval.decide", "only a person answers an ask, and over MCP it may be a model that speaks")
	case by.Present == "" && !by.Decides:
		return fault.New(fault.Denied, "approval.decide", "answering needs a person who is present").
			WithNext("answer on a terminal with the PIN, or in the panel with a passkey")
	case by.Actor == a.AskerID:
		return fault.New(fault.Denied, "approval.decide", "whoever asks does not answer").WithNext("ask one of them: %s", a.Answerers())
	}
	if _, ok := named(a.Approvers, by.Name); !ok { // a no needs nothing but somebody who may answer
		return fault.New(fault.Denied, "approval.decide", "%s may not answer this one", by.Name).WithNext("ask one of them: %s", a.Answerers())
	}
	return nil
}

// At is the ask as it stands at a time: what nobody answered or used in time is expired.
func (a *Ask) At(now time.Time) *Ask {
	if (a.State == Pending || a.State == Approved) && !now.Before(a.ExpiresAt) {
		b := *a
		b.State = Expired
		return &b
	}
	return a
}

// Unanswered says that it ended without a person's answer, though its time was not over.
func (a *Ask) Unanswered() bool {
	return a.State == Cancelled && (a.DecidedBy == Withdrawn || a.DecidedBy == Abandoned)
}

// Stands says whether the same call finds this ask again.
func (a *Ask) Stands(now time.Time) bool {
	return a.State != Spent && a.State != Expired && now.Before(a.ExpiresAt)
}

// settled is what somebody hears who answers too late.
func (a *Ask) settled() error {
	if a.DecidedBy == "" {
		return fault.New(fault.Conflict, "approval.decide", "%s expired at %s", a.ID, a.ExpiresAt.Format(time.RFC3339)).
			WithNext("repeat the call to ask again")
	}
	if a.Unanswered() {
		f := fault.New(fault.Conflict, "approval.decide", "%s ended before an answer came: %s", a.ID, a.Feedback).With("decided_by", a.DecidedBy)
		if a.Successor != "" {
			return f.With("successor", a.Successor).WithNext("the same call waits in another ask: tandem approvals approve %s", a.Successor)
		}
		return f.WithNext("where the work goes on, it asks anew: tandem approvals")
	}
	return fault.New(fault.Conflict, "approval.decide", "%s was answered already: %s by %s", a.ID, a.State, a.DecidedBy).With("decided_by",
		a.DecidedBy)
}

// Answer is what the asker hears when its call finds a standing ask that does not let it pass.
func (a *Ask) Answer() *fault.Error {
	switch a.State {
	case Rework:
		return fault.New(fault.Denied, a.Op, "%s sent this back: %s", a.DecidedBy, a.Feedback).With("approval", a.ID).
			WithNext("change it as asked and try again; the same call is refused until %s", a.ExpiresAt.Format(time.RFC3339))
	case Cancelled:
		f := fault.New(fault.Denied, a.Op, "%s said no", a.DecidedBy)
		if a.Feedback != "" {
			f = fault.New(fault.Denied, a.Op, "%s said no: %s", a.DecidedBy, a.Feedback)
		}
		return f.With("approval", a.ID).WithNext("do something else; the same call is refused until %s", a.ExpiresAt.Format(time.RFC3339))
	}
	why := a.Reason
	if len(a.Answers) > 0 {
		why += "; " + a.Answers[0].By + " agreed, and somebody else has to, too"
	}
	return fault.New(fault.Pending, a.Op, "%s waits for an approval (%s): %s", a.Op, a.ID, why).With("approval", a.ID).
		WithNext("a person answers in the panel or with: tandem approvals approve %s; then repeat the same call", a.ID)
}
