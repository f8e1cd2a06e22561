package panel

import (
	"slices"
	"time"

	"tandem/internal/board"
	"tandem/internal/space"
	"tandem/internal/space/peer"

	"tandem/internal/fault"
	"tandem/internal/panel/ui"
)

// VarRow is a variable of the space.
type VarRow struct{ Key, Value, By string }

// FindingRow is a finding.
type FindingRow struct{ ID, Severity, Service, Summary, By, Task, Advice string }

// LeaseRow is a leased path.
type LeaseRow struct {
	Path, By string
	Until    time.Time
	Shared   bool // others may lease it, too
}

// HostedRow is a space that this machine hosts, as a host sees it.
type HostedRow struct {
	Space, State, MovedTo, Hash string
	Term, Epoch, Entries        int64
	Members, Here               int
	Started                     time.Time
}

// HostedTask is a task as a host sees it: no words.
type HostedTask struct {
	ID, Status, Priority, Holder, Creator string
	Needs                                 []string
	Version                               int64
	Changed                               time.Time
}

// HostedView is one hosted space.
type HostedView struct {
	HostedRow
	Now   time.Time
	Tasks []HostedTask
}

// spaceThings fills in what the members share beside messages and tasks.
func (v *visit) spaceThings(out *SpaceView) error {
	vars, err := ask(v, peer.SpaceGetVar, peer.GetVarIn{Key: "*"})
	if err != nil {
		return err
	}
	for _, x := range vars.Vars {
		out.Vars = append(out.Vars, VarRow{peersWords(x.Key), peersWords(x.Value), peersWords(x.By)})
	}
	found, err := ask(v, peer.BoardFindings, peer.FindingsIn{})
	if err != nil {
		return err
	}
	for _, f := range found.Findings {
		row := FindingRow{ID: f.ID, Severity: peersWords(f.Severity), Service: peersWords(f.Service), Summary: peersWords(f.Summary),
			By: peersWords(f.By), Advice: peersWords(f.Recommendation)}
		if f.Task != nil {
			row.Task = string(*f.Task)
		}
		out.Findings = append(out.Findings, row)
	}
	leased, err := ask(v, peer.SpaceLeases, peer.Which{})
	if err != nil {
		return err
	}
	for _, l := range leased.Leases {
		out.Leases = append(out.Leases, LeaseRow{peersWords(l.Path), peersWords(l.By), time.UnixMicro(l.Until).UTC(), l.Shared})
	}
	return nil
}

func (v *visit) hostedRows() ([]HostedRow, error) {
	list, err := ask(v, space.SpaceHosted, struct{}{})
	if fault.Is(err, fault.Denied) || fault.Is(err, fault.NotFound) {
		return nil, nil // what one may not see, is not there
	}
	var out []HostedRow
	for _, s := range list.Spaces {
		out = append(out, HostedRow{s.Space, s.State, s.MovedTo, s.Hash, s.Term, s.Epoch, s.Entries, s.Members, s.Here, s.Started})
	}
	return out, err
}

// hosted shows what the host of a space knows of it.
func (v *visit) hosted(id string) error {
	rows, err := v.hostedRows()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(rows, func(r HostedRow) bool { return r.Space == id })
	if i < 0 {
		return noSuchPage
	}
	tasks, err := ask(v, board.BoardStructure, board.StructureIn{Space: id})
	if err != nil {
		return err
	}
	out := HostedView{HostedRow: rows[i], Now: v.now()}
	for _, t := range tasks.Tasks {
		out.Tasks = append(out.Tasks, HostedTask{string(t.ID), string(t.Status), string(t.Prio), t.Holder, t.Creator, plain(t.Needs), t.Version,
			t.Changed})
	}
	s := v.shell("spaces", "Hosted here")
	s.Here, s.Back = "/panel/spaces/hosted/"+pathEscape(id), &ui.Crumb{Label: "Spaces", Href: "/panel/spaces"}
	return v.show(hostedPage(s, out))
}

func severityTone(s string) ui.Tone {
	switch s {
	case "critical", "high":
		return ui.Bad
	case "medium":
		return ui.Warn
	}
	return ui.Quiet
}

func (v HostedView) pairs() []ui.Pair {
	return []ui.Pair{{Key: "Space", Value: v.Space, Mono: true, Copy: true}, {Key: "Moved to", Value: v.MovedTo},
		{Key: "Since", Value: ui.Stamp(v.Started)}, {Key: "Last entry", Value: v.Hash, Mono: true, Copy: true}}
}
