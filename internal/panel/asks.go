package panel

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"tandem/internal/panel/ui"
)

// wireAsk is an ask as approval.list and approval.get tell it.
type wireAsk struct {
	ID        string          `json:"id"`
	State     string          `json:"state"`
	Op        string          `json:"op"`
	Resource  string          `json:"resource"`
	Digest    string          `json:"digest"`
	Input     json.RawMessage `json:"input"`
	AskerID   string          `json:"asker_id"`
	Asker     string          `json:"asker"`
	Called    string          `json:"called"`
	AskerKind string          `json:"asker_kind"`
	For       []string        `json:"for"`
	Reason    string          `json:"reason"`
	By        string          `json:"by"`
	Approvers []string        `json:"approvers"`
	CreatedAt time.Time       `json:"created_at"`
	ExpiresAt time.Time       `json:"expires_at"`
	DecidedAt *time.Time      `json:"decided_at"`
	DecidedBy string          `json:"decided_by"`
	Feedback  string          `json:"feedback"`
	SpentAt   *time.Time      `json:"spent_at"`
	Always    string          `json:"always"`
	InFolder  string          `json:"always_in_folder"`
	Title     string          `json:"title"`
	Session   string          `json:"session"`
	Successor string          `json:"successor"`
	First     *wirePage       `json:"first_page"`
}

func (v *visit) asks(state string) ([]wireAsk, error) {
	out, err := call[struct{ Asks []wireAsk }](v, "approval.list", map[string]any{"state": state, "limit": 1000})
	return out.Asks, err
}

func (a wireAsk) row() AskRow {
	return AskRow{ID: a.ID, Op: a.Op, Summary: a.summary(), Resource: a.Resource, Asker: a.who(), Kind: a.AskerKind, State: a.State,
		Filed: a.CreatedAt, Expires: a.ExpiresAt}
}

// who asks, by the name that people know.
func (a wireAsk) who() string { return cmp.Or(a.Called, a.Asker) }

// summary says in a line what would be done. A command is its own summary;
// everything else is the operation and what it touches. It is short, whatever
// the call holds: a line is no place to look at an ask whole.
func (a wireAsk) summary() string {
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
func (v *visit) whole(a wireAsk, shown int) (AskView, error) {
	m, err := v.means()
	if err != nil {
		return AskView{}, err
	}
	pages, of, err := v.pages(a, shown)
	if err != nil {
		return AskView{}, err
	}
	out := AskView{AskRow: a.row(), Digest: a.Digest, Chain: names(a.For), Reason: a.Reason, Decider: a.By, Pages: pages, Of: of, PIN: m.PIN,
		Passkeys: m.Passkeys, Always: a.Always, InFolder: a.InFolder}
	if o := v.p.Gate.Table().Get(a.Op); o != nil {
		out.Right, out.Class = o.Right, string(o.Class)
	}
	switch {
	case a.AskerID == v.caller.Actor:
		out.MayNot = "Whoever asks does not answer."
	case !slices.Contains(a.Approvers, "person:*") && !slices.Contains(a.Approvers, "person:"+v.caller.Name):
		out.MayNot = "Only " + strings.Join(names(a.Approvers), ", ") + " may answer this."
	default:
		out.May = true
	}
	out.Moments = []ui.Moment{{Tone: ui.Info, Icon: "approvals", Who: a.who(), Title: "asked", Detail: a.Reason, At: a.CreatedAt}}
	if a.DecidedAt != nil {
		out.Verdict = v.verdict(a)
		out.Moments = append(out.Moments, ui.Moment{Tone: stateTone(out.Verdict.Word), Icon: "check", Title: verdictSentence(*out.Verdict),
			Detail: a.Feedback, At: *a.DecidedAt})
	}
	if a.SpentAt != nil {
		out.Moments = append(out.Moments, ui.Moment{Tone: ui.Good, Icon: "check", Who: a.who(), Title: "used the approval", At: *a.SpentAt})
	}
	if a.State == "expired" {
		out.Moments = append(out.Moments, ui.Moment{Tone: ui.Quiet, Icon: "clock", Title: "its time ran out", At: a.ExpiresAt})
	}
	return out, nil
}

// verdict is how an ask was answered; the journal knows with what.
func (v *visit) verdict(a wireAsk) *Verdict {
	out := &Verdict{Word: a.State, By: a.DecidedBy, Feedback: a.Feedback, At: *a.DecidedAt, Successor: a.Successor}
	if a.DecidedBy == "withdrawn" || a.DecidedBy == "abandoned" { // by no person, so the journal has no answer
		out.Word = "unanswered"
		return out
	}
	if a.SpentAt != nil || a.State == "expired" {
		out.Word = "approved"
	}
	if !v.has("audit.log") {
		return out
	}
	log, err := call[wireLog](v, "audit.log", map[string]any{"phase": "done", "resource": "approval:/" + a.ID, "since": a.DecidedAt,
		"limit": 1})
	if err == nil && len(log.Entries) == 1 {
		out.Seq = log.Entries[0].Seq
		how, _ := log.Entries[0].details()["present"].(string)
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
