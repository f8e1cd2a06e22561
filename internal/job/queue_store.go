package job

import (
	"context"
	"database/sql"
	"encoding/json"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/journal"
	"tandem/internal/op"
)

const selectQueue = "SELECT tenant, home, repo, branch, body FROM job_queue WHERE "

// kept is a queue as it is in the database.
type kept struct {
	*wire.Queue
	tenant, body string
	there        bool // there is a row
	unread       bool // the body cannot be read
}

func readQueue(row interface{ Scan(...any) error }) (k kept, err error) {
	k.Queue = &wire.Queue{}
	var home, repo, branch string
	if err = row.Scan(&k.tenant, &home, &repo, &branch, &k.body); err != nil {
		return k, err
	}
	k.there, k.unread = true, json.Unmarshal([]byte(k.body), k.Queue) != nil
	k.Home, k.Repo, k.Branch = home, repo, branch // the columns', of which a restore changes one
	return k, nil
}

func collectQueues(rows *sql.Rows, err error) ([]kept, error) {
	return db.Collect(rows, err, func(rows *sql.Rows) (kept, error) { return readQueue(rows) })
}

func (k kept) seal() op.Sealed {
	return op.Sealed{Tenant: k.tenant, Subject: "queue:" + k.Branch + "@" + k.Home + ":" + k.Repo, Says: []string{k.body},
		What: "the queue of " + k.Branch + " in " + k.Repo}
}

// ended says that a queue is not there any more.
func (k kept) ended() op.Sealed {
	s := k.seal()
	s.Says = nil
	return s
}

// queueIn reads a queue. One whose row the journal does not vouch for, or that is gone, is protected, and paused until a person says anew
// what it is: what it may merge, and where that is pushed to, is not known.
func (r *Room) queueIn(tx *db.Tx, tenant, home, repo, branch, locked string) (k kept, counts bool, err error) {
	read := func() {
		k, err = readQueue(tx.QueryRow(selectQueue+"tenant = ? AND home = ? AND repo = ? AND branch = ?"+locked, tenant, home, repo, branch))
		if db.NoRows(err) {
			k, err = kept{Queue: &wire.Queue{Home: home, Repo: repo, Branch: branch}, tenant: tenant}, nil
		}
	}
	read()
	spoken := false
	if err == nil && !k.there && r.Sealed {
		if spoken, err = r.Journal.Speaks(tx, tenant, k.seal().Subject); err == nil && spoken {
			read() // PostgreSQL shows what somebody else made since
		}
	}
	switch {
	case err != nil:
		return k, false, err
	case k.unread:
	case !r.Sealed:
		counts = true
	case k.there:
		counts, err = r.Journal.Kept(tx, k.seal())
	default:
		counts = !spoken
	}
	if err == nil && !counts {
		k.Queue = &wire.Queue{Home: home, Repo: repo, Branch: branch, Protected: true, Paused: true,
			Reason: "it was changed in the database, and not by tandem; say anew what it is: tandem queue protect " + branch}
	}
	return k, counts, err
}

func (r *Room) queue(ctx context.Context, tenant, repo, branch string) (q *wire.Queue, err error) {
	err = r.view(ctx, func(tx *db.Tx) error {
		k, _, err := r.queueIn(tx, tenant, r.Owner.Home, repo, branch, "")
		q = k.Queue
		return err
	})
	return q, err
}

// changeQueue changes a queue. Whoever calls it tells of it in the same transaction, with the seal of what it is from now on.
func (r *Room) changeQueue(tx *db.Tx, tenant, repo, branch string, fn func(*wire.Queue) error) (kept, error) {
	k, counts, err := r.queueIn(tx, tenant, r.Owner.Home, repo, branch, tx.ForUpdate())
	if err == nil && !counts {
		err = fault.New(fault.Denied, "queue", "the queue of %s was changed in the database, and not by tandem", branch).
			WithNext("look, and say anew what it is: tandem audit verify; tandem queue protect %s", branch)
	}
	if err == nil {
		err = fn(k.Queue)
	}
	if err != nil {
		return k, err
	}
	body, err := json.Marshal(k.Queue)
	if err != nil {
		return k, err
	}
	k.body = string(body)
	_, err = tx.Exec(`INSERT INTO job_queue (tenant, home, repo, branch, body, updated_at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, home, repo, branch) DO UPDATE SET body = excluded.body, updated_at = excluded.updated_at`, tenant, r.Owner.Home,
		repo, branch, k.body, tx.Now())
	return k, err
}

// EventQueue is the event of a queue that is another one from now on.
const EventQueue = "queue.changed"

// setQueue changes a queue and says by whom.
func (r *Room) setQueue(tx *db.Tx, tenant, repo, branch, by, did string, fn func(*wire.Queue) error) (*wire.Queue, error) {
	k, err := r.changeQueue(tx, tenant, repo, branch, fn)
	if err != nil {
		return nil, err
	}
	return k.Queue, r.tellQueue(tx, k.tenant, by, map[string]any{"repo": repo, "branch": branch, "did": did}, k.seal())
}

func (r *Room) tellQueue(tx *db.Tx, tenant, by string, said map[string]any, rows ...op.Sealed) error {
	return r.Journal.Tell(tx, journal.Event{Tenant: tenant, Type: EventQueue, Phase: journal.Done, Actor: by, Resource: at("").String()}, said,
		rows...)
}

// anew forgets a queue whose row does not count, for a person who says what it is.
func (r *Room) anew(tx *db.Tx, tenant, repo, branch, by string) error {
	k, counts, err := r.queueIn(tx, tenant, r.Owner.Home, repo, branch, tx.ForUpdate())
	if err != nil || counts {
		return err
	}
	if _, err := tx.Exec("DELETE FROM job_queue WHERE tenant = ? AND home = ? AND repo = ? AND branch = ?", tenant, r.Owner.Home, repo,
		branch); err != nil {
		return err
	}
	return r.tellQueue(tx, tenant, by, map[string]any{"repo": repo, "branch": branch, "did": "forgot what was changed in the database"},
		k.ended())
}

// takeQueues makes the queues of a copy this server's, with their protection. Where several homes had one for the same branch, one stays.
func (r *Room) takeQueues(tx *db.Tx) error {
	all, err := collectQueues(tx.Query(selectQueue + "1 = 1 ORDER BY tenant, repo, branch, home"))
	if err != nil {
		return err
	}
	taken := map[[3]string]bool{}
	for _, k := range all {
		if at := [3]string{k.tenant, k.Repo, k.Branch}; k.Home == r.Owner.Home {
			taken[at] = true
		}
	}
	for _, k := range all {
		at := [3]string{k.tenant, k.Repo, k.Branch}
		if taken[at] {
			continue
		}
		taken[at] = true
		_, counts, err := r.queueIn(tx, k.tenant, k.Home, k.Repo, k.Branch, "")
		if err != nil {
			return err
		}
		if _, err := tx.Exec("UPDATE job_queue SET home = ? WHERE tenant = ? AND home = ? AND repo = ? AND branch = ?", r.Owner.Home, k.tenant,
			k.Home, k.Repo, k.Branch); err != nil {
			return err
		}
		was := k.ended()
		if k.Home = r.Owner.Home; !counts {
			continue
		}
		if err := r.tellQueue(tx, k.tenant, "tandem", map[string]any{"repo": k.Repo, "branch": k.Branch, "did": "restored"}, was,
			k.seal()); err != nil {
			return err
		}
	}
	return nil
}

func (r *Room) tenantsOfQueues(ctx context.Context) ([]string, error) {
	rows, err := r.DB.Query(ctx, "SELECT DISTINCT tenant FROM job_queue WHERE home = ?", r.Owner.Home)
	return db.Collect(rows, err, func(rows *sql.Rows) (tenant string, err error) { return tenant, rows.Scan(&tenant) })
}

func (r *Room) queues(ctx context.Context, tenant string) (out []*wire.Queue, err error) {
	err = r.view(ctx, func(tx *db.Tx) error {
		out = nil
		all, err := collectQueues(tx.Query(selectQueue+"tenant = ? ORDER BY repo, branch, home", tenant))
		if err != nil {
			return err
		}
		for _, k := range all {
			k, _, err := r.queueIn(tx, tenant, k.Home, k.Repo, k.Branch, "")
			if err != nil {
				return err
			}
			out = append(out, k.Queue)
		}
		return nil
	})
	return out, err
}
