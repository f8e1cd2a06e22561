package memory

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
)

const (
	exportPage = 200
	maxImport  = 100
	maxBrought = 20_000 // proposals of an author that may wait when an import is done
)

// export answers a page of everything that the caller may read, whatever its state. What was forgotten is not there to be read.
func (r *Room) export(ctx context.Context, in wire.ExportIn) (wire.ExportOut, error) {
	out := wire.ExportOut{Records: []wire.Record{}}
	c := op.CallerFrom(ctx)
	err := r.db.ReadWide(ctx, func(tx *db.Tx) error {
		rows, err := tx.Query("SELECT "+columns+from+"WHERE r.tenant = ? AND r.id > ? AND r.state <> 'forgotten' ORDER BY r.id LIMIT ?", c.Tenant,
			in.After, exportPage+1)
		page, err := db.Collect(rows, err, scanRow)
		if err != nil {
			return err
		}
		if out.More = len(page) > exportPage; out.More {
			page = page[:exportPage]
			out.Last = page[exportPage-1].ID
		}
		var visible []*row
		for _, rec := range page {
			if sees(ctx, rec) {
				visible = append(visible, rec)
			}
		}
		out.Records, err = plain(tx, c.Tenant, visible)
		return err
	})
	return out, err
}

// imported is what stands for a source that was a record of another server. Nobody here can see what that was, so it vouches for nothing.
const imported = "imported"

// bring adds the records of an export, as new ones. Nobody here wrote them: a person who brings them can at most have approved them.
// What was proposed there was read by nobody: it stays proposed.
func (r *Room) bring(ctx context.Context, tx *db.Tx, in wire.ImportIn) (wire.ImportOut, error) {
	var out wire.ImportOut
	if len(in.Records) > maxImport {
		return out, fault.New(fault.Exhausted, "memory.import", "at most %d records are taken at a time", maxImport)
	}
	c := op.CallerFrom(ctx)
	if err := mayWait(tx, c, len(in.Records), maxBrought); err != nil {
		return out, err
	}
	for i, from := range in.Records {
		if from.State == wire.Superseded || from.State == wire.Forgotten {
			out.Left++
			continue
		}
		add, err := settle(wire.AddIn{Text: from.Text, Kind: from.Kind, Tier: from.Tier, Of: from.Of, Labels: from.Labels,
			Sources: from.Sources}, c)
		if err != nil {
			return out, fault.New(fault.Invalid, "memory.import", "record %d: %w", i+1, err)
		}
		if !op.May(ctx, "memory.write", at(add.Tier, add.Of)) {
			return out, fault.New(fault.Denied, "memory.import", "record %d: you may not write into %s", i+1, at(add.Tier, add.Of)).
				WithNext("leave it out, or ask for a grant")
		}
		rec := &row{actor: c.Actor, digest: digest(add.Text), Record: wire.Record{Text: add.Text, Kind: add.Kind, Tier: add.Tier, Of: add.Of,
			State: wire.Proposed, Labels: add.Labels, Owner: c.Name, Version: 1, Trust: least(from.Trust, wire.Approved), MadeAt: tx.Now(),
			ChangedAt: tx.Now(), ExpiresAt: from.ExpiresAt}}
		for _, s := range add.Sources {
			if s.Kind != wire.FromMemory { // an id of another server
				rec.Sources = append(rec.Sources, s)
			}
		}
		if len(rec.Sources) < len(add.Sources) && rec.Trust == wire.Untrusted {
			rec.Sources = append(rec.Sources, wire.Source{Kind: wire.FromMemory, Ref: imported})
		}
		if in.Live && from.State != wire.Proposed {
			rec.State = wire.Live
		}
		if rec.place, err = placed(ctx, tx, add.Tier, add.Of, wire.Live); err != nil {
			return out, err
		}
		known, err := twin(ctx, tx, rec)
		if err == nil && known == nil {
			out.Added++
			err = begin(tx, c, rec, "imported")
		} else if known != nil {
			out.Known++
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}
