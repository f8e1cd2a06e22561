package memory

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/memory/text"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
)

// at is what policy calls a place: memory:/team, memory:/project/payments.
func at(t wire.Tier, of string) op.Resource {
	path := "/" + string(t)
	if of != "" {
		path += "/" + of
	}
	return op.Resource{Kind: "memory", Path: path}
}

// people reports whether somebody looks who may see what was proposed: a person, or the program that a person types into.
func people(c op.Caller) bool { return c.Kind == op.Person || c.Kind == op.Local }

// reaches reports whether a caller may read a place. What a session remembers is its own, and its people's.
func reaches(ctx context.Context, t wire.Tier, of string) bool {
	c := op.CallerFrom(ctx)
	return op.May(ctx, "memory.read", at(t, of)) && (t != wire.OfSession || of == c.Session || people(c))
}

// sees reports whether a caller may see a record. What is proposed is for people and for whoever proposed it: a proposal that others
// read would be told already.
func sees(ctx context.Context, r *row) bool {
	c := op.CallerFrom(ctx)
	told := r.State == wire.Live || r.State == wire.Superseded
	return reaches(ctx, r.Tier, r.Of) && (told || people(c) || r.State == wire.Proposed && r.actor == c.Actor)
}

// sight is what a caller may read of a tenant's memory, as conditions of a query, and what is counted there.
type sight struct {
	tx            *db.Tx
	tenant, actor string
	people        bool
	session       int64 // the place of the session that is looked at, 0 when none is
	places        []int64
	counted       []place // the same with their counts
	corpus        text.Corpus
	now           time.Time
	filter        wire.Filter
	cut           bool // so few of the nearest fit the filter that some that fit were not compared
}

type place struct {
	nr, texts, length int64
	seq               int64 // of what happened last to its vectors
	tier              wire.Tier
	of                string
}

// look makes the sight of a caller on records of a state, narrowed by a filter. Of sessions it holds only the one that is asked for, or
// that asks.
func look(ctx context.Context, tx *db.Tx, f wire.Filter, state wire.State) (*sight, error) {
	return lookAt(ctx, tx, f, state, func(p place) bool { return (f.Tier == "" || p.tier == f.Tier) && (f.Of == "" || p.of == f.Of) })
}

// lookAt is look with places that a function chooses. A place where others only propose is no place to read yet.
func lookAt(ctx context.Context, tx *db.Tx, f wire.Filter, state wire.State, wanted func(place) bool) (*sight, error) {
	c := op.CallerFrom(ctx)
	session := c.Session
	if f.Tier == wire.OfSession && f.Of != "" {
		session = f.Of
	}
	query := "SELECT nr, tier, of_name, texts, length, seq FROM memory_place WHERE tenant = ? AND (tier <> 'session' OR of_name = ?)"
	args := []any{c.Tenant, session}
	switch {
	case state == wire.Live:
		query += " AND texts > 0"
	case state == wire.Proposed && !people(c):
		query += " AND nr IN (SELECT place FROM memory_record WHERE tenant = ? AND actor = ? AND state = 'proposed')"
		args = append(args, c.Tenant, c.Actor)
	}
	rows, err := tx.Query(query, args...)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (p place, err error) {
		return p, rows.Scan(&p.nr, &p.tier, &p.of, &p.texts, &p.length, &p.seq)
	})
	s := &sight{tx: tx, tenant: c.Tenant, actor: c.Actor, people: people(c), now: tx.Now(), filter: f}
	var length int64
	for _, p := range all {
		if !wanted(p) || !reaches(ctx, p.tier, p.of) {
			continue
		}
		s.places, s.counted = append(s.places, p.nr), append(s.counted, p)
		if p.tier == wire.OfSession {
			s.session = p.nr
		}
		s.corpus.Texts += int(p.texts)
		length += p.length
	}
	if s.corpus.Texts > 0 {
		s.corpus.Length = float64(length) / float64(s.corpus.Texts)
	}
	return s, err
}

// within is the condition that a row lies in a place that the caller may read; it needs at least one.
func (s *sight) within(column string) (string, []any) {
	cond, arg := s.tx.Among(column, s.places)
	return cond, []any{arg}
}

// where are the conditions of every query for records: tenant, places, state, and what a filter adds.
func (s *sight) where(f wire.Filter, state wire.State) (string, []any) {
	cond, in := s.within("+r.place") // the sign keeps SQLite from reading a whole place: records are chosen by number or by id
	conds, args := []string{"r.tenant = ?", cond, "r.state = ?"}, append(append([]any{s.tenant}, in...), string(state))
	if state == wire.Live {
		conds, args = append(conds, "(r.expires_at = 0 OR r.expires_at > ?)"), append(args, s.now)
	}
	if state == wire.Proposed && !s.people {
		conds, args = append(conds, "r.actor = ?"), append(args, s.actor)
	}
	if state == wire.Forgotten && !s.people {
		conds = append(conds, "1 = 0")
	}
	if f.Kind != "" {
		conds, args = append(conds, "r.kind = ?"), append(args, string(f.Kind))
	}
	if f.Label != "" {
		conds, args = append(conds, "r.labels LIKE ?"), append(args, "%,"+f.Label+",%")
	}
	return " WHERE " + strings.Join(conds, " AND "), args
}

// checkFilter refuses words that mean nothing. A label's form has no sign that means something in a pattern.
func checkFilter(f wire.Filter) error {
	kind, tier, of := f.Kind, f.Tier, f.Of
	if kind == "" {
		kind = wire.Note
	}
	if tier == "" {
		tier = wire.OfProject
	}
	if of == "" && tier != wire.OfTeam {
		of = "any"
	}
	var labels []string
	if f.Label != "" {
		labels = []string{f.Label}
	}
	return errors.Join(checkKind(kind), checkPlace(tier, of), checkLabels(labels))
}
