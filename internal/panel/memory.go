package panel

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
	"tandem/internal/panel/ui"
	"tandem/internal/told"
)

func memoryNav() page {
	return page{id: "memory", label: "Memory", href: "/panel/memory", icon: "memory", key: "g n", needs: string(wire.List),
		routes: memoryRoutes}
}

func memoryRoutes(p *Panel) {
	p.get("/panel/memory", func(v *visit) error { return v.memory("") })
	perform(p, "/panel/memory", wire.Add, rememberInput,
		func(v *visit, _ wire.AddIn, c wire.Changed) error { return v.go303(memoryHref(c.ID), "memory-added") },
		func(v *visit, err error) error { return v.memory(words(err)) })
	p.get("/panel/memory/{id}", func(v *visit) error { return v.record(v.r.PathValue("id"), "") })
	perform(p, "/panel/memory/{id}/edit", wire.Edit,
		func(v *visit) (wire.EditIn, error) {
			text := v.r.PostFormValue("text")
			version, err := versionIn(v)
			return wire.EditIn{ID: v.r.PathValue("id"), Text: &text, Kind: wire.Kind(v.r.PostFormValue("kind")), Version: version}, err
		},
		func(v *visit, _ wire.EditIn, c wire.Changed) error { return v.go303(memoryHref(c.ID), "memory-edited") },
		func(v *visit, err error) error { return v.record(v.r.PathValue("id"), words(err)) })
	memoryMove(p, "promote", wire.Promote, "memory-live", ConfirmView{Title: "Let everybody be told this?",
		Does: "Make it live", Variant: "primary",
		Text: "Sessions that it is for are told it from now on, as something that you approved, in exactly the version that you read."})
	memoryMove(p, "demote", wire.Demote, "memory-back", ConfirmView{Title: "Take this back?", Does: "Take it back",
		Text: "Nobody is told it any more until somebody makes it live again."})
	forgetRoutes(p)
}

// memoryMove asks for a person about the version that the page showed.
func memoryMove(p *Panel, verb string, d op.Def[wire.MoveIn, wire.Changed], said string, view ConfirmView) {
	asks := func(v *visit, problem string) error {
		id, view := v.r.PathValue("id"), view
		r, err := ask(v, wire.Show, wire.IDIn{ID: id})
		if err != nil {
			return err
		}
		if read := v.r.FormValue("version"); read != strconv.FormatInt(r.Version, 10) { // nobody is asked about another one
			return v.record(id, cmp.Or(problem, fmt.Sprintf("it is at version %d by now, and you read another one", r.Version)))
		}
		view.Shown = recordSays(r.Text)
		view.Subject, view.Action, view.Back, view.Problem = id, memoryHref(id)+"/"+verb, memoryHref(id), problem
		view.Fields = []Hidden{{"version", v.r.FormValue("version")}}
		return v.confirms("memory", view)
	}
	p.get("/panel/memory/{id}/"+verb, func(v *visit) error { return asks(v, "") })
	perform(p, "/panel/memory/{id}/"+verb, d,
		func(v *visit) (wire.MoveIn, error) {
			version, err := versionIn(v)
			return wire.MoveIn{ID: v.r.PathValue("id"), Version: version}, err
		},
		func(v *visit, _ wire.MoveIn, c wire.Changed) error { return v.go303(memoryHref(c.ID), said) },
		func(v *visit, err error) error { return asks(v, words(err)) })
}

// forgetRoutes ask once, and then say what is gone and what is not.
func forgetRoutes(p *Panel) {
	asks := func(v *visit, problem string) error {
		id := v.r.PathValue("id")
		r, err := ask(v, wire.Show, wire.IDIn{ID: id})
		if err != nil {
			return err
		}
		return v.confirms("memory", ConfirmView{Title: "Forget this?", Does: "Forget it", Subject: id, Problem: problem,
			Shown:  recordSays(r.Text),
			Text:   "Every text that it ever had is deleted, in the database, too. This cannot be undone.",
			Action: memoryHref(id) + "/forget", Back: memoryHref(id)})
	}
	p.get("/panel/memory/{id}/forget", func(v *visit) error { return asks(v, "") })
	perform(p, "/panel/memory/{id}/forget", wire.Forget,
		func(v *visit) (wire.IDIn, error) { return wire.IDIn{ID: v.r.PathValue("id")}, nil },
		func(v *visit, _ wire.IDIn, out wire.ForgetOut) error {
			s := v.shell("memory", "Forgotten")
			s.Back = &ui.Crumb{Label: "Memory", Href: "/panel/memory"}
			return v.show(forgottenPage(s, ForgottenView{ID: out.ID, Derived: out.Derived, Told: out.Told, Beyond: out.Beyond}))
		},
		func(v *visit, err error) error { return asks(v, words(err)) })
}

func memoryHref(id string) string { return "/panel/memory/" + pathEscape(id) }

func recordHref(id string, version int64) string {
	return memoryHref(id) + "?version=" + strconv.FormatInt(version, 10)
}

func versionIn(v *visit) (int64, error) {
	n, err := strconv.ParseInt(v.r.PostFormValue("version"), 10, 64)
	if err != nil || n < 1 {
		return 0, fault.New(fault.Invalid, "memory", "which version you read is missing").WithNext("open the record again")
	}
	return n, nil
}

func rememberInput(v *visit) (wire.AddIn, error) {
	form := func(name string) string { return strings.TrimSpace(v.r.PostFormValue(name)) }
	return wire.AddIn{Text: form("text"), Kind: wire.Kind(form("kind")), Tier: wire.Tier(form("tier")), Of: form("of"),
		Labels: strings.Fields(strings.ReplaceAll(form("labels"), ",", " "))}, nil
}

// MemoryRow is a record in a list.
type MemoryRow struct {
	ID, Text, Where, From string
	Kind                  wire.Kind
	State                 wire.State
	Trust                 wire.Trust
	Labels                []string
	Made                  time.Time
}

func memoryRow(r wire.Record) MemoryRow {
	row := MemoryRow{ID: r.ID, Text: firstLine(r.Text), Where: strings.TrimSpace(string(r.Tier) + " " + r.Of), Kind: r.Kind, State: r.State,
		Trust: r.Trust, Labels: r.Labels, Made: r.ChangedAt, From: "by " + told.By(r.Owner)}
	if len(r.Sources) > 0 {
		row.From = "from " + r.Sources[0].Kind + " " + r.Sources[0].Ref
	}
	return row
}

// passagesMost is how many passages a page shows: each is a paragraph or more.
const passagesMost = 10

// PassageRow is a stretch of a document that was found.
type PassageRow struct {
	Source, File, Place, Text string
	Trust                     wire.Trust
	Read                      time.Time
}

// cited says where a passage stands.
func (p PassageRow) cited() string {
	if p.Place == "" {
		return p.File
	}
	return p.File + ", " + p.Place
}

func memoryTone(s wire.State) ui.Tone {
	switch s {
	case wire.Live:
		return ui.Good
	case wire.Proposed:
		return ui.Warn
	}
	return ui.Quiet
}

func trustTone(t wire.Trust) ui.Tone {
	if t == wire.Untrusted {
		return ui.Warn
	}
	return ui.Info
}

// MemoryView is what is remembered: all of a state, or what was searched for.
type MemoryView struct {
	Now        time.Time
	Query      string
	Among      wire.State // where it was searched for; only what is live is found
	State      wire.State
	Kind, Tier string
	Rows       []MemoryRow
	Passages   []PassageRow // of documents, found beside them
	How        string       // how it was found
	Older      string
	Waiting    int  // proposals, up to waitingMost
	WaitMore   bool // there are more
	May        bool
	PIN        bool
	Passkeys   int
	Problem    string
	Kept       url.Values // what was typed and refused
}

// waitingMost is up to how many proposals are counted.
const waitingMost = 20

func (v *visit) memory(problem string) error {
	m, err := v.means()
	if err != nil {
		return err
	}
	out := MemoryView{Now: v.now(), Query: strings.TrimSpace(v.query("q")), State: wire.State(v.query("state")), Kind: v.query("kind"),
		Tier: v.query("tier"), May: v.has(string(wire.Add)), PIN: m.PIN, Passkeys: m.Passkeys, Problem: problem,
		Kept: v.refilled("/panel/memory")}
	filter := wire.Filter{Kind: wire.Kind(out.Kind), Tier: wire.Tier(out.Tier)}
	if out.Query != "" {
		found, err := ask(v, wire.Search, wire.SearchIn{Query: out.Query, Filter: filter, Limit: 50})
		if err != nil {
			return err
		}
		out.How, out.Among, out.State = found.How, out.State, wire.Live
		for _, h := range found.Hits {
			out.Rows = append(out.Rows, memoryRow(h.Record))
		}
		for _, p := range found.Passages[:min(len(found.Passages), passagesMost)] {
			out.Passages = append(out.Passages, PassageRow{Source: p.Source, File: p.File, Place: p.Place, Text: p.Text, Trust: p.Trust, Read: p.At})
		}
	} else if err := v.listMemory(&out, filter); err != nil {
		return err
	}
	if waiting, err := ask(v, wire.List, wire.ListIn{State: wire.Proposed, Limit: waitingMost}); err == nil { // a number beside the point
		out.Waiting, out.WaitMore = len(waiting.Records), waiting.More
	}
	s := v.shell("memory", "Memory")
	if problem != "" {
		s.Here = "/panel/memory"
	}
	return v.show(memoryPage(s, out))
}

func (v *visit) listMemory(out *MemoryView, filter wire.Filter) error {
	list, err := ask(v, wire.List, wire.ListIn{Filter: filter, State: out.State, Before: v.query("before"), Limit: 50})
	if err != nil {
		return err
	}
	for _, r := range list.Records {
		out.Rows = append(out.Rows, memoryRow(r))
	}
	if n := len(out.Rows); list.More && n > 0 {
		out.Older = out.href(out.State) + "&before=" + pathEscape(out.Rows[n-1].ID)
	}
	return nil
}

// href is the list of a state, with what it is narrowed to.
func (v MemoryView) href(state wire.State) string {
	return "/panel/memory?" + url.Values{"state": {string(state)}, "kind": {v.Kind}, "tier": {v.Tier}}.Encode()
}

func (v MemoryView) tabs() []ui.Tab {
	return []ui.Tab{{Label: "Live", Href: v.href(""), Active: v.State == "" || v.State == wire.Live},
		{Label: "Proposed", Href: v.href(wire.Proposed), Count: v.Waiting, More: v.WaitMore, Active: v.State == wire.Proposed},
		{Label: "Superseded", Href: v.href(wire.Superseded), Active: v.State == wire.Superseded}}
}

// choices are a select's options, with one for all.
func choices[T ~string](all []T, chosen, none string) []ui.Option {
	out := []ui.Option{{Label: none, Chosen: chosen == ""}}
	for _, one := range all {
		out = append(out, ui.Option{Value: string(one), Label: string(one), Chosen: string(one) == chosen})
	}
	return out
}

func (v *visit) foundMemory(query string) (out []Found) {
	if !v.has(string(wire.Search)) {
		return nil
	}
	found, _ := ask(v, wire.Search, wire.SearchIn{Query: query, Only: wire.OnlyRecords, Limit: foundMost})
	for _, h := range found.Hits {
		out = append(out, Found{"memory", "memory", firstLine(h.Text), query, memoryHref(h.ID)})
	}
	return out
}
