package panel

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"tandem/internal/approval"
	"tandem/internal/journal"
	"tandem/internal/panel/ui"
	"tandem/internal/told"
)

func (v *visit) asks(state string) ([]*approval.Ask, error) {
	out, err := ask(v, approval.AskList, approval.ListIn{State: state, Limit: 1000})
	return out.Asks, err
}

func askRow(a *approval.Ask) AskRow {
	return AskRow{ID: a.ID, Op: a.Op, Summary: askSummary(a), Resource: a.Resource, Asker: asker(a), Kind: string(a.AskerKind),
		State: string(a.State), Filed: a.CreatedAt, Expires: a.ExpiresAt}
}

// asker is who asks, by the name that people know.
func asker(a *approval.Ask) string {
	return cmp.Or(a.Called, a.Who())
}

// askSummary says in a line what would be done. A command is its own summary;
// everything else is the operation and what it touches. It is short, whatever
// the call holds: a line is no place to look at an ask whole.
func askSummary(a *approval.Ask) string {
	kind, path, _ := strings.Cut(a.Resource, ":/")
	if kind == "folder" { // a path of this machine
		path = "/" + path
	}
	var call struct{ Tool string }
	if json.Unmarshal(a.Input, &call) == nil && call.Tool != "" && strings.HasPrefix(a.Title, call.Tool+" ") {
		return a.Title // a program's tool and the file that it would work on
	}
	if a.Title != "" && a.Title != strings.TrimSpace(a.Op+" "+a.Resource) && !strings.HasPrefix(a.Title, a.Op+" ") {
		return "Run " + a.Title
	}
	return ui.Short(strings.TrimSpace(a.Op+" "+path), 200)
}

// pretty is JSON with its lines, for reading.
func pretty(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// whole is an ask with what a person needs to answer it, and as many of its pages as they have turned.
func (v *visit) whole(a *approval.Ask, shown int) (AskView, error) {
	m, err := v.means()
	if err != nil {
		return AskView{}, err
	}
	pages, of, err := v.pages(a, shown)
	if err != nil {
		return AskView{}, err
	}
	out := AskView{AskRow: askRow(a), Digest: a.Digest, Chain: names(a.For), Reason: a.Reason, Decider: a.By, Pages: pages, Of: of, PIN: m.PIN,
		Passkeys: m.Passkeys, Always: a.Always, InFolder: a.AlwaysInFolder}
	if o := v.p.Gate.Table().Get(a.Op); o != nil {
		out.Right, out.Class = o.Right, string(o.Class)
	}
	out.MayDeny = a.MayDeny
	if out.May = a.MayNot == ""; !out.May {
		out.MayNot = a.MayNot + ". Who may: " + a.Answerers() + "."
	}
	out.Moments = []ui.Moment{{Tone: ui.Info, Icon: "approvals", Who: asker(a), Title: "asked", Detail: a.Reason, At: a.CreatedAt}}
	for _, n := range a.Answers {
		out.Moments = append(out.Moments, ui.Moment{Tone: ui.Good, Icon: "check", Who: n.By, Title: "agreed, by " + n.Present, At: n.At})
	}
	if a.DecidedAt != nil {
		out.Verdict = v.verdict(a)
		out.Moments = append(out.Moments, ui.Moment{Tone: stateTone(out.Verdict.Word), Icon: "check", Title: verdictSentence(*out.Verdict),
			Detail: a.Feedback, At: *a.DecidedAt})
	}
	if a.SpentAt != nil {
		out.Moments = append(out.Moments, ui.Moment{Tone: ui.Good, Icon: "check", Who: asker(a), Title: "used the approval", At: *a.SpentAt})
	}
	if a.State == approval.Expired {
		out.Moments = append(out.Moments, ui.Moment{Tone: ui.Quiet, Icon: "clock", Title: "its time ran out", At: a.ExpiresAt})
	}
	return out, nil
}

// verdict is how an ask was answered; the journal knows with what.
func (v *visit) verdict(a *approval.Ask) *Verdict {
	out := &Verdict{Word: string(a.State), By: told.By(a.DecidedBy), Feedback: a.Feedback, At: *a.DecidedAt, Successor: a.Successor}
	if a.DecidedBy == approval.Withdrawn || a.DecidedBy == approval.Abandoned { // by no person, so the journal has no answer
		out.Word = "unanswered"
		return out
	}
	if a.SpentAt != nil || a.State == approval.Expired {
		out.Word = "approved"
	}
	if !v.has(string(journal.AuditLog)) {
		return out
	}
	log, err := ask(v, journal.AuditLog, journal.LogIn{Phase: journal.Done, Resource: "approval:/" + a.ID, Since: *a.DecidedAt, Limit: 1})
	if err == nil && len(log.Entries) == 1 {
		out.Seq = log.Entries[0].Seq
		how, _ := details(&log.Entries[0])["present"].(string)
		out.With = map[string]string{"pin": "the PIN", "passkey": "a passkey", "": "a token that may decide"}[how]
	}
	return out
}

// names drops the kind of "kind:name" where people read it.
func names(refs []string) []string {
	var out []string
	for _, r := range refs {
		if _, name, ok := strings.Cut(r, ":"); ok {
			r = name
		}
		out = append(out, r)
	}
	return out
}
