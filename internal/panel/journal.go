package panel

import (
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/panel/ui"
	"tandem/internal/told"
)

func journalNav() page {
	return page{id: "journal", label: "Journal", href: "/panel/journal", icon: "journal", key: "g j", needs: string(journal.AuditLog),
		routes: func(p *Panel) {
			p.get("/panel/journal", (*visit).journal)
			p.get("/panel/journal/verify", (*visit).verify)
			p.get("/panel/journal/{seq}", (*visit).entry)
			p.get("/panel/journal/{seq}/proof", (*visit).proof)
			p.get("/panel/journal/{seq}/receipt", (*visit).receipt)
		}}
}

// EventRow is an entry of the journal in a list.
type EventRow struct {
	Seq      int64
	At       time.Time
	Kind     string // what happened, as noun.verb
	Actor    string
	Who      string // the actor as people say it
	ActKind  string // person, agent, session, service
	Resource string
	Outcome  string // done, intended, failed, denied, unknown
	Summary  string
}

// JournalView is the journal with what it was searched for.
type JournalView struct {
	Now   time.Time
	Query string
	Actor string
	Phase string
	Rows  []EventRow
	Size  int64
	Older string // address of the next page, or empty
	Newer string
}

// EntryView is one entry whole.
type EntryView struct {
	EventRow
	Chain   []string
	Door    string // by which door it came: panel, cli, http, mcp
	Request string
	Payload string // as JSON; empty when retention has deleted it
	Gone    bool   // the payload was deleted, its hash remains
	Salt    string // of the record
	Body    string // salted hash of the payload
	Cause   int64  // the intent that this ends
	Prev    int64
	Next    int64
}

// ProofView shows that an entry is in the journal, to anybody.
type ProofView struct {
	EventRow
	Size       int64 // of the tree that the proof leads to
	Root       string
	Path       []string // sibling hashes, from the leaf up
	Checkpoint string   // the signed note
	PublicKey  string
	Receipt    string // address of the receipt file
	Checked    bool   // verified while rendering
	Problem    string
}

func journalHref(seq int64) string { return "/panel/journal/" + strconv.FormatInt(seq, 10) }

func (v JournalView) phases() []ui.Option {
	out := []ui.Option{{Value: "", Label: "Everything"}}
	for _, p := range [][2]string{{"done", "Changes"}, {"intent", "Intents"}, {"outcome", "Outcomes"}, {"denied", "Refusals"},
		{"asked", "Asks"}, {"unknown", "Unknown outcomes"}} {
		out = append(out, ui.Option{Value: p[0], Label: p[1], Chosen: p[0] == v.Phase})
	}
	return out
}

func (v JournalView) searched() bool { return v.Query != "" || v.Actor != "" || v.Phase != "" }

func (v *visit) journal() error {
	out := JournalView{Now: v.now(), Query: v.query("q"), Actor: v.query("actor"), Phase: v.query("phase")}
	if n, err := strconv.ParseInt(strings.TrimPrefix(out.Query, "#"), 10, 64); err == nil && n > 0 {
		return v.go303(journalHref(n), "")
	}
	q := parseQuery(out.Query)
	q.Actor, q.Phase = out.Actor, out.Phase
	if b := v.query("before"); b != "" {
		n, err := strconv.ParseInt(b, 10, 64)
		if err != nil || n < 1 {
			return fault.New(fault.Invalid, "panel", "%q is not the number of an entry", ui.Short(b, 20))
		}
		q.Before = n
		out.Newer = "/panel/journal?" + out.params(0).Encode()
	}
	log, err := v.find(q)
	if err != nil {
		return err
	}
	kinds := v.kinds()
	out.Size = log.Head
	for _, e := range told.Fold(log.Entries, func(e journal.Entry) told.Event { return deed(&e) }) {
		out.Rows = append(out.Rows, v.event(&e, kinds))
	}
	if log.More {
		out.Older = "/panel/journal?" + out.params(log.At).Encode()
	}
	return v.show(journalPage(v.shell("journal", "Journal"), out))
}

func (v JournalView) params(before int64) url.Values {
	q := url.Values{}
	for k, s := range map[string]string{"q": v.Query, "actor": v.Actor, "phase": v.Phase} {
		if s != "" {
			q.Set(k, s)
		}
	}
	if before > 0 {
		q.Set("before", strconv.FormatInt(before, 10))
	}
	return q
}

func (v *visit) seq() (journal.SeqIn, error) {
	n, err := strconv.ParseInt(v.r.PathValue("seq"), 10, 64)
	if err != nil || n < 1 {
		return journal.SeqIn{}, noSuchPage
	}
	return journal.SeqIn{Seq: n}, nil
}

func (v *visit) entry() error {
	in, err := v.seq()
	if err != nil {
		return err
	}
	e, err := ask(v, journal.AuditShow, in)
	if err != nil {
		return err
	}
	out := EntryView{EventRow: v.event(e, v.kinds()), Chain: names(e.For), Request: e.Request, Salt: hex.EncodeToString(e.Salt),
		Body: hex.EncodeToString(e.PayloadHash), Cause: e.Cause, Prev: e.Seq - 1}
	out.Door, _ = details(e)["door"].(string)
	if len(e.Payload) > 0 {
		out.Payload = pretty(e.Payload)
	} else {
		out.Gone = len(e.PayloadHash) > 0
	}
	if log, err := ask(v, journal.AuditLog, journal.LogIn{After: e.Seq, Limit: 1}); err == nil && len(log.Entries) == 1 {
		out.Next = log.Entries[0].Seq
	}
	s := v.shell("journal", seqText(e.Seq))
	s.Back = &ui.Crumb{Label: "Journal", Href: "/panel/journal"}
	return v.show(entryPage(s, out))
}

func (v *visit) proof() error {
	in, err := v.seq()
	if err != nil {
		return err
	}
	r, err := ask(v, journal.AuditProve, in)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	out := ProofView{EventRow: v.event(&r.Entry, v.kinds()), PublicKey: r.Key, Receipt: journalHref(r.Entry.Seq) + "/receipt", Checked: true}
	out.read(r.Proof)
	if err := v.p.Check(raw); err != nil {
		out.Checked, out.Problem = false, err.Error()
	}
	s := v.shell("journal", "Proof of "+seqText(r.Entry.Seq))
	s.Back = &ui.Crumb{Label: seqText(r.Entry.Seq), Href: journalHref(r.Entry.Seq)}
	return v.show(proofPage(s, out))
}

// read takes a C2SP tlog-proof apart for showing; Check is what judges it.
func (v *ProofView) read(proof string) {
	top, checkpoint, _ := strings.Cut(proof, "\n\n")
	for _, l := range strings.Split(top, "\n")[1:] {
		if !strings.HasPrefix(l, "index ") && !strings.HasPrefix(l, "extra ") {
			v.Path = append(v.Path, l)
		}
	}
	v.Checkpoint = checkpoint
	if lines := strings.Split(checkpoint, "\n"); len(lines) > 2 {
		v.Size, _ = strconv.ParseInt(lines[1], 10, 64) // a checkpoint's second line is its size, the third its root
		v.Root = lines[2]
	}
}

func (v *visit) receipt() error {
	in, err := v.seq()
	if err != nil {
		return err
	}
	r, err := ask(v, journal.AuditProve, in)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/json")
	v.w.Header().Set("Content-Disposition", `attachment; filename="receipt-`+strconv.FormatInt(in.Seq, 10)+`.json"`)
	_, err = v.w.Write(raw)
	return err
}

func outcomeTone(outcome string) ui.Tone {
	switch outcome {
	case "done":
		return ui.Good
	case "failed":
		return ui.Bad
	case "unknown", "pending", "denied": // a refusal is the gate at work
		return ui.Warn
	}
	return ui.Quiet
}

func kindTone(kind string) ui.Tone {
	switch kind {
	case "person":
		return ui.Good
	case "agent", "session":
		return ui.Info
	}
	return ui.Quiet
}

func seqText(n int64) string { return "#" + ui.Count(n) }

func (v *visit) verify() error {
	out, err := ask(v, journal.AuditVerify, journal.VerifyIn{})
	if err != nil {
		return err
	}
	s := v.shell("journal", "Check")
	s.Here, s.Back = "", &ui.Crumb{Label: "Journal", Href: "/panel/journal"}
	return v.show(reportPage(s, out))
}

func causeText(seq int64) string {
	if seq == 0 {
		return ""
	}
	return seqText(seq)
}
