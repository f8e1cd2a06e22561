package panel

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/panel/ui"
	"tandem/internal/policy/book"
	"tandem/internal/told"
)

func policyNav() page {
	return page{id: "policy", label: "Policy", href: "/panel/policy", icon: "policy", key: "g p", needs: string(book.PolicyShow),
		routes: func(p *Panel) {
			p.get("/panel/policy", func(v *visit) error { return v.policyPage("") })
			form(p, "/panel/grants", book.GrantAdd, "/panel/policy", "granted", grantInput,
				func(v *visit, err error) error { return v.policyPage(words(err)) })
			confirm(p, book.GrantRevoke, func(id string) book.GrantIDIn { return book.GrantIDIn{ID: id} }, confirmed{
				path: "/panel/grants/{id}/revoke", title: "Revoke this grant?",
				does: "Revoke", back: "/panel/policy", said: "grant-gone", nav: "policy",
				text: "It ends now, and with it every grant that was passed on from it."})
		}}
}

// GrantRow is what an actor may do to a resource.
type GrantRow struct {
	ID          string
	Principal   string
	Effect      string // allow, deny
	Permissions []string
	Resource    string
	Tools       []string
	Classes     []string
	Source      string
	Note        string
	Expires     time.Time
	Own         bool // made by a person here, so it can be revoked here
}

// PolicyView is the law of the house: grants, rules, and a way to ask it.
type PolicyView struct {
	Now      time.Time
	Version  int64
	Grants   []GrantRow
	Later    string // where the grants behind these are shown
	About    string // the principal that they are narrowed to
	Rules    string
	Versions []ui.Moment
	Ask      ExplainForm
	Answer   *ExplainView
	Problem  string
	PIN      bool
	Passkeys int
}

// ExplainForm is a question to policy.
type ExplainForm struct {
	Actor, Op, Resource string
	Actors, Ops         []string // known names, to choose from
	Problem             string
}

// ExplainView is policy's answer and the way to it.
type ExplainView struct {
	Answer  string // allow, ask, deny
	Reason  string
	Decider string // the grant or rule that decided
	Steps   []ExplainStep
}

// ExplainStep is a consideration, in the order of evaluation.
type ExplainStep struct {
	Name    string
	Said    string
	Decided bool
}

func answerTone(answer string) ui.Tone {
	switch answer {
	case "allow":
		return ui.Good
	}
	return ui.Warn // asking and refusing are the policy at work
}

func effectTone(effect string) ui.Tone {
	switch effect {
	case "deny", "ask":
		return ui.Warn
	}
	return ui.Good
}

func answerWord(answer string) string {
	switch answer {
	case "allow":
		return "Allowed"
	case "ask":
		return "A person must approve"
	}
	return "Refused"
}

// grantsShown is how many grants a page has beside what the house starts with.
const grantsShown = 200

// grants are those that speak of a principal, or all, behind an id; later is where the ones behind them are shown.
func (v *visit) grants(principal, after string) (rows []GrantRow, later string, err error) {
	if !v.has(string(book.GrantList)) {
		return nil, "", nil
	}
	out, err := ask(v, book.GrantList, book.GrantsIn{House: true, Principal: principal, After: after, Limit: grantsShown})
	if n := len(out.Grants); out.More {
		later = "/panel/policy?" + url.Values{"principal": {principal}, "after": {out.Grants[n-1].ID}}.Encode()
	}
	for _, g := range out.Grants {
		if g.Dead != "" {
			continue
		}
		rows = append(rows, GrantRow{ID: g.ID, Principal: g.Principal, Effect: g.Effect, Permissions: plain(g.Permissions), Resource: g.Resource,
			Tools: g.Tools, Classes: plain(g.Classes),
			Source: g.Source, Note: g.Note, Expires: orZero(g.ExpiresAt), Own: g.Source != "default" && g.Source != "fallback"})
	}
	return rows, later, err
}

// grantsTitle says whose grants are shown.
func grantsTitle(principal string) string {
	if principal == "" {
		return "Grants"
	}
	return "Grants of " + ui.Plain(principal)
}

// plain are words without their type.
func plain[T ~string](list []T) (out []string) {
	for _, w := range list {
		out = append(out, string(w))
	}
	return out
}

// sees asks the policy about every operation: what is neither allowed nor
// asked about does not exist for the actor.
func (v *visit) sees(actor string) (sees []string, hidden int, err error) {
	if !v.has(string(book.PolicyExplain)) {
		return nil, 0, nil
	}
	for _, o := range v.p.Gate.Table().All() {
		if o.Public {
			continue
		}
		a, err := ask(v, book.PolicyExplain, book.Case{Actor: actor, Op: o.Name})
		if err != nil {
			return nil, 0, err
		}
		if a.Effect == "deny" {
			hidden++
		} else {
			sees = append(sees, o.Name)
		}
	}
	return sees, hidden, nil
}

func (v *visit) policyPage(problem string) error {
	m, err := v.means()
	if err != nil {
		return err
	}
	show, err := ask(v, book.PolicyShow, book.ShowIn{History: true})
	if err != nil {
		return err
	}
	out := PolicyView{Now: v.now(), Version: show.Version, Rules: show.Rules, Problem: problem, PIN: m.PIN, Passkeys: m.Passkeys}
	for i := len(show.History) - 1; i >= 0 && len(out.Versions) < 30; i-- {
		h := show.History[i]
		out.Versions = append(out.Versions, ui.Moment{Tone: ui.Quiet, Icon: "policy", Who: told.By(h.By),
			Title: "version " + strconv.FormatInt(h.Version, 10), Detail: strings.TrimSpace(h.Change + " " + h.Note), At: h.At})
	}
	out.About = v.query("principal")
	if out.Grants, out.Later, err = v.grants(out.About, v.query("after")); err != nil {
		return err
	}
	out.Ask = ExplainForm{Actor: v.query("actor"), Op: v.query("op"), Resource: v.query("resource")}
	for name := range v.kinds() {
		out.Ask.Actors = append(out.Ask.Actors, name)
	}
	for _, o := range v.p.Gate.Table().All() {
		out.Ask.Ops = append(out.Ask.Ops, o.Name)
	}
	if out.Ask.Actor != "" && out.Ask.Op != "" {
		if out.Answer, err = v.explain(out.Ask); fault.KindOf(err) == fault.Internal && err != nil {
			return err
		} else if err != nil {
			out.Ask.Problem = words(err)
		}
	}
	return v.show(policyPage(v.shell("policy", "Policy"), out))
}

func (v *visit) explain(q ExplainForm) (*ExplainView, error) {
	a, err := ask(v, book.PolicyExplain, book.Case{Actor: q.Actor, Op: q.Op, Resource: q.Resource})
	if err != nil {
		return nil, err
	}
	out := &ExplainView{Answer: a.Effect, Reason: a.Reason, Decider: a.By}
	for _, s := range a.Steps {
		said := s.Effect + " for " + s.Principal
		if s.Group != "" {
			said += ", in group:" + s.Group
		}
		if s.Note != "" {
			said += ": " + s.Note
		}
		out.Steps = append(out.Steps, ExplainStep{Name: s.By, Said: said, Decided: s.By == a.By})
	}
	return out, nil
}

func splitGrants(grants []GrantRow) (own, house []GrantRow) {
	for _, g := range grants {
		if g.Own {
			own = append(own, g)
		} else {
			house = append(house, g)
		}
	}
	return own, house
}

func grantInput(v *visit) (book.GrantIn, error) {
	in := book.GrantIn{Principal: strings.TrimSpace(v.r.PostFormValue("principal")), Effect: v.r.PostFormValue("effect"),
		Resource:    strings.TrimSpace(v.r.PostFormValue("resource")),
		Permissions: v.r.PostForm["can"], Note: v.r.PostFormValue("note")}
	if t := v.r.PostFormValue("expires"); t != "" {
		var err error
		if in.TTL, err = strconv.ParseInt(t, 10, 64); err != nil {
			return in, fault.New(fault.Invalid, string(book.GrantAdd), "choose when the grant ends")
		}
	}
	return in, nil
}

// permissions a grant can give, the weakest first.
var permissions = []string{"view", "read", "edit", "execute", "delegate", "admin"}
