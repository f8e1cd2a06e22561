package panel

import (
	"bytes"
	"strings"
	"time"

	server "tandem/internal/server/wire"

	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/panel/ui"
	"tandem/internal/session"
	"tandem/internal/session/relay"
	"tandem/internal/told"
	"tandem/internal/tunnel/wire"
)

func overviewNav() page {
	return page{id: "overview", label: "Overview", href: "/panel/", icon: "overview", key: "g o", routes: func(p *Panel) {
		p.get("/panel/{$}", (*visit).overview)
	}}
}

// OverviewView is what the first page shows: what waits, what happened, and
// whether the house is in order.
type OverviewView struct {
	Now      time.Time
	Inbox    []InboxRow
	Looking  int // sessions that were not looked at since the start
	Pending  int
	Actors   int
	Active   int   // actors seen in the last hour
	Events   int   // in the last 24 hours
	Counted  bool  // all of them; otherwise at least so many
	Refused  int   // of them
	PerHour  []int // events in each of the last 48 hours
	Size     int64 // entries in the journal
	Recent   []ui.Moment
	Health   []ui.Pair
	Problems []Check
	Steps    []SetupStep
}

// SetupStep is something a new installation still wants done.
type SetupStep struct {
	Done    bool
	Title   string
	Detail  string
	Command string
	Href    string
}

func (v OverviewView) stepsLeft() int {
	n := 0
	for _, s := range v.Steps {
		if !s.Done {
			n++
		}
	}
	return n
}

func (v OverviewView) pendingTone() ui.Tone {
	if v.Pending > 0 {
		return ui.Warn
	}
	return ui.Quiet
}

func (v OverviewView) pendingNote() string {
	switch v.Pending {
	case 0:
		return "nothing waits for you"
	case 1:
		return "one thing needs you"
	}
	return "things need you"
}

func (v OverviewView) events() string {
	n := ui.Count(int64(v.Events))
	if !v.Counted {
		n += "+"
	}
	return n
}

func (v OverviewView) refusedTone() ui.Tone {
	if v.Refused > 0 {
		return ui.Warn
	}
	return ui.Quiet
}

func (v *visit) overview() error {
	out := OverviewView{Now: v.now(), PerHour: make([]int, 48), Counted: true}
	waits, err := v.waiting()
	if err != nil {
		return err
	}
	if out.Inbox, err = v.needs(); err != nil {
		return err
	}
	out.Pending, out.Looking = waits.Count, waits.Looking
	actors, err := v.actors()
	if err != nil {
		return err
	}
	out.Actors = len(actors)
	connected := false
	if v.has(string(journal.AuditLog)) {
		log, err := ask(v, journal.AuditLog, journal.LogIn{Newest: true, Limit: 1000})
		if err != nil {
			return err
		}
		connected = out.count(log, actors)
		recent := told.Fold(log.Entries, func(e journal.Entry) told.Event { return deed(&e) })
		recent = recent[:min(len(recent), 9)]
		named := v.titles(recent)
		for _, e := range recent {
			m := v.moment(&e)
			if title := named[e.Resource]; title != "" {
				m.Detail = title
			}
			if title := named["session:/"+e.Actor]; title != "" {
				m.Who = "session " + title
			}
			out.Recent = append(out.Recent, m)
		}
	}
	st, err := ask(v, server.ServerStatus, identity.Nothing{})
	if err != nil {
		return err
	}
	keys, err := v.passkeys()
	if err != nil {
		return err
	}
	if !connected { // whoever has agents at work connected one
		if connected, err = v.programsRan(); err != nil {
			return err
		}
	}
	out.Size, out.Health, out.Steps = st.Events, statusPairs(st), firstSteps(v.p.Program, st, len(keys), connected)
	if err := v.public(&out); err != nil {
		return err
	}
	recovery, err := v.recovery()
	if err != nil {
		return err
	}
	for _, c := range recovery {
		if c.Href != "" {
			out.Problems = append(out.Problems, c)
		}
	}
	return v.show(overviewPage(v.shell("overview", "Overview"), out))
}

// programsRan tells whether an agent's program ran here.
func (v *visit) programsRan() (bool, error) {
	all, err := v.programs()
	return len(all) > 0, err
}

// public tells whether the bridge has an address beyond this machine.
func (v *visit) public(out *OverviewView) error {
	if !v.has(string(wire.Show)) {
		return nil
	}
	t, err := ask(v, wire.Show, wire.Nothing{})
	switch {
	case err != nil:
		return err
	case t.State == wire.Open:
		how := string(t.Mode)
		if t.Spreading != "" {
			how += ", does not answer yet: its name is still spreading"
		}
		out.Health = append(out.Health, ui.Pair{Key: "Shared as", Value: t.URL + " (" + how + ")", Mono: true})
	case t.State == wire.Dropped:
		out.Problems = append(out.Problems, Check{Name: "The public address is gone", Tone: ui.Warn, Said: t.Reason,
			Mend: "Share again: tandem share"})
	}
	return nil
}

// titles are the names by which people know the sessions and relays that
// entries are about, by resource.
func (v *visit) titles(entries []journal.Entry) map[string]string {
	out := map[string]string{}
	for _, e := range entries {
		about := []string{e.Resource}
		if strings.HasPrefix(e.Actor, "ses_") {
			about = append(about, "session:/"+e.Actor)
		}
		for _, resource := range about {
			if _, ok := out[resource]; !ok {
				out[resource] = v.title(resource)
			}
		}
	}
	return out
}

// title is a session's title or a relay's task, "" for everything else.
func (v *visit) title(resource string) string {
	kind, path, _ := strings.Cut(resource, ":/")
	id, _, _ := strings.Cut(path, "/")
	switch {
	case id == "":
	case kind == "session":
		if s, err := ask(v, session.SessionGet, session.IDIn{ID: id}); err == nil {
			return s.Title
		}
	case kind == "relay":
		if r, err := ask(v, relay.RelayRead, relay.ReadIn{ID: id}); err == nil {
			return firstLine(r.Task)
		}
	}
	return ""
}

// count makes figures of the newest entries, and says whether an agent was
// among those who did something.
func (v *OverviewView) count(log journal.LogOut, actors []*identity.Actor) (connected bool) {
	seen, unknown := map[string]bool{}, 0
	kinds := map[string]string{}
	for _, a := range actors {
		kinds[a.Name] = string(a.Kind)
	}
	for _, e := range log.Entries {
		age := v.Now.Sub(e.Time)
		if hour := int(age.Hours()); hour >= 0 && hour < len(v.PerHour) {
			v.PerHour[len(v.PerHour)-1-hour]++
		}
		if age < 24*time.Hour {
			v.Events++
			switch e.Phase {
			case journal.Denied:
				v.Refused++
			case journal.Unknown:
				unknown++
			}
		}
		if age < time.Hour && kinds[e.Actor] != "" {
			seen[e.Actor] = true
		}
		if kinds[e.Actor] == "agent" || bytes.Contains(e.Payload, []byte(`"door":"mcp"`)) {
			connected = true
		}
	}
	if unknown > 0 {
		v.Problems = append(v.Problems, Check{Name: plural(unknown, "outcome is", "outcomes are") + " unknown", Tone: ui.Warn,
			Said: "A crash fell between an intent and its outcome: it may or may not have happened.",
			Mend: "Look at the targets; the journal lists them under unknown outcomes."})
	}
	v.Active = len(seen)
	v.Counted = !log.More || v.Events < len(log.Entries)
	return connected
}

func firstSteps(program string, st server.Status, passkeys int, connected bool) []SetupStep {
	return []SetupStep{
		{Done: st.PIN, Title: "Set a PIN", Detail: "Until then nobody can decide: a program that runs as you is not you.",
			Command: program + " pin set"},
		{Done: passkeys > 0, Title: "Register a passkey", Detail: "So that you can answer here with a touch.", Href: "/panel/passkeys/new"},
		{Done: connected, Title: "Connect an agent", Detail: "Any program that speaks MCP.",
			Command: "claude mcp add tandem -- " + program + " mcp"},
	}
}
