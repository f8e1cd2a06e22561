package space

import (
	"context"
	"database/sql"
	"time"

	"tandem/internal/db"
	"tandem/internal/op"
)

// Hosted is a space as its host sees it: who, how many, how far, and no word.
type Hosted struct {
	Space   string    `json:"space"`
	State   string    `json:"state" jsonschema:"open, or stepped_down when another machine took over"`
	MovedTo string    `json:"moved_to,omitempty"`
	Term    int64     `json:"term"`
	Epoch   int64     `json:"epoch"`
	Entries int64     `json:"entries"`
	Hash    string    `json:"hash" jsonschema:"of the last entry; it covers all before it"`
	Members int       `json:"members"`
	Here    int       `json:"here" jsonschema:"members heard of lately"`
	Limit   int64     `json:"max_members"`
	Started time.Time `json:"started_at"`
}

// HostedOut lists the spaces that this daemon hosts.
type HostedOut struct {
	Spaces []Hosted `json:"spaces"`
}

func (r *Room) hosted(ctx context.Context, _ struct{}) (HostedOut, error) {
	tenant := op.CallerFrom(ctx).Tenant
	out := HostedOut{Spaces: []Hosted{}}
	rows, err := r.db.Query(ctx, "SELECT id, created_at FROM space WHERE tenant = ? ORDER BY created_at DESC", tenant)
	started := map[string]int64{}
	ids, err := db.Collect(rows, err, func(rows *sql.Rows) (id string, err error) {
		var at int64
		err = rows.Scan(&id, &at)
		started[id] = at
		return id, err
	})
	if err != nil {
		return out, err
	}
	for _, id := range ids {
		l, err := r.look(ctx, tenant, id)
		if err != nil {
			return out, err
		}
		h := Hosted{Space: id, State: l.state, MovedTo: l.moved, Term: l.term, Epoch: l.epoch, Entries: l.seq, Hash: l.hash, Limit: l.max,
			Started: db.Time(started[id])}
		for _, p := range r.presence(tenant, l, r.db.Now()) {
			if p.Left {
				continue
			}
			h.Members++
			if p.Here {
				h.Here++
			}
		}
		out.Spaces = append(out.Spaces, h)
	}
	return out, nil
}
