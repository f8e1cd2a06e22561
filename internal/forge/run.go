package forge

import (
	"context"
	"database/sql"
	"encoding/json"
	"sync"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/forge/wire"
)

// How many pull requests are looked at in one round, in all and at one forge: forges count requests.
const (
	atOnce  = 100
	forEach = 10
)

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

// round looks at those whose turn it is, at all forges at the same time: one that is slow keeps no other waiting.
func (r *Room) round(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, maxRound)
	defer cancel()
	rows, err := r.DB.Query(ctx, `SELECT tenant, body FROM forge_pull WHERE state IN (?, ?) AND home = ? AND looked_at <= ? AND EXISTS
		(SELECT 1 FROM forge WHERE forge.tenant = forge_pull.tenant AND forge.name = forge_pull.forge) ORDER BY looked_at LIMIT ?`,
		string(wire.Open), landing, r.Home, r.DB.Now().Add(-often), atOnce)
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
	at := map[string][]due{}
	for _, d := range all {
		if k := d.tenant + " " + d.pull.Forge; len(at[k]) < forEach {
			at[k] = append(at[k], d)
		}
	}
	var under sync.WaitGroup
	for _, some := range at {
		under.Go(func() { r.looks(ctx, some) })
	}
	under.Wait()
}

// looks looks at pull requests of one forge, until it wants to be left alone.
func (r *Room) looks(ctx context.Context, some []due) {
	for _, d := range some {
		if !r.Vouch.Holds(ctx, d.pull.seal(d.tenant)) {
			continue // whoever looks at the job is told
		}
		err := r.look(ctx, d.tenant, d.pull) // also of one that was merged there: a row alone ends no job
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			r.troubled(ctx, d, err)
		}
		if fault.Is(err, fault.Exhausted) {
			return
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
