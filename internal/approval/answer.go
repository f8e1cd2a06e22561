package approval

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// Needs is what an ask needs beside somebody who may answer it, as the policy said.
type Needs struct {
	Two      bool     `json:"two_people,omitempty" jsonschema:"two different people have to approve it"`
	Presence []string `json:"presence,omitempty" jsonschema:"how who answers must prove to be here: pin, passkey or device; any way when left out"`
	Others   bool     `json:"others,omitempty" jsonschema:"somebody else has to answer than the person for whom it is asked"`
}

func (n Needs) none() bool { return !n.Two && !n.Others && len(n.Presence) == 0 }

func (n Needs) equal(o Needs) bool {
	return n.Two == o.Two && n.Others == o.Others && slices.Equal(n.Presence, o.Presence)
}

// byToken is how somebody answered whose token decides for them.
const byToken = "token"

// Answer is one person's yes, and how they showed that they are here.
type Answer struct {
	By       string    `json:"by"`
	Present  string    `json:"present" jsonschema:"pin, passkey, device, or token for one that a present person minted for deciding"`
	Confirms bool      `json:"confirms,omitempty" jsonschema:"it was asked by this person's own terminal"`
	As       string    `json:"as,omitempty" jsonschema:"for whom this person stands in"`
	At       time.Time `json:"at"`
}

// Named says whether a list of approvers names a person now. as is empty where it names them, by themselves or by a group; otherwise it is
// for whom they stand in.
type Named func(approvers []string, person string) (as []string, ok bool)

// byName is Named without groups.
func byName(approvers []string, person string) ([]string, bool) {
	return nil, slices.Contains(approvers, "person:*") || slices.Contains(approvers, "person:"+person)
}

// theirs says whether it is asked for a person: by their terminal, or by what acts for them.
func (a *Ask) theirs(person string) bool { return slices.Contains(a.For, "person:"+person) }

func (a *Ask) no(format string, args ...any) error {
	return fault.New(fault.Denied, "approval.decide", format, args...).WithNext("ask one of them: %s", a.Answerers())
}

// takes is an answer with for whom it is given, or why it does not count for an ask, whoever gives it and by whatever door. before are the
// answers that there are already. Every answer passes here when it is given, and again when the call comes back.
func (a *Ask) takes(n Answer, before []Answer, named Named) (_ Answer, err error) {
	as, ok := named(a.Approvers, n.By)
	if !ok {
		return n, a.no("%s may not answer this one", n.By)
	}
	if len(as) == 0 {
		as = []string{""}
	}
	for _, n.As = range as { // of those for whom somebody stands in, the first for whom they may
		if err = a.counts(n, before); err == nil {
			break
		}
	}
	return n, err
}

// counts says why the answer of somebody whom the approvers name does not count. Who stands in gives no more than who is away could.
func (a *Ask) counts(n Answer, before []Answer) error {
	same := func(o Answer) bool {
		return o.By == n.By || o.As == n.By || n.As != "" && (o.By == n.As || o.As == n.As)
	}
	switch {
	case a.Others && a.theirs(n.By):
		return a.no("this one wants somebody else than %s, for whom it is asked", n.By)
	case a.Others && n.As != "" && a.theirs(n.As):
		return a.no("this one wants somebody else than %s, for whom it is asked, and %s stands in for them", n.As, n.By)
	case len(a.Presence) > 0 && !slices.Contains(a.Presence, n.Present):
		return a.no("this one is answered with a %s, and %s has answered with a %s", strings.Join(a.Presence, " or a "), n.By, n.Present)
	case slices.ContainsFunc(before, func(o Answer) bool { return o.By == n.By }):
		return a.no("%s agreed already, and this one needs two different people", n.By)
	case slices.ContainsFunc(before, same):
		return a.no("%s agreed already, themselves or by who stands in, and this one needs two different people", cmp.Or(n.As, n.By))
	case len(before) > 0 && n.Present == byToken:
		return a.no("a token that decides is never the second of two people")
	}
	return nil
}

// given are the answers that still count: who gave one may have been removed since.
func (a *Ask) given(named Named) (out []Answer) {
	for _, o := range a.Answers {
		if _, err := a.takes(o, out, named); err == nil {
			out = append(out, o)
		}
	}
	return out
}

// whyNot says why a person could not agree, however they showed that they are here; "" where they could.
func (a *Ask) whyNot(c op.Caller, named Named) string {
	n := Answer{By: c.Name, Present: "pin"}
	if len(a.Presence) > 0 {
		n.Present = a.Presence[0]
	}
	_, err := a.takes(n, a.given(named), named)
	switch {
	case c.Actor == a.AskerID:
		return "whoever asks does not answer"
	case err != nil:
		return err.Error()
	}
	return ""
}

// Answerers says in words who may answer, and what that needs.
func (a *Ask) Answerers() string {
	var who []string
	for _, p := range a.Approvers {
		kind, name, _ := strings.Cut(p, ":")
		switch {
		case p == "person:*":
			who = append(who, "any person who may decide")
		case kind == "group":
			who = append(who, "anybody in group:"+name)
		default:
			who = append(who, name)
		}
	}
	text := strings.Join(who, ", ")
	if a.Two {
		text += "; two different people"
	}
	if len(a.Presence) > 0 {
		text += "; with a " + strings.Join(a.Presence, " or a ")
	}
	if a.Others {
		text += "; not the person for whom it is asked"
	}
	return text
}

// Suffices says why an approval would not let a call pass as the policy is now; "" where it does.
func (r *Room) Suffices(ctx context.Context, tx *db.Tx, a *Ask, c Call) (string, error) {
	named, err := r.guards.Circle(ctx, tx, a.Tenant)
	if err != nil {
		return "", err
	}
	now := *a
	now.Approvers, now.Needs, now.For = c.Approvers, c.Needs, c.Caller.For
	given := slices.Clone(a.Answers)
	if len(given) == 0 { // approved by an older program, which kept a name alone
		given = []Answer{{By: a.DecidedBy}}
	}
	for i, n := range given {
		if given[i], err = now.takes(n, given[:i], named); err != nil {
			return err.Error(), nil
		}
	}
	if now.Two && len(given) < 2 {
		return fmt.Sprintf("two different people have to approve it, and %s did", a.DecidedBy), nil
	}
	return "", nil
}

// answered is the ask with one more yes. It is approved once there are as many as it needs.
func (a *Ask) answered(by op.Caller, now time.Time, named Named) (*Ask, error) {
	n := Answer{By: by.Name, Present: by.Present, At: now, Confirms: a.AskerKind == op.Local && a.theirs(by.Name)}
	if n.Present == "" {
		n.Present = byToken
	}
	given := a.given(named)
	n, err := a.takes(n, given, named)
	if err != nil {
		return nil, err
	}
	next := *a
	if next.Answers = append(given, n); a.Two && len(next.Answers) < 2 {
		return &next, nil // the other one has to agree, too
	}
	if next.DecidedBy = by.Name; len(next.Answers) == 2 {
		next.DecidedBy = next.Answers[0].By + " and " + next.Answers[1].By
	}
	next.State, next.ExpiresAt, next.DecidedAt = Approved, now.Add(ShelfLife), &now
	return &next, nil
}
