package panel

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/internal/approval"
	"tandem/internal/fault"
	"tandem/internal/panel/ui"
)

func approvalsNav() page {
	return page{id: "approvals", label: "Approvals", href: "/panel/approvals", icon: "approvals", key: "g a", needs: string(approval.AskList),
		routes: func(p *Panel) {
			p.get("/panel/approvals", func(v *visit) error { return v.inbox() })
			p.get("/panel/approvals/several", func(v *visit) error { return v.severalAsks(v.r.URL.Query()["ask"], "") })
			p.get("/panel/approvals/{id}/content", (*visit).content)
			perform(p, "/panel/approvals/several", approval.AskDecideSeveral, severalInput,
				func(v *visit, in approval.SeveralIn, _ approval.SeveralOut) error {
					return v.go303("/panel/approvals", string(in.Verdict))
				},
				func(v *visit, err error) error { return v.severalAsks(v.r.PostForm["ask"], words(err)) })
			p.get("/panel/approvals/{id}", func(v *visit) error { return v.ask(v.r.PathValue("id"), "") })
			again := func(v *visit, err error) error { return v.ask(v.r.PathValue("id"), words(err)) }
			perform(p, "/panel/approvals/{id}/decide", approval.AskDecide, decideInput,
				func(v *visit, in approval.DecideIn, _ *approval.Ask) error {
					return v.go303(v.backToWork(), string(in.Verdict))
				}, again)
			perform(p, "/panel/approvals/{id}/always", approval.AskAlways, alwaysInput,
				func(v *visit, _ approval.AlwaysIn, _ approval.AlwaysOut) error {
					return v.go303(v.backToWork(), "always")
				}, again)
		}}
}

// backToWork is where somebody goes on who answered an ask: the conversation in which it was asked, or the other asks.
func (v *visit) backToWork() string {
	return cmp.Or(v.backTo(v.r.PostFormValue("back")), "/panel/approvals")
}

// backTo is a page of a session, the overview, or nothing: a link cannot lead elsewhere.
func (v *visit) backTo(page string) string {
	if page == "/panel/" || strings.HasPrefix(page, "/panel/sessions/") || strings.HasPrefix(page, "/panel/runs/") {
		return page
	}
	return ""
}

// askHref is the page of an ask; "" for none.
func askHref(id string) string {
	if id == "" {
		return ""
	}
	return "/panel/approvals/" + pathEscape(id)
}

// AskRow is an ask in a list.
type AskRow struct {
	ID       string
	Op       string
	Summary  string // what would be done, in words
	Resource string
	Asker    string
	Kind     string // of the asker: agent, session, service, person
	State    string // pending, approved, rework, cancelled, expired
	Filed    time.Time
	Expires  time.Time
	Selected bool
}

// AskView is an ask whole: enough to decide on nothing else.
type AskView struct {
	AskRow
	Digest   string
	Right    string
	Class    string    // state or effect
	Chain    []string  // who acts for whom, nearest first
	Reason   string    // why policy wants a person
	Decider  string    // the grant or rule that said so
	Pages    []AskPage // of what it is about, as many as were turned
	Of       int       // how many there are
	Always   string    // what a standing answer would let pass in the session, "" for none
	InFolder string    // and in the call's folder
	Alike    []string  // others that wait for the same to the same
	Verdict  *Verdict
	Moments  []ui.Moment
	May      bool   // the viewer may approve
	MayDeny  bool   // the viewer may say no
	MayNot   string // why not, when they may not
	Passkeys int    // registered for the viewer
	PIN      bool   // set for the viewer
	Problem  string // why the last attempt was refused
	Back     string // where to go on after the answer, when not to the other asks
}

// whole says that all of it was shown: only then it can be approved.
func (a AskView) whole() bool { return len(a.Pages) >= a.Of }

// nextPage is where one more page is shown.
func (a AskView) nextPage() string {
	n := strconv.Itoa(len(a.Pages) + 1)
	q := url.Values{"shown": {n}}
	if a.Back != "" {
		q.Set("back", a.Back)
	}
	return "/panel/approvals/" + pathEscape(a.ID) + "?" + q.Encode() + "#page-" + n
}

// actions are the answers that the viewer can give to what was shown so far.
func (a AskView) actions() []askAction {
	switch {
	case a.May && a.whole():
		return askActions
	case a.May || a.MayDeny:
		return askActions[1:]
	}
	return nil
}

// Verdict is how an ask ended.
type Verdict struct {
	Word      string // approved, rework, cancelled, or unanswered
	By        string
	With      string // passkey, PIN or token
	Feedback  string
	At        time.Time
	Seq       int64  // of the decision's event, 0 if none
	Successor string // the ask in which the same call waits now
}

// ApprovalsView is the inbox: a list, and one ask beside it.
type ApprovalsView struct {
	Now      time.Time
	Tab      string // pending or decided
	Pending  int
	Rows     []AskRow
	Selected *AskView
}

func decideInput(v *visit) (approval.DecideIn, error) {
	return approval.DecideIn{ID: v.r.PathValue("id"), Verdict: approval.Verdict(v.r.PostFormValue("verdict")),
		Feedback: v.r.PostFormValue("feedback"), Digest: v.r.PostFormValue("digest"), Pages: v.r.PostForm["pages"]}, nil
}

func alwaysInput(v *visit) (approval.AlwaysIn, error) {
	hours, err := strconv.ParseInt(v.r.PostFormValue("hours"), 10, 64)
	if err != nil {
		return approval.AlwaysIn{}, fault.New(fault.Invalid, string(approval.AskAlways), "say for how many hours")
	}
	return approval.AlwaysIn{ID: v.r.PathValue("id"), Scope: approval.Scope(v.r.PostFormValue("scope")), TTL: hours * 3600,
		Digest: v.r.PostFormValue("digest"), Pages: v.r.PostForm["pages"]}, nil
}

// scopes are where a standing answer can hold.
func (a AskView) scopes() []ui.Option {
	out := []ui.Option{{Value: "session", Label: "This session: " + a.Always, Chosen: true}}
	if a.InFolder != "" {
		out = append(out, ui.Option{Value: "folder", Label: "This folder: " + a.InFolder})
	}
	return out
}

var alwaysHours = []ui.Option{{Value: "1", Label: "One hour"}, {Value: "8", Label: "Eight hours", Chosen: true},
	{Value: "24", Label: "A day"}, {Value: "168", Label: "A week"}}

// inbox shows what waits, or what was decided, newest last or first.
func (v *visit) inbox() error {
	out := ApprovalsView{Now: v.now(), Tab: "pending"}
	pending, err := v.asks(string(approval.Pending))
	if err != nil {
		return err
	}
	out.Pending = len(pending)
	list := pending
	if v.query("tab") == "decided" {
		out.Tab = "decided"
		if list, err = v.asks("all"); err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(a *approval.Ask) bool { return a.State == approval.Pending })
		slices.Reverse(list)
		list = list[:min(len(list), 200)]
	}
	chosen := max(0, slices.IndexFunc(list, func(a *approval.Ask) bool { return a.ID == v.query("ask") }))
	for i, a := range list {
		row := askRow(a)
		if i == chosen {
			row.Selected = true
			whole, err := v.whole(a, 1)
			if err != nil {
				return err
			}
			whole.Selected, whole.Alike = true, alike(pending, a)
			out.Selected = &whole
		}
		out.Rows = append(out.Rows, row)
	}
	s := v.shell("approvals", "Approvals")
	s.Keys = approvalKeys
	return v.show(approvalsPage(s, out))
}

// ask shows one ask, with why the last attempt to answer it was refused.
func (v *visit) ask(id, problem string) error {
	a, err := ask(v, approval.AskGet, approval.IDIn{ID: id})
	if err != nil {
		return err
	}
	shown, _ := strconv.Atoi(v.query("shown")) // what is no number shows the first page
	if n := len(v.r.PostForm["pages"]); n > shown {
		shown = n // after an answer that was refused, the same pages again
	}
	whole, err := v.whole(a, shown)
	if err != nil {
		return err
	}
	whole.Problem, whole.Back = problem, v.backTo(cmp.Or(v.query("back"), v.r.PostFormValue("back")))
	s := v.shell("approvals", whole.Summary)
	s.Here = "/panel/approvals/" + pathEscape(id)
	if len(whole.Pages) > 1 {
		s.Here += "?shown=" + strconv.Itoa(len(whole.Pages))
	}
	s.Back, s.Keys = &ui.Crumb{Label: "Approvals", Href: "/panel/approvals"}, approvalKeys
	return v.show(askPage(s, v.now(), whole))
}

var approvalKeys = []ui.KeyHelp{
	{Keys: "a", Does: "Approve"},
	{Keys: "r", Does: "Send back for rework"},
	{Keys: "c", Does: "Cancel"},
	{Keys: "Enter", Does: "Open the ask"},
}

func (v ApprovalsView) tabs() []ui.Tab {
	return []ui.Tab{
		{Label: "Pending", Href: "/panel/approvals", Count: v.Pending, Active: v.Tab != "decided"},
		{Label: "Decided", Href: "/panel/approvals?tab=decided", Active: v.Tab == "decided"},
	}
}

func (v ApprovalsView) href(a AskRow) string {
	q := url.Values{"ask": {a.ID}}
	if v.Tab == "decided" {
		q.Set("tab", "decided")
	}
	return "/panel/approvals?" + q.Encode()
}

func (v ApprovalsView) empty() (title, body string) {
	if v.Tab == "decided" {
		return "Nothing decided yet", "Asks that were approved, sent back, cancelled or that ran out of time are kept here."
	}
	return "Nothing waits for you", "When an agent wants to do something that needs a person, it appears here at once."
}

func stateTone(state string) ui.Tone {
	switch state {
	case "pending":
		return ui.Warn
	case "approved", "spent":
		return ui.Good
	case "rework":
		return ui.Info
	}
	return ui.Quiet
}

func verdictSentence(v Verdict) string {
	switch v.Word {
	case "unanswered":
		return "It ended before an answer came"
	case "rework":
		return v.By + " sent it back"
	case "approved":
		return v.By + " approved it"
	case "cancelled":
		return v.By + " cancelled it"
	}
	return v.By + ": " + v.Word
}

func pathEscape(s string) string { return url.PathEscape(s) }

// askAction is one of the three answers.
type askAction struct{ Verdict, Title, Does, Icon, Key, Variant, Says string }

var askActions = []askAction{
	{"approve", "Approve", "Approve", "check", "a", "primary", "It will run once, with exactly these arguments."},
	{"rework", "Send back", "Send back for rework", "rework", "r", "", "It will not run. The asker reads what you write and may ask again."},
	{"cancel", "Cancel", "Cancel the ask", "close", "c", "danger", "It will not run, and the asker is told so."},
}

func currentRow(on bool) string {
	if on {
		return "true"
	}
	return "false"
}
