package forge

import (
	"context"
	"database/sql"
	"encoding/json"
	"strconv"

	"tandem/internal/db"
	"tandem/internal/forge/wire"
	"tandem/internal/journal"
	"tandem/internal/op"
)

// What is merged at a forge, and which work here a merge there ends, is what the row of the pull request says: its number, its branches
// and which commit was pushed. So it counts only as it was posted. How it stands there, and what people and CI say, the forge is asked
// each time.

// EventSent is the event of a job's commit that goes to a forge, and of what it became there.
const EventSent = "forge.sent"

const rewritten = "what is known here of the pull request was changed in the database, and not by tandem: it does not count"

func subject(job string) string { return "pull:" + job }

func (p *pull) seal(tenant string) op.Sealed {
	says := []string{p.Job, p.Forge, p.Where, p.Repo, p.Local, p.Branch, p.Base, strconv.FormatInt(p.Number, 10), p.URL, p.Commit}
	for _, s := range p.Sent {
		says = append(says, s.Commit, s.As)
	}
	return op.Sealed{Tenant: tenant, Subject: subject(p.Job), Says: says, What: "the pull request " + p.Ref() + " of " + p.Job}
}

// send keeps what is about to be pushed, or was, and vouches for it in the same change.
func (r *Room) send(ctx context.Context, tx *db.Tx, tenant string, p *pull) error {
	if err := r.save(tx, tenant, p); err != nil {
		return err
	}
	c := op.CallerFrom(ctx)
	said := map[string]any{"pull": p.Ref(), "branch": p.Branch, "base": p.Base}
	if n := len(p.Sent); n > 0 {
		said["commit"], said["as"] = p.Sent[n-1].Commit, p.Sent[n-1].As
	}
	return r.Journal.Tell(tx, journal.Event{Tenant: tenant, Type: EventSent, Phase: journal.Done, Actor: c.Name, For: c.For,
		Resource: "job:/" + p.Job}, said, p.seal(tenant))
}

// known is a job's pull request for who posts it: one whose row does not count is none.
func (r *Room) known(ctx context.Context, tenant, job string) (*pull, error) {
	p, err := r.pullOf(ctx, tenant, job)
	if p != nil && p.forged {
		p = nil
	}
	return p, err
}

func pullRows(ctx context.Context, d *db.DB) ([]op.Sealed, error) {
	rows, err := d.Query(ctx, "SELECT tenant, job, body FROM forge_pull ORDER BY tenant, job")
	return db.Collect(rows, err, func(rows *sql.Rows) (op.Sealed, error) {
		var tenant, job, body string
		if err := rows.Scan(&tenant, &job, &body); err != nil {
			return op.Sealed{}, err
		}
		var p pull
		if json.Unmarshal([]byte(body), &p) != nil || p.Job != job { // nobody vouches for such a one
			p = pull{Pull: wire.Pull{Job: job}}
		}
		return p.seal(tenant), nil
	})
}
