package forge

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/forge/wire"
)

// atOnce bounds how many pull requests are looked at in one round: forges count requests.
const atOnce = 20

// Run looks at open pull requests from time to time, those first that were looked at longest ago. It calls no model.
func (r *Room) Run(ctx context.Context) {
	clock := time.NewTicker(r.Every)
	defer clock.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-clock.C:
			r.round(ctx)
		}
	}
}

type due struct {
	tenant string
	pull   *pull
}

func (r *Room) round(ctx context.Context) {
	rows, err := r.DB.Query(ctx, "SELECT tenant, body FROM forge_pull WHERE state = ? AND home = ? ORDER BY looked_at LIMIT ?",
		string(wire.Open), r.Home, atOnce)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (d due, err error) {
		var body string
		if err = rows.Scan(&d.tenant, &body); err == nil {
			err = json.Unmarshal([]byte(body), &d.pull)
		}
		return d, err
	})
	if err != nil {
		if ctx.Err() == nil {
			r.Log.Warn("pull requests wait for the database", "err", err)
		}
		return
	}
	for _, d := range all {
		if ctx.Err() != nil {
			return
		}
		if d.pull.Number == 0 { // its post did not end: a person says it again
			continue
		}
		if err := r.look(ctx, d.tenant, d.pull); err != nil && ctx.Err() == nil {
			r.troubled(ctx, d, err)
		}
	}
}

// troubled keeps why a pull request could not be looked at; it is looked at again.
func (r *Room) troubled(ctx context.Context, d due, why error) {
	now, err := r.pullOf(ctx, d.tenant, d.pull.Job)
	if err == nil && now != nil {
		now.Problem, now.LookedAt = fault.Public(why).Msg, r.DB.Now()
		err = r.DB.Write(ctx, func(tx *db.Tx) error { return r.save(tx, d.tenant, now) })
	}
	if err != nil && ctx.Err() == nil {
		r.Log.Warn("look at a pull request", "job", d.pull.Job, "err", err)
	}
}
