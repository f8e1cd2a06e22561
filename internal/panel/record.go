package panel

import (
	"strconv"
	"strings"
	"time"

	"tandem/internal/memory/wire"
	"tandem/internal/panel/ui"
	"tandem/internal/told"
	"tandem/internal/unified"
)

// RecordView is one record: what it says, where it comes from, and what became of it.
type RecordView struct {
	MemoryRow
	Now        time.Time
	Whole      string
	Version    int64
	Newer      bool // it is at another version than the one that the page was opened with
	Sources    []SourceRow
	Facts      []ui.Pair
	Changes    []unified.Line // against the record that it would stand for
	Replaces   string
	ReplacedBy string
	History    []MemoryVersion
	May        bool
	PIN        bool
	Passkeys   int
	Problem    string
	Lacks      []string
	Edited     string // what it was to say, and was refused
	EditKind   string
	EditOf     int64 // the version that was read for it
}

// SourceRow is where a record comes from.
type SourceRow struct{ Kind, Ref, Place, Digest, Href string }

// MemoryVersion is one state of a record, and what it changed.
type MemoryVersion struct {
	Version  int64
	What, By string
	Lines    []unified.Line
	At       time.Time
}

// ForgottenView says what is gone with a record, and what is not.
type ForgottenView struct {
	ID                    string
	Derived, Told, Beyond []string
}

func (v *visit) record(id, problem string) error {
	r, err := ask(v, wire.Show, wire.IDIn{ID: id})
	if err != nil {
		return err
	}
	m, err := v.means()
	if err != nil {
		return err
	}
	out := RecordView{MemoryRow: memoryRow(r), Now: v.now(), Whole: r.Text, Version: r.Version, Replaces: r.Replaces,
		ReplacedBy: r.ReplacedBy,
		May:        v.has(string(wire.Promote)), PIN: m.PIN, Passkeys: m.Passkeys, Problem: problem}
	if r.State == wire.Forgotten {
		out.Text = "Forgotten"
	}
	if kept := v.refilled(memoryHref(id) + "/edit"); kept != nil { // it stays about what was read when it was written
		out.Edited, out.EditKind = kept.Get("text"), kept.Get("kind")
		out.EditOf, _ = strconv.ParseInt(kept.Get("version"), 10, 64)
	}
	for _, s := range r.Sources {
		out.Sources = append(out.Sources, sourceRow(s))
	}
	out.Facts = []ui.Pair{{Key: "For", Value: out.Where}, {Key: "Written by", Value: told.By(r.Owner)}, {Key: "Labels",
		Value: strings.Join(r.Labels, ", ")},
		{Key: "Told to", Value: plural(int(r.Uses), "session", "sessions")}, {Key: "Written", Value: ui.Stamp(r.MadeAt)},
		{Key: "Changed", Value: ui.Stamp(r.ChangedAt)}}
	if !r.ExpiresAt.IsZero() {
		out.Facts = append(out.Facts, ui.Pair{Key: "Told until", Value: ui.Stamp(r.ExpiresAt)})
	}
	out.Facts = append(out.Facts, ui.Pair{Key: "Version", Value: strconv.FormatInt(r.Version, 10)},
		ui.Pair{Key: "Record", Value: r.ID, Mono: true, Copy: true})
	if r.Replaces != "" && r.State == wire.Proposed {
		if old, err := ask(v, wire.Show, wire.IDIn{ID: r.Replaces}); err == nil { // it may be gone, or not for this reader
			out.Changes = unified.Diff(old.Text, r.Text)
		}
	}
	if v.has(string(wire.History)) {
		if h, err := ask(v, wire.History, wire.IDIn{ID: id}); err != nil {
			out.Lacks = append(out.Lacks, "What became of it: "+words(err))
		} else {
			out.History = versions(h.Versions)
		}
	}
	s := v.shell("memory", out.Text)
	s.Here = recordHref(id, r.Version)
	if read, err := strconv.ParseInt(v.query("version"), 10, 64); err == nil { // what is read stays what is decided about
		s.Here, out.Newer = recordHref(id, read), read != r.Version
	}
	s.Back = &ui.Crumb{Label: "Memory", Href: "/panel/memory"}
	return v.show(recordPage(s, out))
}

// versions are the states of a record, newest first, each with what it changed.
func versions(all []wire.Version) []MemoryVersion {
	out, before := make([]MemoryVersion, len(all)), ""
	for i, x := range all {
		one := MemoryVersion{Version: x.Version, What: x.What, By: told.By(x.By), At: x.At}
		if x.Text != "" && x.Text != before && before != "" {
			one.Lines = unified.Diff(before, x.Text)
		}
		if x.Text != "" {
			before = x.Text
		}
		out[len(all)-1-i] = one
	}
	return out
}

// sourceRow leads to what the panel can show.
func sourceRow(s wire.Source) SourceRow {
	row := SourceRow{Kind: s.Kind, Ref: s.Ref, Place: s.Place, Digest: s.Digest}
	switch s.Kind {
	case wire.FromMemory:
		row.Href = memoryHref(s.Ref)
	case "turn":
		if session, _, _ := strings.Cut(s.Ref, "/"); strings.HasPrefix(session, "ses_") {
			row.Href = sessionHref(session)
		}
	} // a task is not led to: its number means nothing without its space
	return row
}
