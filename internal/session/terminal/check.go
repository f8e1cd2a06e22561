package terminal

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/session/agents"
)

// The programs' signals come without a promise, so the first turn of every version is its check: which of them were there.

// signalsOf are what a turn should have shown, best first.
func signalsOf(agent string) []string {
	if agent == agents.ClaudeName {
		return []string{"hook SessionStart", "hook UserPromptSubmit", "hook Stop", "registry", "transcript", "screen"}
	}
	return []string{"server", "receipt", "words", "turn end"}
}

// Checked is what a version of a program was seen to tell.
type Checked struct {
	Agent     string    `json:"agent"`
	Version   string    `json:"version"`
	Works     []string  `json:"works" jsonschema:"signals that a turn showed"`
	Missing   []string  `json:"missing,omitempty" jsonschema:"signals that were expected and did not come"`
	Verdict   string    `json:"verdict"`
	CheckedAt time.Time `json:"checked_at"`
}

// judged says what the signals of a turn mean for a version.
func judged(agent, version string, seen []string) Checked {
	c := Checked{Agent: agent, Version: version, Works: []string{}}
	for _, s := range signalsOf(agent) {
		if slices.Contains(seen, s) {
			c.Works = append(c.Works, s)
		} else {
			c.Missing = append(c.Missing, s)
		}
	}
	switch {
	case len(c.Missing) == 0:
		c.Verdict = "all signals of " + agent + " " + version + " work"
	case len(c.Works) == 0:
		c.Verdict = "warning: " + agent + " " + version + " told nothing; do not rely on what is said of it"
	default:
		c.Verdict = "warning: " + agent + " " + version + " did not show " + strings.Join(c.Missing, ", ") + "; it is judged by " + strings.Join(c.Works, ", ")
	}
	return c
}

// mark notes that a signal was there.
func (s *seat) mark(signal string) {
	if !slices.Contains(s.signals, signal) {
		s.signals = append(s.signals, signal)
	}
}

// check keeps what a turn that went well showed, when it was the first of its version or showed more than those before.
func (s *seat) check(ctx context.Context) {
	if s.row.Version == "" {
		return
	}
	was, err := s.d.checked(ctx, s.row.Tenant, s.row.Agent, s.row.Version)
	if err != nil {
		s.d.log.Error("read a program's check", "err", err)
		return
	}
	seen := s.signals
	if len(was) > 0 {
		seen = append(slices.Clone(was[0].Works), seen...)
	}
	now := judged(s.row.Agent, s.row.Version, seen)
	if len(was) == 0 || len(was[0].Works) != len(now.Works) {
		err := s.d.db.Write(ctx, func(tx *db.Tx) error {
			_, err := tx.Exec(`INSERT INTO terminal_program (tenant, agent, version, signals, checked_at) VALUES (?, ?, ?, ?, ?)
				ON CONFLICT (tenant, agent, version) DO UPDATE SET signals = excluded.signals, checked_at = excluded.checked_at`,
				s.row.Tenant, now.Agent, now.Version, strings.Join(now.Works, "\n"), tx.Now())
			return err
		})
		if err != nil {
			s.d.log.Error("keep a program's check", "err", err)
		}
		if len(now.Missing) > 0 {
			s.d.log.Warn("a program lacks signals", "agent", now.Agent, "version", now.Version, "missing", now.Missing)
		}
	}
	s.update(func(r *row) bool { was := r.Check; r.Check = now.Verdict; return was != r.Check })
}

// checked reads what is known of versions; an empty agent or version is any.
func (d *Driver) checked(ctx context.Context, tenant, agent, version string) ([]Checked, error) {
	rows, err := d.db.Query(ctx, "SELECT agent, version, signals, checked_at FROM terminal_program WHERE tenant = ? AND (? = '' OR agent = ?) AND (? = '' OR version = ?) ORDER BY agent, checked_at DESC",
		tenant, agent, agent, version, version)
	return db.Collect(rows, err, func(rows *sql.Rows) (Checked, error) {
		var agent, version, signals string
		var at int64
		if err := rows.Scan(&agent, &version, &signals, &at); err != nil {
			return Checked{}, err
		}
		c := judged(agent, version, strings.Split(signals, "\n"))
		c.CheckedAt = db.Time(at)
		return c, nil
	})
}

// ProbeIn asks for a check of a program.
type ProbeIn struct {
	Agent string `json:"agent,omitempty" jsonschema:"claude (the default), codex or opencode"`
	Cwd   string `json:"cwd,omitempty" jsonschema:"an allowed folder; the default one when left out"`
}

// ChecksOut lists what is known of versions.
type ChecksOut struct {
	Programs []Checked `json:"programs"`
}

func (d *Driver) checkOps() []op.Op {
	return []op.Op{
		op.Effect(op.Spec{Name: "session.probe", Right: "session.create", Method: "POST", Path: "/terminals-probe", MCP: "-",
			Doc: "Check which signals of an agent program work, with one short turn of it in a session that is closed again."},
			func(ProbeIn) op.Resource { return at("") }, d.probe, nil),
		op.Read(op.Spec{Name: "session.programs", Right: "session.list", Masked: true, Method: "GET", Path: "/terminals-programs", MCP: "-",
			Doc: "List the versions of agent programs that were checked, and which of their signals work."},
			func(ReapIn) op.Resource { return at("") },
			func(ctx context.Context, _ ReapIn) (ChecksOut, error) {
				all, err := d.checked(ctx, op.CallerFrom(ctx).Tenant, "", "")
				return ChecksOut{append([]Checked{}, all...)}, err
			}),
	}
}

func (d *Driver) probe(ctx context.Context, in ProbeIn) (Checked, error) {
	seat, err := d.Open(ctx, OpenIn{Name: "probe-" + newConversation()[:8], Agent: in.Agent, Cwd: in.Cwd})
	if err != nil {
		return Checked{}, err
	}
	defer func() {
		if _, err := d.Shut(context.WithoutCancel(ctx), seat.Session); err != nil {
			d.log.Error("close a probe", "session", seat.Session, "err", err)
		}
	}()
	wait := int((3 * time.Minute).Milliseconds())
	out, err := d.Send(ctx, seat.Session, SendIn{Name: seat.Name, Text: "Reply with the word ok and nothing else.", Wait: &wait})
	if err != nil {
		return Checked{}, err
	}
	if out.Status != "done" {
		return Checked{}, fault.New(fault.Conflict, "session.probe", "the probe's turn did not go well: %s %s", out.Status, out.Reason).WithNext("start the program once by hand, and look")
	}
	tenant := op.CallerFrom(ctx).Tenant
	rows, err := d.rows(ctx, "tenant = ? AND session = ?", tenant, seat.Session)
	if err != nil || len(rows) == 0 {
		return Checked{}, err
	}
	all, err := d.checked(ctx, tenant, rows[0].Agent, rows[0].Version)
	if err != nil {
		return Checked{}, err
	}
	if len(all) == 0 {
		return Checked{}, fault.New(fault.Conflict, "session.probe", "the program does not say which version it is")
	}
	return all[0], nil
}
