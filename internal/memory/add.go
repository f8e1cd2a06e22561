package memory

import (
	"context"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
)

// add remembers what a person who is present says: it is live at once.
func (r *Room) add(ctx context.Context, tx *db.Tx, in wire.AddIn) (wire.Changed, error) {
	return write(ctx, tx, in, wire.Live, wire.Stated)
}

// propose notes what anybody else would have remembered, for people to look at.
func (r *Room) propose(ctx context.Context, tx *db.Tx, in wire.AddIn) (wire.Changed, error) {
	return write(ctx, tx, in, wire.Proposed, wire.Untrusted)
}

func write(ctx context.Context, tx *db.Tx, in wire.AddIn, state wire.State, trust wire.Trust) (wire.Changed, error) {
	c := op.CallerFrom(ctx)
	in, err := settle(in, c)
	if err != nil {
		return wire.Changed{}, err
	}
	if in.Tier == wire.OfSession && in.Of != c.Session && !people(c) {
		return wire.Changed{}, fault.New(fault.Denied, "memory", "a session writes into its own memory only").
			WithNext("leave out of which session")
	}
	if c.Session != "" {
		in.Sources = append([]wire.Source{{Kind: "turn", Ref: c.Session}}, in.Sources...)
	}
	old, err := replaced(ctx, tx, in.Replaces)
	if err != nil {
		return wire.Changed{}, err
	}
	rec := &row{actor: c.Actor, digest: digest(in.Text), Record: wire.Record{Text: in.Text, Kind: in.Kind, Tier: in.Tier, Of: in.Of,
		State: state, Labels: in.Labels, Sources: in.Sources, Owner: c.Name, Version: 1, Replaces: in.Replaces,
		MadeAt: tx.Now(), ChangedAt: tx.Now()}}
	if in.Days > 0 {
		rec.ExpiresAt = tx.Now().Add(time.Duration(in.Days) * 24 * time.Hour)
	}
	if rec.Trust, err = trusted(ctx, tx, trust, in.Sources); err != nil {
		return wire.Changed{}, err
	}
	if rec.place, err = placed(ctx, tx, in.Tier, in.Of, state); err != nil {
		return wire.Changed{}, err
	}
	if known, err := twin(ctx, tx, rec); err != nil || known != nil {
		if known == nil {
			return wire.Changed{}, err
		}
		out := changed(ctx, known)
		out.Known = true
		return out, nil
	}
	what := "added"
	if state == wire.Proposed {
		what = "proposed"
		if err := mayWait(tx, c, 1, maxWaiting); err != nil {
			return wire.Changed{}, err
		}
	}
	if err := begin(tx, c, rec, what); err != nil {
		return wire.Changed{}, err
	}
	if old != nil && state == wire.Live {
		err = supersede(ctx, tx, old, rec.ID)
	}
	return changed(ctx, rec), err
}

// mayWait refuses more proposals of an author than may wait for a person.
func mayWait(tx *db.Tx, c op.Caller, more, most int) error {
	var waiting int
	if err := tx.QueryRow("SELECT count(*) FROM memory_record WHERE tenant = ? AND actor = ? AND state = 'proposed'", c.Tenant,
		c.Actor).Scan(&waiting); err != nil {
		return err
	}
	if waiting+more > most {
		return fault.New(fault.Exhausted, "memory.propose", "%d proposals of yours wait for a person already", waiting).
			WithNext("ask a person to look at them: tandem memory list --state proposed")
	}
	return nil
}

// begin stores a new record.
func begin(tx *db.Tx, c op.Caller, rec *row, what string) error {
	rec.ID = id.New("mem")
	last, err := draw(tx, c.Tenant, 2) // its own, and that of what happens to the vectors of its place
	if err != nil {
		return err
	}
	rec.nr = last - 1
	if err := insert(tx, c.Tenant, rec); err != nil {
		return err
	}
	if err := keep(tx, c.Tenant, rec, what, c.Name); err != nil || rec.State != wire.Live {
		return err
	}
	return indexAt(tx, c.Tenant, rec, last)
}

// twin is a record of the same place with the same text, when the caller may see it: adding it again adds nothing. To who adds what is
// live from now on a proposal is none.
func twin(ctx context.Context, tx *db.Tx, rec *row) (*row, error) {
	c := op.CallerFrom(ctx)
	rows, err := tx.Query("SELECT "+columns+from+"WHERE r.tenant = ? AND r.digest = ? AND r.place = ? AND r.state IN ('live', "+
		"'proposed') ORDER BY r.nr",
		c.Tenant, rec.digest, rec.place)
	same, err := db.Collect(rows, err, scanRow)
	for _, s := range same {
		if sees(ctx, s) && !expired(s, tx.Now()) && (s.State == wire.Live || rec.State == wire.Proposed && s.actor == c.Actor) {
			return s, nil
		}
	}
	return nil, err
}

// replaced is the record that a new one contradicts.
func replaced(ctx context.Context, tx *db.Tx, id string) (*row, error) {
	if id == "" {
		return nil, nil
	}
	old, err := seen(ctx, tx, id)
	if err == nil && old.State != wire.Live {
		err = conflict("%s is %s, so nothing stands in its place", id, old.State).WithNext("see what is: tandem memory history %s", id)
	}
	return old, err
}

// supersede lets a newer record stand for an older one, which stays as it was. It needs the right to write where that one lies.
func supersede(ctx context.Context, tx *db.Tx, old *row, by string) error {
	c := op.CallerFrom(ctx)
	if !op.May(ctx, "memory.write", at(old.Tier, old.Of)) {
		return fault.New(fault.Denied, "memory", "%s lies in %s, where you may not write", old.ID, at(old.Tier, old.Of)).
			WithNext("ask who may to look at it, or ask for a grant: tandem grant list")
	}
	if err := unindex(tx, c.Tenant, old); err != nil {
		return err
	}
	old.State, old.ReplacedBy, old.ChangedAt = wire.Superseded, by, tx.Now()
	old.Version++
	if err := update(tx, c.Tenant, old); err != nil {
		return err
	}
	return keep(tx, c.Tenant, old, "superseded by "+by, c.Name)
}
