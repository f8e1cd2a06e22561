package notify

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"tandem/internal/db"
)

// gather is how long lines of events.log that were written wait for more, so that their rows go together: each by itself would be
// a transaction and a sync beside every ask. Other ways lead to people and other machines, who would rather not hear twice after a
// crash: their rows go at once.
const gather = time.Second

// most is how many rows go together.
const most = 256

// Run tells until ctx ends, each way by itself. While nothing is due it does nothing.
func (n *Notifier) Run(ctx context.Context) {
	var all sync.WaitGroup
	for way, tell := range map[string]func(context.Context, item) error{toLog: n.write, toWebhook: n.call, toPhone: n.push,
		toDesktop: n.show} {
		all.Go(func() { n.deliver(ctx, way, tell) })
	}
	all.Wait()
}

// item is a notice on one way.
type item struct {
	tenant, id string
	tries      int64
	due        time.Time
	created    time.Time
	notice     Notice
	failed     error // why the way did not take it
}

func (n *Notifier) deliver(ctx context.Context, way string, tell func(context.Context, item) error) {
	var told []item // their rows still stand
	var since time.Time
	for ctx.Err() == nil {
		x, ok, err := n.next(ctx, way, told)
		pause := time.Hour
		switch {
		case err != nil:
			n.log.Error("look for notices", "err", err)
			pause = 10 * time.Second
		case ok && !n.db.Now().Before(x.due):
			if x.failed = tell(ctx, x); len(told) == 0 {
				since = time.Now()
			}
			if told = append(told, x); way == toLog && x.failed == nil && len(told) < most {
				continue
			}
			since = time.Time{}
		case ok:
			pause = time.Until(x.due)
		}
		if len(told) > 0 {
			pause = min(pause, time.Until(since.Add(gather)))
		}
		if len(told) > 0 && pause <= 0 {
			if err := n.settle(ctx, way, told); err == nil {
				told = nil
				continue
			} else if ctx.Err() == nil {
				n.log.Error("store that a notice was told", "err", err)
			}
			pause = 10 * time.Second
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-n.kick[way]:
		case <-timer.C:
		}
		timer.Stop()
	}
	if err := n.settle(ctx, way, told); err != nil {
		n.log.Error("store that a notice was told", "err", err)
	}
}

// next is what is due first on a way, behind what was told and still has its row. A row that comes to stand before those, because
// the clock was set back, is found once they are gone.
func (n *Notifier) next(ctx context.Context, way string, told []item) (x item, ok bool, err error) {
	var after item
	if len(told) > 0 {
		after = told[len(told)-1]
	}
	var body string
	var due, created int64
	err = n.db.QueryRow(ctx, `SELECT tenant, notice, tries, due, created_at, body FROM notice_way
		WHERE channel = ? AND (due, notice) > (?, ?) ORDER BY due, notice LIMIT 1`, n.channel(way, n.Lives), db.Micros(after.due), after.id).
		Scan(&x.tenant, &x.id, &x.tries, &due, &created, &body)
	if db.NoRows(err) {
		return x, false, nil
	}
	if err != nil {
		return x, false, err
	}
	x.due, x.created = db.Time(due), db.Time(created)
	return x, true, json.Unmarshal([]byte(body), &x.notice)
}

// settle takes notices off a way that took them, and puts those back for later that it did not take.
func (n *Notifier) settle(ctx context.Context, way string, told []item) error {
	if len(told) == 0 {
		return nil
	}
	ending := ctx.Err() != nil
	return n.db.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
		for _, x := range told {
			if x.failed != nil && ending {
				continue // the next start tries again
			}
			if err := n.settleOne(tx, way, x); err != nil {
				return err
			}
		}
		return nil
	})
}

func (n *Notifier) settleOne(tx *db.Tx, way string, x item) error {
	if x.failed != nil && tx.Now().Sub(x.created) < giveUp {
		n.log.Warn("notice not delivered", "to", way, "try", x.tries+1, "err", x.failed)
		_, err := tx.Exec("UPDATE notice_way SET tries = ?, due = ? WHERE channel = ? AND due = ? AND notice = ?", x.tries+1,
			db.Micros(tx.Now().Add(n.wait(x.tries))), n.channel(way, n.Lives), db.Micros(x.due), x.id)
		return err
	}
	if x.failed != nil {
		n.log.Error("notice given up", "to", way, "id", x.notice.ID, "err", x.failed)
	}
	_, err := tx.Exec("DELETE FROM notice_way WHERE channel = ? AND due = ? AND notice = ?", n.channel(way, n.Lives), db.Micros(x.due), x.id)
	return err
}
