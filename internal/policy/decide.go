package policy

import (
	"fmt"
	"strings"
	"time"

	cedar "github.com/cedar-policy/cedar-go"
)

// Request is one exact thing that the caller wants to do.
type Request struct {
	// Right is the operation's right (resource.write). It fills Permission and the resource's kind where those are empty.
	Right      string
	Op         string
	Permission AccessPermission
	Resource   ResourceRef
	Class      DataClass
	// Tool and Facts are set when a tool is called; see Facts for what nil means.
	Tool  string
	Facts *Facts
	// Present says that a person proved to be there for this call.
	Present bool
	Now     time.Time
}

// Decision is the answer to a Request. The zero Decision denies.
type Decision struct {
	Effect Effect `json:"effect"`
	// Code is one word for programs; Reason a sentence for people.
	Code   string `json:"code"`
	Reason string `json:"reason"`
	// By is the grant ("grant:ID") or rule ("rule:ID") that decided, when one did.
	By string `json:"by,omitempty"`
	// Approvers are who may answer an ask.
	Approvers []PrincipalRef `json:"approvers,omitempty"`
	// Needs is what an ask needs beside.
	Needs Needs `json:"needs,omitzero"`
	// Class is the data's.
	Class DataClass `json:"class,omitempty"`
	// Prompter is whose denial it is, when the caller was only prompted by it.
	Prompter string `json:"-"`
	// note is what was written at the grant that has a doubt.
	note string
	// fallback says that only the house's last word asks: nobody has spoken of this member.
	fallback bool
}

// Recorded says that even looking is written down: the data is of a class that somebody called sensitive.
func (d Decision) Recorded() bool { return d.Class != "" && !d.Class.everyday() }

// House says that the house's own defaults answered, and nobody's grant or rule.
func (d Decision) House() bool { return strings.HasPrefix(d.By, "grant:default-") }

// ungiven says that nothing gives it there, and nothing denies it.
func (d Decision) ungiven() bool { return d.Code == CodeNoGrant || d.Code == CodeBeyond }

// Codes of decisions.
const (
	CodeGranted   = "granted"
	CodeAsk       = "approval_required"
	CodeNoGrant   = "no_grant"
	CodeDenied    = "denied_by_grant"
	CodeForbidden = "forbidden_by_rule"
	CodeRuleError = "rule_failed"
	CodeBoundary  = "data_boundary"
	CodePresence  = "presence_required"
	CodeCeiling   = "beyond_credential"
	CodeBeyond    = "beyond_assertion"
	CodeNarrowed  = "denied_by_assertion"
	CodeExpired   = "credential_expired"
	CodeNoPolicy  = "no_policy"
	CodeTenant    = "other_tenant"
	CodeMalformed = "malformed"
	CodeNobody    = "nobody_may_answer"
)

// question is a Request made whole, with what is needed often at hand.
type question struct {
	Request
	self PrincipalRef // the member of the chain that is being asked about
	bit  bits
	kind uint64
	tool string
	// parts are the components of the resource's path, once somebody needed them.
	parts []string
	// low and lowParts are the folded path, once somebody needed it; spelled is the whole question so.
	low      string
	lowParts []string
	spelled  *question
	folded   bool
	now      time.Time
	mask     bool
	// anyClass says that a mask was not told the data's class.
	anyClass bool
	// also are the classes of the labels that mean the resource by another spelling.
	also  []DataClass
	reads map[string]bool
	// groups are the policy's.
	groups groups
	// context is what rules that give read of the request, once one of them does; shadow is the same for those that forbid, which look
	// at all that may happen.
	context, shadow *cedar.Record
	// trace, when set, collects every grant and rule that spoke.
	trace *[]Step
}

func no(code, format string, args ...any) Decision {
	return Decision{Code: code, Reason: fmt.Sprintf(format, args...)}
}

// Decide answers one request.
func (v *View) Decide(r Request) Decision {
	q := &question{Request: r}
	d := v.decide(q)
	d.Class = q.Class
	return d
}

func (v *View) decide(q *question) (d Decision) {
	defer func() {
		if p := recover(); p != nil {
			d = no(CodeRuleError, "the policy failed on this request: %v", p)
		}
	}()
	if v == nil || v.policy == nil || len(v.members) == 0 {
		why := "no policy is loaded"
		if v != nil && v.refusal != "" {
			why = v.refusal
		}
		return no(CodeNoPolicy, "%s", why)
	}
	presence, refusal := v.complete(q)
	if refusal != nil {
		return *refusal
	}
	if end := v.ctx.ExpiresAt; !end.IsZero() && !q.now.Before(end) {
		return no(CodeExpired, "the credential ended at %s", end.UTC().Format(time.RFC3339))
	}
	if !v.underCeiling(q) {
		return no(CodeCeiling, "the credential does not reach that far")
	}
	if presence && (v.ctx.Principal.Kind != Person || !(q.Present || q.mask)) {
		return no(CodePresence, "this needs a person who is present")
	}
	d = v.judge(q)
	for _, class := range q.also { // by another spelling it is data of another class, and both may have to pass
		other := *q
		other.Class, other.context, other.shadow, other.spelled = class, nil, nil, nil
		if o := v.judge(&other); o.Effect < d.Effect {
			d = o
		}
		if q.Class.everyday() {
			q.Class = class
		}
	}
	return d
}

// judge asks about data of one class.
func (v *View) judge(q *question) Decision {
	for _, b := range [...]*DataBoundary{&v.policy.boundary, &v.ctx.Boundary} {
		if !b.Admits(q.Class) && !q.anyClass {
			return no(CodeBoundary, "%s data may not pass here", q.Class)
		}
	}
	return v.meet(q)
}

// complete fills what the right implies and refuses what no resource can be.
func (v *View) complete(q *question) (presence bool, refusal *Decision) {
	bad := func(code, format string, args ...any) (bool, *Decision) {
		d := no(code, format, args...)
		return true, &d
	}
	if q.Right != "" {
		r, err := ParseRight(q.Right)
		if err != nil {
			return bad(CodeMalformed, "%v", err)
		}
		if q.Permission == "" {
			q.Permission = r.Permission
		}
		if q.Resource.Kind == "" {
			q.Resource.Kind = r.Kind
		}
		if q.Permission != r.Permission {
			return bad(CodeMalformed, "right %s is not a right to %s", q.Right, q.Permission)
		}
		presence = r.Presence
	}
	presence = presence || q.Permission == CanDelegate || q.Permission == CanAdmin
	q.bit = bit(q.Permission)
	if q.Resource.Kind != AnyKind {
		q.kind = kindMask(q.Resource.Kind)
	}
	if q.Class == "" {
		labelled := false
		q.Class, q.also, labelled = v.policy.classOf(q.Resource)
		q.anyClass = q.mask && !labelled
	}
	q.reads, q.groups = v.policy.reads, v.policy.groups
	if q.now = q.Now; q.now.IsZero() {
		q.now = v.now
	}
	switch {
	case q.bit == 0:
		return bad(CodeMalformed, "there is no permission called %q", q.Permission)
	case q.kind == 0:
		return bad(CodeMalformed, "there is no kind of resource called %q", q.Resource.Kind)
	case !cleanPath(q.Resource.Path):
		return bad(CodeMalformed, "path %q is not /component/component", q.Resource.Path)
	case !knownClass[q.Class]:
		return bad(CodeMalformed, "there is no data class called %q", q.Class)
	case q.Resource.Tenant != "" && q.Resource.Tenant != v.ctx.Tenant:
		return bad(CodeTenant, "it belongs to another tenant")
	}
	switch {
	case q.Tool != "":
		q.tool = toolPath(q.Tool)
		if !cleanPath(q.tool) {
			return bad(CodeMalformed, "there is no tool called %q", q.Tool)
		}
	case q.Resource.Kind == KindTool:
		q.tool = q.Resource.Path
	default:
		q.Facts = &Facts{} // not a tool's call: there are no arguments to know
	}
	return presence, nil
}

// atWork says that a member is the agent whose session stands before it in the chain.
func (v *View) atWork(i int) bool {
	return i > 0 && v.members[i].ref.Kind == Agent && v.members[i-1].ref.Kind == Session
}

// meet asks for every member of the chain and keeps the narrowest answer.
func (v *View) meet(q *question) Decision {
	var out Decision
	for i := range v.members {
		d := v.members[i].decide(q)
		switch {
		case d.Effect == Deny:
			return d
		case i == 0:
			out = d
		case d.Effect == Ask && d.fallback && out.Effect == Allow && v.atWork(i):
			// The session is this agent at work. A person spoke of the session, and nobody of the agent.
		case d.Effect == Ask && out.Effect == Ask:
			out = out.joined(q.groups, d)
		case d.Effect == Ask:
			out = d
		}
	}
	for i := range v.prompters {
		d, spoken := v.prompters[i].objects(q)
		switch {
		case !spoken:
		case d.Effect == Deny:
			return d
		case out.Effect == Ask:
			out = out.joined(q.groups, d)
		default:
			out = d
		}
	}
	out = v.narrow(q, out)
	if out.Effect == Ask && len(out.Approvers) == 0 {
		return nobody(out)
	}
	return out
}
