package approval

import (
	"context"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// ListIn asks for an inbox.
type ListIn struct {
	State string `json:"state,omitempty" jsonschema:"pending (the default), approved, rework, cancelled, expired, spent, or all"`
	After string `json:"after,omitempty" jsonschema:"the id after which the page begins"`
	Limit int    `json:"limit,omitempty" jsonschema:"at most this many, 100 unless told, 1000 at most"`
}

// ListOut is a page of asks, oldest first.
type ListOut struct {
	Asks []*Ask `json:"asks"`
	More bool   `json:"more,omitempty"`
}

// IDIn names an ask.
type IDIn struct {
	ID string `json:"id" jsonschema:"the ask's id, ask_…"`
}

// WaitIn waits for an answer.
type WaitIn struct {
	ID      string `json:"id" jsonschema:"the ask's id, ask_…"`
	Timeout int    `json:"timeout_secs,omitempty" jsonschema:"give up after this long, 30 unless told, 300 at most"`
}

// WaitOut is the ask as it stands when the wait ends.
type WaitOut struct {
	Ask
	Answered bool `json:"answered" jsonschema:"false when the time ran out first"`
}

// DecideIn answers an ask.
type DecideIn struct {
	ID       string   `json:"id" jsonschema:"the ask's id, ask_…"`
	Verdict  Verdict  `json:"decision" jsonschema:"approve, rework or cancel"`
	Feedback string   `json:"feedback,omitempty" jsonschema:"a word to the asker; needed for rework"`
	Digest   string   `json:"digest,omitempty" jsonschema:"the digest of what was looked at: an approval needs it, and is refused when the ask is about something else"`
	Pages    []string `json:"pages,omitempty" jsonschema:"the digest of every page that was looked at, in order: an approval needs them all"`
}

func at(askID string) op.Resource { return op.Resource{Kind: "approval", Path: "/" + askID} }

// Ops is this room's front door.
func (r *Room) Ops() []op.Op {
	return append([]op.Op{
		AskList.Read(op.Spec{Right: "approval.read", Masked: true, Method: "GET", Path: "/approval",
			Doc: "List asks, oldest first: the inbox of what waits for an answer.\nAn agent or a session sees its own and " +
				"those of whoever acts for it."},
			func(ListIn) op.Resource { return at("") }, r.list),
		AskGet.Read(op.Spec{Right: "approval.read", Method: "GET", Path: "/approval/{id}",
			Doc: "Read one ask: what would be done, why it needs an answer, and who may give it."},
			func(in IDIn) op.Resource { return at(in.ID) }, r.get),
		AskPage.Read(op.Spec{Right: "approval.read", Method: "GET", Path: "/approval/{id}/page/{page}", MCP: "-",
			Doc: "Read one page of what an ask is about. An approval names the digest of every page."},
			func(in PageIn) op.Resource { return at(in.ID) }, r.page),
		AskContent.Read(op.Spec{Right: "approval.read", Method: "GET", Path: "/approval/{id}/content", MCP: "-",
			Doc: "Read the bytes of an argument that is not text, to open them with a program that knows their kind."},
			func(in ContentIn) op.Resource { return at(in.ID) }, r.content),
		AskWait.Read(op.Spec{Waits: true, Right: "approval.read", Method: "GET", Path: "/approval/{id}/wait",
			Doc: "Wait until an ask is answered or the time is up."},
			func(in WaitIn) op.Resource { return at(in.ID) }, r.wait),
		AskDecide.State(op.Spec{Right: "approval.decide", Method: "POST", Path: "/approval/{id}/decide", Present: true,
			People: true, MCP: "-",
			Doc: "Answer an ask: approve it, send it back with feedback, or cancel it.\nOnly a person who is present answers, never the asker, " +
				"and the first answer counts."},
			func(in DecideIn) op.Resource { return at(in.ID) }, r.decide),
		AskDecideSeveral.State(op.Spec{Right: "approval.decide", Method: "POST", Path: "/approval-decide", Present: true,
			People: true, MCP: "-",
			Doc: "Answer several asks alike, each with the pages of it that were looked at. All are answered, or none."},
			func(in SeveralIn) op.Resource { return at(in.first()) }, r.several),
		AskExpire.State(op.Spec{Right: "approval.write", MCP: "-",
			Doc: "Write down which asks ran out of time. They count as expired from that time on, written down or not."},
			func(struct{}) op.Resource { return at("") }, r.expire),
	}, r.ruleOps()...)
}

// ExpireOut names the asks whose time had passed.
type ExpireOut struct {
	Expired []string `json:"expired"`
}

func (r *Room) expire(ctx context.Context, tx *db.Tx, _ struct{}) (ExpireOut, error) {
	ids, err := expire(tx, op.CallerFrom(ctx).Tenant)
	if err != nil {
		return ExpireOut{}, err
	}
	op.Note(ctx, "expired", ids)
	tx.AfterCommit(r.wake)
	return ExpireOut{ids}, nil
}

// Due reports whether an ask ran out of time that nobody wrote down, so that an
// idle server writes nothing.
func (r *Room) Due(ctx context.Context) (bool, error) {
	var n int
	err := r.db.QueryRow(ctx, "SELECT count(*) FROM approval WHERE tenant = ? AND "+overdue, op.CallerFrom(ctx).Tenant, r.db.Now()).Scan(&n)
	return n > 0, err
}

// sees says whether the caller's inbox holds the ask. Agents and sessions see their own, and those of whoever acts for them; a service
// sees no ask about a file that is kept from it. What is not theirs does not exist for them. People and the programs of this user see all.
func sees(ctx context.Context, c op.Caller, a *Ask) bool {
	switch c.Kind {
	case op.Agent, op.Session:
		return a.AskerID == c.Actor || slices.Contains(a.For, string(c.Kind)+":"+c.Name)
	case op.Service:
		path, file := strings.CutPrefix(a.Resource, "folder:")
		return !file || c.Decides || op.Sees(ctx, path)
	}
	return true
}

// onlyLooks says whether the caller decides about nothing: what is there for those who do is not shown to it.
func onlyLooks(c op.Caller) bool {
	return c.Kind == op.Agent || c.Kind == op.Session || c.Kind == op.Service && !c.Decides
}

func missing(where, askID string) error {
	return fault.New(fault.NotFound, where, "there is no ask %s", askID).WithNext("list what waits: tandem approvals")
}

func (r *Room) list(ctx context.Context, in ListIn) (ListOut, error) {
	out := ListOut{Asks: []*Ask{}}
	if in.State == "" {
		in.State = string(Pending)
	}
	c, now := op.CallerFrom(ctx), r.db.Now()
	where, args := inState(in.State, now)
	if in.State == "all" {
		where = "1 = 1"
	}
	if where == "" {
		return out, fault.New(fault.Invalid, "approval.list", "%q is not a state of an ask", in.State).
			WithNext("use pending, approved, rework, cancelled, expired, spent or all")
	}
	if in.Limit < 0 || in.Limit > 1000 {
		return out, fault.New(fault.Invalid, "approval.list", "limit lies between 1 and 1000")
	}
	if in.Limit == 0 {
		in.Limit = 100
	}
	defer func() { r.named(ctx, out.Asks...) }()
	const page = 500
	for after := in.After; ; { // the mask leaves out rows, so pages are read until one is full
		rows, err := r.db.Query(ctx, "SELECT "+columns+" FROM approval WHERE tenant = ? AND id > ? AND "+where+" ORDER BY id LIMIT ?",
			slices.Concat([]any{c.Tenant, after}, args, []any{page})...)
		asks, err := collect(rows, err)
		if err != nil {
			return out, err
		}
		for _, a := range asks {
			after = a.ID
			if a = a.At(now); !sees(ctx, c, a) || !op.May(ctx, "approval.read", at(a.ID)) {
				continue
			}
			if len(out.Asks) == in.Limit {
				out.More = true
				return out, nil
			}
			out.Asks = append(out.Asks, a.listed())
		}
		if len(asks) < page {
			return out, nil
		}
	}
}

func (r *Room) get(ctx context.Context, in IDIn) (*Ask, error) {
	if err := id.Check("ask", in.ID); err != nil {
		return nil, err
	}
	c := op.CallerFrom(ctx)
	a, err := scan(r.db.QueryRow(ctx, "SELECT "+columns+" FROM approval WHERE tenant = ? AND id = ?", c.Tenant, in.ID))
	if db.NoRows(err) || (err == nil && !sees(ctx, c, a)) {
		return nil, missing("approval.get", in.ID)
	}
	if err != nil {
		return nil, err
	}
	a = a.At(r.db.Now())
	if a.Title = title(a); onlyLooks(c) {
		a.Bound = bindings(a.Bound)
	}
	a.First = &a.Pages()[0]
	r.named(ctx, a)
	if c.Kind == op.Person && a.State == Pending {
		named, err := r.guards.Circle(ctx, nil, c.Tenant)
		if err != nil {
			return nil, err
		}
		_, ok := named(a.Approvers, c.Name)
		a.MayNot, a.MayDeny = a.whyNot(c, named), ok && c.Actor != a.AskerID
	}
	if a.Unanswered() {
		a.Successor, err = successor(a, r.db.QueryRow(ctx, successorOf, a.Tenant, a.AskerID, a.Digest, r.db.Now()))
	}
	return a, err
}

// lookAgain bounds how late a waiter hears of an answer that another server took.
const lookAgain = 2 * time.Second

func (r *Room) wait(ctx context.Context, in WaitIn) (WaitOut, error) {
	if in.Timeout < 0 || in.Timeout > 300 {
		return WaitOut{}, fault.New(fault.Invalid, "approval.wait", "timeout_secs lies between 1 and 300")
	}
	if in.Timeout == 0 {
		in.Timeout = 30
	}
	end := time.NewTimer(time.Duration(in.Timeout) * time.Second)
	defer end.Stop()
	for {
		changed := r.changes() // taken before the look, so that no change falls between
		a, err := r.get(ctx, IDIn{in.ID})
		if err != nil {
			return WaitOut{}, err
		}
		if a.State != Pending {
			return WaitOut{*a, true}, nil
		}
		again := time.NewTimer(lookAgain)
		select {
		case <-changed:
		case <-again.C:
		case <-end.C:
			again.Stop()
			return WaitOut{*a, false}, nil
		case <-ctx.Done():
			again.Stop()
			return WaitOut{}, fault.New(fault.Unavailable, "approval.wait", "the wait was cut off").WithNext("wait again: the ask is still there")
		}
		again.Stop()
	}
}

func (r *Room) decide(ctx context.Context, tx *db.Tx, in DecideIn) (*Ask, error) {
	if err := id.Check("ask", in.ID); err != nil {
		return nil, err
	}
	c := op.CallerFrom(ctx)
	a, err := find(tx, c.Tenant, in.ID)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, missing("approval.decide", in.ID)
	}
	if a.Unanswered() {
		if a.Successor, err = successor(a, tx.QueryRow(successorOf, a.Tenant, a.AskerID, a.Digest, tx.Now())); err != nil {
			return nil, err
		}
	}
	named, err := r.guards.Circle(ctx, tx, c.Tenant)
	if err != nil {
		return nil, err
	}
	if in.Verdict == Approve && len(a.Answers) > 0 && a.State == Pending {
		held, err := r.guards.Vouches(tx, a.Seal())
		if err != nil {
			return nil, err
		}
		if !held {
			return nil, forged(a)
		}
	}
	next, err := a.Decide(c, in, tx.Now(), named)
	if err != nil {
		return nil, err
	}
	ok, err := decide(tx, next)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fault.New(fault.Conflict, "approval.decide", "%s was answered by somebody else at the same moment", in.ID)
	}
	op.Note(ctx, "asker", a.Asker)
	op.Note(ctx, "op", a.Op)
	op.Note(ctx, "digest", a.Digest)
	switch s := next.Seal(); {
	case in.Verdict == Approve:
		op.Seal(ctx, s.Subject, s.Says...)
		last := next.Answers[len(next.Answers)-1]
		op.Note(ctx, "present", last.Present)
		if last.Confirms {
			op.Note(ctx, "confirms", true)
		}
		if last.As != "" {
			op.Note(ctx, "stands_in_for", last.As)
		}
		if next.State == Pending {
			op.Note(ctx, "first_of_two", true)
		}
	case len(a.Answers) > 0:
		op.Seal(ctx, s.Subject) // the first answer of two stands for nothing any more
	}
	tx.AfterCommit(r.wake)
	return next, nil
}
