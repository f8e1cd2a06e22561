package book

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/policy"
)

// ShowIn asks for a policy.
type ShowIn struct {
	Version int64 `json:"version,omitempty" jsonschema:"an earlier version; the one in force when left out"`
	History bool  `json:"history,omitempty" jsonschema:"also list the changes"`
}

// ShowOut is a policy as people read it.
type ShowOut struct {
	Version  int64               `json:"version"`
	Rules    string              `json:"rules" jsonschema:"Cedar text"`
	Boundary policy.DataBoundary `json:"boundary"`
	Labels   []LabelView         `json:"labels" jsonschema:"which class of data lies where"`
	Grants   int                 `json:"grants" jsonschema:"how many are in force, the house's own included"`
	Schema   string              `json:"schema" jsonschema:"the words that rules may use, in Cedar's notation"`
	History  []Version           `json:"history,omitempty"`
}

// ExplainOut is an answer with everything that spoke.
type ExplainOut struct {
	Actor string `json:"actor"`
	Answer
	Steps []Step `json:"steps" jsonschema:"the grants and rules that spoke, in the order in which they were heard"`
}

// TestIn tries rules before they are in force.
type TestIn struct {
	Rules *string `json:"rules,omitempty" jsonschema:"the rules to try; those in force when left out"`
	Cases []Case  `json:"cases,omitempty" jsonschema:"questions with the answers they should get"`
}

// TestOut says which cases held.
type TestOut struct {
	OK      bool         `json:"ok"`
	Results []CaseResult `json:"results"`
}

// CaseResult is one case with its answer.
type CaseResult struct {
	Case
	Got    string `json:"got"`
	By     string `json:"by,omitempty"`
	Reason string `json:"reason"`
	OK     bool   `json:"ok"`
}

// EditIn replaces the rules.
type EditIn struct {
	Rules     string               `json:"rules" jsonschema:"Cedar text; empty removes all rules"`
	Boundary  *policy.DataBoundary `json:"boundary,omitempty" jsonschema:"the classes of data that may pass; unchanged when left out"`
	IfVersion *int64               `json:"if_version,omitempty" jsonschema:"only when the policy is still at this version"`
	Note      string               `json:"note,omitempty"`
}

// EditOut is the new version.
type EditOut struct {
	Version int64 `json:"version"`
	Rules   int   `json:"rules" jsonschema:"how many rules there are now"`
}

func atPolicy() op.Resource { return op.Resource{Kind: "policy", Path: "/"} }

// Ops is this package's front door.
func (b *Book) Ops() []op.Op {
	return append([]op.Op{
		PolicyShow.Read(op.Spec{Right: "policy.read", Method: "GET", Path: "/policy",
			Doc: "Show the rules in force, or those of an earlier version."},
			func(ShowIn) op.Resource { return atPolicy() }, b.show),
		PolicyExplain.Read(op.Spec{Right: "policy.read", Method: "POST", Path: "/policy/explain",
			Doc: "Say whether an actor may do something, why, and which grant or rule decides."},
			func(Case) op.Resource { return atPolicy() }, b.explain),
		PolicyWhyNot.Read(op.Spec{Right: "policy.read", Method: "POST", Path: "/policy/why_not",
			Doc: "Say what would be needed before an actor may do something: which grant, approval or presence, " +
				"and which denial would have to end.\nIt speaks of the policy and of what the operation itself wants. Nothing is changed."},
			func(Case) op.Resource { return atPolicy() }, b.whyNot),
		PolicyTest.Read(op.Spec{Right: "policy.read", Method: "POST", Path: "/policy/test",
			Doc: "Try rules against questions with known answers, without putting them in force."},
			func(TestIn) op.Resource { return atPolicy() }, b.test),
		PolicyEdit.State(op.Spec{Right: "policy.edit", Method: "PUT", Path: "/policy", Present: true, People: true,
			Doc: "Replace the rules. What does not compile is refused. Needs a person present."},
			func(EditIn) op.Resource { return atPolicy() }, b.edit),
		PolicyLabel.State(op.Spec{Right: "policy.edit", Method: "PUT", Path: "/policy/label", Present: true, People: true,
			Doc: "Say which class of data lies in a tree, or take that back. Grants and the boundary then treat it so. Needs a person present."},
			func(LabelIn) op.Resource { return atPolicy() }, b.label),
	}, slices.Concat(b.grantOps(), b.groupOps(), b.ownerOps(), b.awayOps(), b.accessOps(),
		b.publishedOps())...)
}

func (b *Book) show(ctx context.Context, in ShowIn) (ShowOut, error) {
	out := ShowOut{Version: in.Version, Schema: policy.Schema()}
	tenant := op.CallerFrom(ctx).Tenant
	err := b.db.Read(ctx, func(tx *db.Tx) error {
		last, err := head(tx, tenant)
		if err != nil {
			return err
		}
		if in.Version == 0 {
			out.Version = last
		}
		if in.Version < 0 || in.Version > last {
			return fault.New(fault.NotFound, "policy.show", "there is no version %d; the last is %d", in.Version, last)
		}
		if out.Version < last || in.Version > 0 {
			err = out.asItWas(tx, tenant)
		} else {
			err = b.asItIs(ctx, tx, tenant, &out)
		}
		if err != nil {
			return err
		}
		if in.History {
			rows, err := tx.Query("SELECT version, change, subject, note, made_by, made_at FROM policy_version WHERE tenant = ? AND "+
				"version <= ? ORDER BY version", tenant, out.Version)
			out.History, err = db.Collect(rows, err, func(rows *sql.Rows) (v Version, err error) {
				var at int64
				err = rows.Scan(&v.Version, &v.Change, &v.Subject, &v.Note, &v.By, &at)
				v.At = db.Time(at)
				return v, err
			})
			return err
		}
		return nil
	})
	return out, err
}

// asItWas fills in an earlier version.
func (o *ShowOut) asItWas(tx *db.Tx, tenant string) error {
	rules, d, err := rulesAt(tx, tenant, o.Version)
	if err != nil {
		return err
	}
	live, _, err := grantsAt(tx, tenant, o.Version)
	o.Rules, o.Boundary, o.Labels, o.Grants = rules, d.DataBoundary, labelViews(d.Labels), len(live)
	return err
}

// asItIs fills in what is in force.
func (b *Book) asItIs(ctx context.Context, tx *db.Tx, tenant string, o *ShowOut) error {
	k, err := b.within(ctx, tx, tenant)
	o.Rules, o.Boundary, o.Labels, o.Grants = k.written.Rules, k.written.Boundary, labelViews(k.written.Labels), k.Grants()
	return err
}

func (b *Book) explain(ctx context.Context, in Case) (ExplainOut, error) {
	c := op.CallerFrom(ctx)
	if in.Actor == "" {
		in.Actor = c.Name
	}
	compiled, err := b.Policy(ctx, c.Tenant)
	if err != nil {
		return ExplainOut{}, err
	}
	req, err := b.request(in, b.db.Now())
	if err != nil {
		return ExplainOut{}, err
	}
	view, who, err := b.view(ctx, compiled, c.Tenant, in.Actor, b.db.Now())
	if err != nil {
		return ExplainOut{}, err
	}
	d, steps := view.Explain(led(req))
	if as, more := view.Explain(req); narrower(as, d) {
		d, steps = as, more
	}
	out := ExplainOut{Actor: who.String(), Answer: answer(d), Steps: []Step{}}
	for _, s := range steps {
		out.Steps = append(out.Steps, Step{s.Principal.String(), s.By, s.Effect.String(), s.Note, s.Group})
	}
	return out, nil
}

// maxCases bounds one test.
const maxCases = 1000

func (b *Book) test(ctx context.Context, in TestIn) (TestOut, error) {
	out := TestOut{OK: true, Results: []CaseResult{}}
	c := op.CallerFrom(ctx)
	if len(in.Cases) > maxCases {
		return out, fault.New(fault.Invalid, "policy.test", "there are %d cases; %d are allowed", len(in.Cases), maxCases)
	}
	k, err := b.current(ctx, c.Tenant)
	if err != nil {
		return out, err
	}
	src := k.written
	if in.Rules != nil {
		src.Rules = *in.Rules
	}
	compiled, err := k.Changed(policy.Change{Version: k.Version(), Written: &src})
	if err != nil {
		return out, refusal("policy.test", err)
	}
	for i, cs := range in.Cases {
		if cs.Actor == "" {
			cs.Actor = c.Name
		}
		if cs.Want != "allow" && cs.Want != "ask" && cs.Want != "deny" {
			return out, fault.New(fault.Invalid, "policy.test", "case %d wants %q, which is not allow, ask or deny", i+1, cs.Want)
		}
		req, err := b.request(cs, b.db.Now())
		if err != nil {
			return out, err
		}
		view, _, err := b.view(ctx, compiled, c.Tenant, cs.Actor, b.db.Now())
		if err != nil {
			return out, err
		}
		d := view.Decide(led(req))
		if as := view.Decide(req); narrower(as, d) {
			d = as
		}
		r := CaseResult{Case: cs, Got: d.Effect.String(), By: d.By, Reason: d.Reason, OK: d.Effect.String() == cs.Want}
		out.OK = out.OK && r.OK
		out.Results = append(out.Results, r)
	}
	return out, nil
}

func (b *Book) edit(ctx context.Context, tx *db.Tx, in EditIn) (EditOut, error) {
	c := op.CallerFrom(ctx)
	v, err := next(tx, c.Tenant, "edit", "", in.Note, c.Name) // locks the policy
	if err != nil {
		return EditOut{}, err
	}
	_, d, _, err := b.rulesNow(ctx, tx, c.Tenant)
	if err != nil {
		return EditOut{}, err
	}
	if in.Boundary != nil {
		d.DataBoundary = *in.Boundary
	}
	// Of two edits of one version the second is told.
	if in.IfVersion != nil && *in.IfVersion != v-1 {
		return EditOut{}, fault.New(fault.Conflict, "policy.edit", "the policy is at version %d, not %d: somebody changed it meanwhile", v-1,
			*in.IfVersion).
			WithNext("look at the change: tandem policy show --history; then edit again")
	}
	if err := putRules(ctx, tx, c.Tenant, v, in.Rules, d); err != nil {
		return EditOut{}, err
	}
	compiled, err := b.check(ctx, tx, c.Tenant, "policy.edit")
	if err != nil {
		return EditOut{}, err
	}
	if lacks := compiled.RulesLack(); lacks != "" {
		return EditOut{}, noGroup(lacks)
	}
	op.Note(ctx, "version", v)
	b.changed(tx, c.Tenant)
	return EditOut{v, compiled.Rules()}, nil
}

func trimmed(list []string) (out []string) {
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}
