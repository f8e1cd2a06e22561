package memory

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
)

const maxList = 200

func (r *Room) show(ctx context.Context, in wire.IDIn) (wire.Record, error) {
	tenant := op.CallerFrom(ctx).Tenant
	rec, err := find(r.outside(ctx), tenant, in.ID, "")
	if err != nil {
		return wire.Record{}, err
	}
	if rec == nil || !sees(ctx, rec) || expired(rec, r.db.Now()) && !people(op.CallerFrom(ctx)) {
		return wire.Record{}, op.NoSuch("memory", in.ID)
	}
	if expired(rec, r.db.Now()) {
		return wire.Record{}, fault.New(fault.NotFound, "memory", "%s expired on %s", in.ID, rec.ExpiresAt.Format(time.DateOnly)).
			WithNext("nobody is told it any more; to delete its text: tandem memory forget %s", in.ID)
	}
	if err := sources(r.outside(ctx), tenant, &rec.Record); err != nil {
		return wire.Record{}, err
	}
	return rec.Record, r.tell(ctx, rec.ID)
}

func (r *Room) history(ctx context.Context, in wire.IDIn) (wire.HistoryOut, error) {
	out := wire.HistoryOut{Versions: []wire.Version{}}
	var err error
	if out.Record, err = r.show(ctx, in); err != nil {
		return out, err
	}
	rows, err := r.db.Query(ctx,
		"SELECT version, what, text, made_by, made_at FROM memory_version WHERE tenant = ? AND id = ? ORDER BY version",
		op.CallerFrom(ctx).Tenant, in.ID)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (v wire.Version, err error) {
		var made int64
		err = rows.Scan(&v.Version, &v.What, &v.Text, &v.By, &made)
		v.At = db.Time(made)
		return v, err
	})
	out.Versions = append(out.Versions, all...)
	return out, err
}

func (r *Room) list(ctx context.Context, in wire.ListIn) (wire.ListOut, error) {
	out := wire.ListOut{Records: []wire.Record{}}
	in.State = cmp.Or(in.State, wire.Live)
	if err := checkFilter(in.Filter); err != nil {
		return out, err
	}
	switch {
	case !slices.Contains(wire.States, in.State):
		return out, bad("%.40q is no state", string(in.State)).WithNext("it is proposed, live, superseded or forgotten")
	case in.Limit < 0 || in.Limit > maxList:
		return out, fault.New(fault.Invalid, "memory.list", "limit lies between 1 and %d", maxList)
	}
	in.Limit = cmp.Or(in.Limit, 50)
	err := r.db.Read(ctx, func(tx *db.Tx) error {
		s, err := look(ctx, tx, in.Filter, in.State)
		if err != nil || len(s.places) == 0 {
			return err
		}
		where, args := s.where(in.Filter, in.State)
		if in.Before != "" {
			where, args = where+" AND r.id < ?", append(args, in.Before)
		}
		rows, err := tx.Query("SELECT "+columns+from+where+" ORDER BY r.id DESC LIMIT ?", append(args, in.Limit+1)...)
		page, err := db.Collect(rows, err, scanRow)
		if err != nil {
			return err
		}
		if out.More = len(page) > in.Limit; out.More {
			page = page[:in.Limit]
		}
		out.Records, err = plain(tx, s.tenant, page)
		return err
	})
	return out, err
}

// plain are stored records as they are answered, with their sources.
func plain(q asker, tenant string, page []*row) ([]wire.Record, error) {
	out := make([]wire.Record, 0, len(page))
	var each []*wire.Record
	for _, r := range page {
		out = append(out, r.Record)
	}
	for i := range out {
		each = append(each, &out[i])
	}
	return out, sources(q, tenant, each...)
}
