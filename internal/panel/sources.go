package panel

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/panel/ui"
	"tandem/internal/source/wire"
	"tandem/internal/told"
)

func sourcesNav() page {
	return page{id: "sources", label: "Sources", href: "/panel/sources", icon: "sources", key: "g f", needs: string(wire.List),
		routes: sourceRoutes}
}

const sourcesHref = "/panel/sources"

func sourceRoutes(p *Panel) {
	p.get(sourcesHref, func(v *visit) error { return v.sources("", nil) })
	field := func(v *visit, name string) string { return strings.TrimSpace(v.r.PostFormValue(name)) }
	again := func(v *visit, err error) error { return v.sources(words(err), nil) }
	name := func(v *visit) (wire.NameIn, error) { return wire.NameIn{Name: v.r.PathValue("id")}, nil }
	named := func(id string) wire.NameIn { return wire.NameIn{Name: id} }

	perform(p, sourcesHref+"/preview", wire.Preview,
		func(v *visit) (wire.PreviewIn, error) {
			from, err := bindable(v)
			return wire.PreviewIn{From: from}, err
		},
		func(v *visit, _ wire.PreviewIn, out wire.PreviewOut) error { return v.sources("", previewed(out)) }, again)
	form(p, sourcesHref, wire.Add, sourcesHref, "source-bound", func(v *visit) (wire.AddIn, error) {
		every, err := wholeNumber(field(v, "every"), "minutes")
		if err != nil {
			return wire.AddIn{}, err
		}
		from, err := bindable(v)
		return wire.AddIn{Name: field(v, "name"), From: from, Every: every}, err
	}, again)
	form(p, sourcesHref+"/{id}/sync", wire.Sync, sourcesHref, "source-due", name, again)
	form(p, sourcesHref+"/{id}/pause", wire.Pause, sourcesHref, "source-paused", name, again)
	confirm(p, wire.Resume, named, confirmed{path: sourcesHref + "/{id}/resume", title: "Import this source?",
		text: "Its documents are read with your eyes, and found by everybody who may read the source and what it comes from.",
		does: "Import it", back: sourcesHref, said: "source-on", nav: "sources"})
	confirm(p, wire.Quarantine, func(id string) wire.ReasonIn { return wire.ReasonIn{Name: id} },
		confirmed{path: sourcesHref + "/{id}/quarantine", title: "Let nobody find what came from this?",
			text: "Nothing of it is found from this moment, and nothing more is imported, until a person resumes it.",
			does: "Quarantine it", back: sourcesHref, said: "source-held", nav: "sources"})
	confirm(p, wire.Revoke, named, confirmed{path: sourcesHref + "/{id}/revoke", title: "Revoke this source?",
		text: "What came from it is out of every search at once, and is then deleted. Where it came from stays as it is.",
		does: "Revoke it", back: sourcesHref, said: "source-gone", nav: "sources"})
}

// bindable is where documents are, as a form says it: a path from the root is a folder, an address a site, connector:NAME a connector,
// everything else a repository.
func bindable(v *visit) (wire.From, error) {
	field := func(name string) string { return strings.TrimSpace(v.r.PostFormValue(name)) }
	where := field("where")
	if filepath.IsAbs(where) || strings.HasPrefix(where, "/") {
		return wire.From{Folder: where}, nil
	}
	if strings.HasPrefix(where, "http://") || strings.HasPrefix(where, "https://") {
		depth, err := wholeNumber(field("depth"), "links")
		if err != nil {
			return wire.From{}, err
		}
		pages, err := wholeNumber(field("pages"), "pages")
		return wire.From{URL: where, Depth: depth, Pages: pages}, err
	}
	if name, ok := strings.CutPrefix(where, "connector:"); ok {
		return wire.From{Connector: name}, nil
	}
	return wire.From{Repo: where, At: field("at"), Under: field("under")}, nil
}

// wholeNumber reads a field of a form; an empty one is 0.
func wholeNumber(s, of string) (int, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fault.New(fault.Invalid, "panel", "%.20q is not a number of %s", s, of)
	}
	return n, nil
}

// SourcesView is what is bound, and what an import of another one would bring.
type SourcesView struct {
	Now      time.Time
	Rows     []BoundRow
	Preview  *PreviewView
	May      bool // bind and resume them
	PIN      bool
	Passkeys int
	Problem  string
}

// BoundRow is a source that is bound.
type BoundRow struct {
	Name, Reason string
	State        wire.State
	Facts        []ui.Pair
	Waiting      bool
	Bad          []BadRow
}

// BadRow is a file without text here, and why.
type BadRow struct{ File, Reason string }

// PreviewView is what an import would bring.
type PreviewView struct {
	Where, At, Under, Depth, Pages string // as the form gave them
	Facts                          []ui.Pair
	Sample                         string
	Left                           []BadRow
}

func (v *visit) sources(problem string, preview *PreviewView) error {
	list, err := ask(v, wire.List, wire.ListIn{})
	if err != nil {
		return err
	}
	m, err := v.means()
	if err != nil {
		return err
	}
	out := SourcesView{Now: v.now(), Preview: preview, May: v.has(string(wire.Add)), PIN: m.PIN, Passkeys: m.Passkeys, Problem: problem}
	for _, s := range list.Sources {
		row := boundRow(s)
		if s.Bad > 0 {
			if whole, err := ask(v, wire.Show, wire.NameIn{Name: s.Name}); err == nil { // it may be gone by now
				row.Bad = badRows(whole.BadFiles)
			}
		}
		out.Rows = append(out.Rows, row)
	}
	s := v.shell("sources", "Sources")
	s.Here = sourcesHref
	return v.show(sourcesPage(s, out))
}

func boundRow(s wire.Source) BoundRow {
	looked := "when somebody asks"
	if s.Repo != "" && s.At != s.Commit {
		looked = "when its bookmark moves"
	}
	if s.Every > 0 {
		looked = "every " + plural(s.Every, "minute", "minutes")
	}
	return BoundRow{Name: s.Name, Reason: s.Reason, State: s.State, Waiting: s.Waiting, Facts: append(wherePairs(s.From, s.Commit), []ui.Pair{
		{Key: "Found", Value: plural(s.Files, "document", "documents") + " in " + plural(s.Passages, "passage", "passages")},
		{Key: "Could not be read", Value: plural(s.Bad, "file", "files")},
		{Key: "Import", Value: imports(s)}, {Key: "Looked at", Value: looked}, {Key: "Read with the eyes of", Value: told.By(s.Owner)}}...)}
}

// wherePairs say where documents are.
func wherePairs(f wire.From, commit string) []ui.Pair {
	switch {
	case f.URL != "":
		return []ui.Pair{{Key: "Address", Value: f.URL, Mono: true, Copy: true},
			{Key: "Links", Value: fmt.Sprintf("followed %d deep, at most %s", f.Depth, plural(f.Pages, "page", "pages"))}}
	case f.Connector != "":
		return []ui.Pair{{Key: "Connector", Value: f.Connector, Mono: true}}
	case f.Repo == "":
		return []ui.Pair{{Key: "Folder", Value: f.Folder, Mono: true, Copy: true}}
	}
	out := []ui.Pair{{Key: "Repository", Value: f.Where(), Mono: true}}
	if commit != "" {
		out = append(out, ui.Pair{Key: "Commit", Value: commit, Mono: true, Copy: true})
	}
	return out
}

// imports says how far the import of a source is.
func imports(s wire.Source) string {
	switch {
	case s.Progress != nil && s.Progress.Files > 0:
		return fmt.Sprintf("%d of %d files", s.Progress.Done, s.Progress.Files)
	case s.Waiting:
		return "due"
	case s.ImportedAt.IsZero():
		return "not yet"
	}
	return ui.Stamp(s.ImportedAt)
}

func badRows(all []wire.BadFile) (out []BadRow) {
	for _, f := range all {
		out = append(out, BadRow{f.File, f.Reason})
	}
	return out
}

// formWhere is what a form says for where documents are.
func formWhere(f wire.From) string {
	if f.Connector != "" {
		return "connector:" + f.Connector
	}
	return f.Folder + f.Repo + f.URL
}

func previewed(p wire.PreviewOut) *PreviewView {
	var formats []string
	for _, f := range slices.Sorted(maps.Keys(p.Formats)) {
		formats = append(formats, fmt.Sprintf("%d %s", p.Formats[f], f))
	}
	return &PreviewView{Where: formWhere(p.From), At: p.At, Under: p.Under, Depth: strconv.Itoa(p.Depth), Pages: strconv.Itoa(p.Pages),
		Sample: strings.Join(p.Sample, "\n"), Left: badRows(p.Left),
		Facts: append(wherePairs(p.From, p.Commit), []ui.Pair{
			{Key: "Would be read", Value: plural(p.Files, "file", "files") + ", " + bytesFor(p.Bytes)},
			{Key: "Formats", Value: strings.Join(formats, ", ")}, {Key: "Would be left out", Value: plural(p.LeftOut, "file", "files")}}...)}
}

func (b BoundRow) tone() ui.Tone {
	switch b.State {
	case wire.Active:
		return ui.Good
	case wire.Quarantined:
		return ui.Bad
	}
	return ui.Warn
}

// told says what a reason means for who searches.
func (b BoundRow) told() (tone ui.Tone, title, next string) {
	if b.State == wire.Quarantined {
		return ui.Bad, "Nobody finds what came from it", "Look at where it comes from, then resume it or revoke it."
	}
	return ui.Warn, "The last import failed", "What was imported before is still found."
}

func (b BoundRow) href(verb string) string {
	return sourcesHref + "/" + pathEscape(b.Name) + "/" + verb
}
