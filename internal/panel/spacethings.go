package panel

import (
	"slices"
	"time"

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
	vars, err := call[struct {
		Vars []struct{ Key, Value, By string } `json:"vars"`
	}](v, "space.get_var", map[string]any{"key": "*"})
	if err != nil {
		return err
	}
	for _, x := range vars.Vars {
		out.Vars = append(out.Vars, VarRow{peersWords(x.Key), peersWords(x.Value), peersWords(x.By)})
	}
	found, err := call[struct {
		Findings []struct {
			ID             string `json:"id"`
			Severity       string `json:"severity"`
			Service        string `json:"service"`
			Summary        string `json:"summary"`
			By             string `json:"by"`
			Task           string `json:"task_id"`
			Recommendation string `json:"recommendation"`
		} `json:"findings"`
	}](v, "board.findings", nil)
	if err != nil {
		return err
	}
	for _, f := range found.Findings {
		out.Findings = append(out.Findings, FindingRow{f.ID, peersWords(f.Severity), peersWords(f.Service), peersWords(f.Summary),
			peersWords(f.By), f.Task, peersWords(f.Recommendation)})
	}
	leased, err := call[struct {
		Leases []struct {
			Path   string `json:"path"`
			By     string `json:"by"`
			Until  int64  `json:"until"`
			Shared bool   `json:"shared"`
		} `json:"leases"`
	}](v, "space.leases", nil)
	if err != nil {
		return err
	}
	for _, l := range leased.Leases {
		out.Leases = append(out.Leases, LeaseRow{peersWords(l.Path), peersWords(l.By), time.UnixMicro(l.Until).UTC(), l.Shared})
	}
	return nil
}

func (v *visit) hostedRows() ([]HostedRow, error) {
	list, err := call[struct {
		Spaces []struct {
			Space   string    `json:"space"`
			State   string    `json:"state"`
			MovedTo string    `json:"moved_to"`
			Hash    string    `json:"hash"`
			Term    int64     `json:"term"`
			Epoch   int64     `json:"epoch"`
			Entries int64     `json:"entries"`
			Members int       `json:"members"`
			Here    int       `json:"here"`
			Started time.Time `json:"started_at"`
		} `json:"spaces"`
	}](v, "space.hosted", nil)
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
	board, err := call[struct {
		Tasks []struct {
			ID       string    `json:"id"`
			Status   string    `json:"status"`
			Priority string    `json:"priority"`
			Holder   string    `json:"holder"`
			Creator  string    `json:"creator"`
			Needs    []string  `json:"depends_on"`
			Version  int64     `json:"version"`
			Changed  time.Time `json:"updated_at"`
		} `json:"tasks"`
	}](v, "board.structure", map[string]any{"space": id})
	if err != nil {
		return err
	}
	out := HostedView{HostedRow: rows[i], Now: v.now()}
	for _, t := range board.Tasks {
		out.Tasks = append(out.Tasks, HostedTask{t.ID, t.Status, t.Priority, t.Holder, t.Creator, t.Needs, t.Version, t.Changed})
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
