package source

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/source/wire"
)

const maxBad = 200

func (r *Room) list(ctx context.Context, in wire.ListIn) (wire.ListOut, error) {
	out := wire.ListOut{Sources: []wire.Source{}}
	rows, err := r.DB.Query(ctx, "SELECT "+columns+" FROM source WHERE tenant = ? ORDER BY name", op.CallerFrom(ctx).Tenant)
	all, err := db.Collect(rows, err, scanRow)
	if err != nil {
		return out, err
	}
	found, err := r.connectors(ctx)
	for _, s := range all {
		if err != nil {
			return out, err
		}
		if s.State == wire.Revoked && !in.Revoked || !op.May(ctx, "source.list", at(s.Name)) || !r.sight(ctx, s, found)("") {
			continue
		}
		s.tellOffer(found)
		err = r.count(ctx, s)
		out.Sources = append(out.Sources, s.Source)
	}
	return out, err
}

// count fills in what is stored of a source, and how far an import of it is.
func (r *Room) count(ctx context.Context, s *binding) error {
	r.mu.Lock()
	if p, under := r.at[s.tenant+"/"+s.Name]; under {
		s.Progress, s.Waiting = &p, true
	}
	r.mu.Unlock()
	return r.DB.QueryRow(ctx, `SELECT coalesce(sum(CASE WHEN reason = '' THEN 1 ELSE 0 END), 0), coalesce(sum(texts), 0),
		coalesce(sum(CASE WHEN reason = '' THEN 0 ELSE 1 END), 0) FROM source_file WHERE tenant = ? AND place = ?`, s.tenant,
		s.nr).Scan(&s.Files, &s.Passages, &s.Bad)
}

func (r *Room) show(ctx context.Context, in wire.NameIn) (wire.ShowOut, error) {
	out := wire.ShowOut{BadFiles: []wire.BadFile{}}
	s, err := scan(r.DB.QueryRow(ctx, "SELECT "+columns+" FROM source WHERE tenant = ? AND name = ?", op.CallerFrom(ctx).Tenant, in.Name))
	if err != nil && !db.NoRows(err) {
		return out, err
	}
	found, failed := r.connectors(ctx)
	if failed != nil {
		return out, failed
	}
	if err != nil || s.State == wire.Revoked || !r.sight(ctx, s, found)("") {
		return out, op.NoSuch("source", in.Name)
	}
	s.tellOffer(found)
	if err := r.count(ctx, s); err != nil {
		return out, err
	}
	out.Source = s.Source
	rows, err := r.DB.Query(ctx,
		"SELECT "+fileColumns+" FROM source_file WHERE tenant = ? AND place = ? AND reason <> '' ORDER BY path LIMIT ?",
		s.tenant, s.nr, maxBad)
	files, err := db.Collect(rows, err, scanFile)
	sees := r.sight(ctx, s, found)
	for _, f := range files {
		if sees(f.path) {
			out.BadFiles = append(out.BadFiles, wire.BadFile{File: f.path, Reason: f.reason})
		}
	}
	return out, err
}

// tellOffer says why nothing of a source is found at the moment that is a connector's.
func (s *binding) tellOffer(found map[string]string) {
	if s.Connector == "" || s.Reason != "" || s.State == wire.Revoked {
		return
	}
	if err := stillOffered(s, found); err != nil {
		s.Reason = fault.Public(err).Msg
	}
}
