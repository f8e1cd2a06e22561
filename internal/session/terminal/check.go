package terminal

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/session/agents"
)

// The programs' signals come without a promise, so every version is checked when it is first used: which of them are there.

// signalsOf are what any turn shows, best first, and what a turn shows that wants to use a tool.
func signalsOf(agent string) (always, guards []string) {
	switch agent {
	case agents.ClaudeName:
		return []string{"hook SessionStart", "hook UserPromptSubmit", "hook Stop", "registry", "transcript", "screen"},
			[]string{"hook PreToolUse", "hook PermissionRequest"}
	case agents.CodexName:
		return []string{"server", "receipt", "words", "turn end"}, []string{"hook PreToolUse", "request"}
	}
	return []string{"server", "receipt", "words", "turn end"}, []string{"request"}
}

// Checked is what a version of a program was seen to tell.
type Checked struct {
	Agent     string    `json:"agent"`
	Version   string    `json:"version"`
	Works     []string  `json:"works" jsonschema:"signals that a turn showed"`
	Missing   []string  `json:"missing,omitempty" jsonschema:"signals that were expected and did not come"`
	Verdict   string    `json:"verdict"`
	CheckedAt time.Time `json:"checked_at"`
	ProbedAt  time.Time `json:"probed_at,omitzero" jsonschema:"when a turn of tandem's own showed them; without one only people's turns did"`
}

// judged says what the signals that were seen mean for a version. A turn without a tool shows nothing of the guards: only a
// probe that did not show them says that they do not work.
func judged(agent, version string, seen []string, probed time.Time) Checked {
	c := Checked{Agent: agent, Version: version, Works: []string{}, ProbedAt: probed}
	always, guards := signalsOf(agent)
	for _, s := range append(always, guards...) {
		switch {
		case slices.Contains(seen, s):
			c.Works = append(c.Works, s)
		case slices.Contains(always, s) || !probed.IsZero():
			c.Missing = append(c.Missing, s)
		}
	}
	switch {
	case len(c.Missing) == 0:
		c.Verdict = "all signals of " + agent + " " + version + " work"
	case len(c.Works) == 0:
		c.Verdict = "warning: " + agent + " " + version + " told nothing; do not rely on what is said of it"
	default:
		c.Verdict = "warning: " + agent + " " + version + " did not show " + strings.Join(c.Missing, ", ") + "; it is judged by " +
			strings.Join(c.Works, ", ")
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
	if s.row.Version == "" || s.row.Probe {
		return
	}
	now, err := s.d.keep(ctx, s.row.Tenant, s.row.Agent, s.row.Version, s.signals, false)
	if err != nil {
		s.d.log.Error("keep a program's check", "err", err)
		return
	}
	s.update(func(r *row) bool { was := r.Check; r.Check = now.Verdict; return was != r.Check })
}

// recall shows what is known of the program's version, once that is known itself.
func (s *seat) recall(ctx context.Context, version string) {
	known, err := s.d.checked(ctx, s.row.Tenant, s.row.Agent, version)
	if err != nil {
		s.d.log.Error("read a program's check", "err", err)
	}
	s.update(func(r *row) bool {
		r.Version, r.Check = version, ""
		if len(known) > 0 {
			r.Check = known[0].Verdict
		}
		return true
	})
	if s.d.Probe && !s.row.Probe && err == nil && (len(known) == 0 || known[0].ProbedAt.IsZero()) {
		s.d.meet(ctx, s.row.Tenant, s.view())
	}
}

// keep adds the signals that were seen to what is known of a version. A probe says what works now, whatever was before.
func (d *Driver) keep(ctx context.Context, tenant, agent, version string, seen []string, probe bool) (Checked, error) {
	was, err := d.checked(ctx, tenant, agent, version)
	if err != nil {
		return Checked{}, err
	}
	var probed time.Time
	if probe {
		probed = d.db.Now()
	} else if len(was) > 0 {
		seen, probed = slices.Concat(was[0].Works, seen), was[0].ProbedAt
	}
	now := judged(agent, version, seen, probed)
	if !probe && len(was) > 0 && len(was[0].Works) == len(now.Works) {
		return now, nil
	}
	if len(now.Missing) > 0 {
		d.log.Warn("a program lacks signals", "agent", agent, "version", version, "missing", now.Missing)
	}
	at := int64(0)
	if !probed.IsZero() {
		at = db.Micros(probed)
	}
	return now, d.db.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(`INSERT INTO terminal_program (tenant, agent, version, signals, checked_at, probed_at) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (tenant, agent, version) DO UPDATE SET signals = excluded.signals, checked_at = excluded.checked_at,
			probed_at = excluded.probed_at`,
			tenant, agent, version, strings.Join(now.Works, "\n"), tx.Now(), at)
		return err
	})
}

// checked reads what is known of versions; an empty agent or version is any.
func (d *Driver) checked(ctx context.Context, tenant, agent, version string) ([]Checked, error) {
	rows, err := d.db.Query(ctx, "SELECT agent, version, signals, checked_at, probed_at FROM terminal_program WHERE tenant = ? AND "+
		"(? = '' OR agent = ?) AND (? = '' OR version = ?) ORDER BY agent, checked_at DESC",
		tenant, agent, agent, version, version)
	return db.Collect(rows, err, func(rows *sql.Rows) (Checked, error) {
		var agent, version, signals string
		var at, probe int64
		if err := rows.Scan(&agent, &version, &signals, &at, &probe); err != nil {
			return Checked{}, err
		}
		var probed time.Time
		if probe > 0 {
			probed = db.Time(probe)
		}
		c := judged(agent, version, strings.Split(signals, "\n"), probed)
		c.CheckedAt = db.Time(at)
		return c, nil
	})
}
