package approval

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// Scope says where a rule holds.
type Scope string

// Here is the asker's session; a folder is every session that acts for the same, as long as it stays in that folder.
const (
	InSession Scope = "session"
	InFolder  Scope = "folder"
)

// How long a rule holds unless told, and at most.
const (
	RuleLife    = 8 * time.Hour
	MaxRuleLife = 30 * 24 * time.Hour
)

// Rule is a standing answer: calls that fit it need no ask any more. It turns an ask into a yes and nothing else: what is
// denied stays denied, and whoever may not answer an ask cannot answer it by a rule.
type Rule struct {
	ID        string    `json:"id"`
	Tenant    string    `json:"-"`
	Scope     Scope     `json:"scope" jsonschema:"session or folder"`
	Session   string    `json:"session,omitempty" jsonschema:"the session that it holds for"`
	For       []string  `json:"for" jsonschema:"on whose behalf the asker acts"`
	Op        string    `json:"op" jsonschema:"the operation that it answers"`
	Pattern   string    `json:"pattern" jsonschema:"what it lets pass: a tool, with commands, paths or hosts"`
	Owner     string    `json:"owner" jsonschema:"the person who made it"`
	Ask       string    `json:"ask" jsonschema:"the ask that it was made from"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// AlwaysIn answers an ask with yes, for this call and those like it.
type AlwaysIn struct {
	ID     string   `json:"id" jsonschema:"the ask's id, ask_…"`
	Scope  Scope    `json:"scope,omitempty" jsonschema:"session (the default), or folder: every session for the same people that stays in the folder of the call"`
	TTL    int64    `json:"expires_in_secs,omitempty" jsonschema:"how long it holds, 8 hours when left out, 30 days at most"`
	Digest string   `json:"digest,omitempty" jsonschema:"the digest that was looked at; refused when the ask is about something else"`
	Pages  []string `json:"pages,omitempty" jsonschema:"the digest of every page that was looked at, in order: an approval needs them all"`
}

// AlwaysOut is the answered ask and the rule that stands from now on.
type AlwaysOut struct {
	Ask  *Ask  `json:"ask"`
	Rule *Rule `json:"rule"`
}

// RulesOut lists rules.
type RulesOut struct {
	Rules []Rule `json:"rules"`
}

// OK says that it was done.
type OK struct {
	OK bool `json:"ok"`
}

// Nothing is an input without fields.
type Nothing struct{}

func (r *Room) ruleOps() []op.Op {
	return []op.Op{
		AskAlways.State(op.Spec{Right: "approval.decide", Method: "POST", Path: "/approval/{id}/always", Present: true,
			People: true, MCP: "-",
			Doc: "Approve an ask, and calls like it in this session or folder until an end.\nWhat passes from then on is the pattern that the " +
				"ask shows; what is denied stays denied."},
			func(in AlwaysIn) op.Resource { return at(in.ID) }, r.always),
		RuleList.Read(op.Spec{Right: "approval.read", Masked: true, Method: "GET", Path: "/approval-rules",
			Doc: "List the standing answers that are in force."},
			func(Nothing) op.Resource { return at("") }, r.rules),
		RuleForget.State(op.Spec{Right: "approval.write", Method: "DELETE", Path: "/approval-rules/{id}", MCP: "-",
			Doc: "End a standing answer. The next call asks again."},
			func(in IDIn) op.Resource { return at(in.ID) }, r.forget),
	}
}

func (r *Room) always(ctx context.Context, tx *db.Tx, in AlwaysIn) (AlwaysOut, error) {
	life := RuleLife
	if in.TTL != 0 {
		life = time.Duration(in.TTL) * time.Second
	}
	if in.Scope == "" {
		in.Scope = InSession
	}
	bad := func(format string, args ...any) (AlwaysOut, error) {
		return AlwaysOut{}, fault.New(fault.Invalid, "approval.always", format, args...)
	}
	switch {
	case in.TTL < 0 || in.TTL > int64(MaxRuleLife/time.Second):
		return bad("expires_in_secs lies between 1 and %d", int64(MaxRuleLife/time.Second))
	case in.Scope != InSession && in.Scope != InFolder:
		return bad("scope is session or folder, not %.40q", in.Scope)
	}
	if err := r.onceOnly(tx, op.CallerFrom(ctx).Tenant, in.ID); err != nil {
		return AlwaysOut{}, err
	}
	a, err := r.decide(ctx, tx, DecideIn{ID: in.ID, Verdict: Approve, Digest: in.Digest, Pages: in.Pages})
	if err != nil {
		return AlwaysOut{}, err
	}
	if n := a.Answers[len(a.Answers)-1]; n.As != "" {
		return AlwaysOut{}, fault.New(fault.Conflict, "approval.always",
			"%s stands in for %s, and who stands in answers each time: %s is not away for ever", n.By, n.As, n.As).
			WithNext("approve it: tandem approvals approve %s", id.Short(a.ID))
	}
	// From here on the rule answers for the call; an approval beside it would stand unused.
	if _, err := spend(tx, a); err != nil {
		return AlwaysOut{}, err
	}
	op.Seal(ctx, a.Seal().Subject) // used up
	pattern := a.Always
	if in.Scope == InFolder {
		pattern = a.AlwaysInFolder
	}
	if pattern == "" || a.Session == "" {
		return AlwaysOut{}, fault.New(fault.Conflict, "approval.always",
			"nobody knows what calls like this one would touch, so it can be approved only once").
			WithNext("approve it: tandem approvals approve %s", id.Short(a.ID))
	}
	rule := &Rule{ID: id.New("rul"), Tenant: a.Tenant, Scope: in.Scope, Session: a.Session, For: a.For, Op: a.Op, Pattern: pattern,
		Owner: a.DecidedBy, Ask: a.ID,
		CreatedAt: tx.Now(), ExpiresAt: tx.Now().Add(life)}
	if in.Scope == InFolder {
		rule.Session = ""
	}
	chain, err := json.Marshal(orEmpty(rule.For))
	if err != nil {
		return AlwaysOut{}, err
	}
	if _, err := tx.Exec("INSERT INTO approval_rule ("+ruleColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rule.Tenant, rule.ID,
		string(rule.Scope), rule.Session, string(chain), rule.Op,
		rule.Pattern, rule.Owner, rule.Ask, rule.CreatedAt, rule.ExpiresAt); err != nil {
		return AlwaysOut{}, err
	}
	s := rule.Seal()
	op.Seal(ctx, s.Subject, s.Says...)
	op.Note(ctx, "rule", rule.ID)
	op.Note(ctx, "pattern", rule.Pattern)
	op.Note(ctx, "expires_at", rule.ExpiresAt)
	return AlwaysOut{a, rule}, nil
}

// onceOnly refuses a standing answer to what needs more than a person's yes: a rule would give that for ever.
func (r *Room) onceOnly(tx *db.Tx, tenant, askID string) error {
	a, err := find(tx, tenant, askID)
	if err == nil && a != nil && !a.Needs.none() {
		err = fault.New(fault.Conflict, "approval.always", "%s is answered each time: %s", askID, a.Answerers()).
			WithNext("approve it: tandem approvals approve %s", id.Short(askID))
	}
	return err
}

const ruleColumns = "tenant, id, scope, session, acts_for, op, pattern, made_by, ask, made_at, expires_at"

func scanRule(rows *sql.Rows) (r Rule, err error) {
	var chain string
	var made, expires int64
	if err := rows.Scan(&r.Tenant, &r.ID, &r.Scope, &r.Session, &chain, &r.Op, &r.Pattern, &r.Owner, &r.Ask, &made, &expires); err != nil {
		return r, err
	}
	r.CreatedAt, r.ExpiresAt = db.Time(made), db.Time(expires)
	if json.Unmarshal([]byte(chain), &r.For) != nil {
		r.For = []string{chain} // nobody vouches for what cannot be read
	}
	return r, nil
}

// Rules are the standing answers that count for a call as the policy is now.
func (r *Room) Rules(ctx context.Context, c Call) ([]Rule, error) {
	rows, err := r.db.Query(ctx, "SELECT "+ruleColumns+
		" FROM approval_rule WHERE tenant = ? AND op = ? AND session IN (?, '') AND expires_at > ? ORDER BY id",
		c.Caller.Tenant, c.Op, c.Caller.Session, r.db.Now())
	all, err := db.Collect(rows, err, scanRule)
	all = slices.DeleteFunc(all, func(x Rule) bool { return !slices.Equal(x.For, orEmpty(c.Caller.For)) })
	if err != nil || len(all) == 0 || c.Needs.Two {
		return nil, err
	}
	named, err := r.guards.Circle(ctx, nil, c.Caller.Tenant)
	if err != nil {
		return nil, err
	}
	ask := Ask{Approvers: c.Approvers, Needs: c.Needs, For: c.Caller.For}
	return slices.DeleteFunc(all, func(x Rule) bool {
		n, err := ask.takes(Answer{By: x.Owner}, nil, named)
		return err != nil || n.As != "" // who stands in answers each time
	}), nil
}

func (r *Room) rules(ctx context.Context, _ Nothing) (RulesOut, error) {
	c := op.CallerFrom(ctx)
	out := RulesOut{Rules: []Rule{}}
	rows, err := r.db.Query(ctx, "SELECT "+ruleColumns+" FROM approval_rule WHERE tenant = ? AND expires_at > ? ORDER BY id", c.Tenant,
		r.db.Now())
	all, err := db.Collect(rows, err, scanRule)
	if err != nil {
		return out, err
	}
	named, err := r.guards.Circle(ctx, nil, c.Tenant)
	if err != nil {
		return out, err
	}
	for _, x := range all {
		if _, here := named([]string{"person:*"}, x.Owner); !here {
			continue // who made it was removed or disabled
		}
		mine := c.Kind != op.Agent && c.Kind != op.Session || x.Session == c.Session && c.Session != "" ||
			slices.Contains(x.For, string(c.Kind)+":"+c.Name)
		if mine && op.May(ctx, "approval.read", at(x.ID)) {
			out.Rules = append(out.Rules, x)
		}
	}
	return out, nil
}

func (r *Room) forget(ctx context.Context, tx *db.Tx, in IDIn) (OK, error) {
	n, err := tx.Changed("DELETE FROM approval_rule WHERE tenant = ? AND id = ?", op.CallerFrom(ctx).Tenant, in.ID)
	if err == nil && n == 0 {
		err = fault.New(fault.NotFound, "approval.forget", "there is no rule %.60s", in.ID).WithNext("list them: tandem approvals rules")
	}
	op.Seal(ctx, (&Rule{ID: in.ID}).Seal().Subject) // putting the row back would bring nothing back
	return OK{err == nil}, err
}
