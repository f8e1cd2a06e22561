package notify

import (
	"context"
	"embed"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"tandem/internal/db"
	"tandem/internal/id"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are this room's tables.
var Migrations = db.Migrations{Room: "notify", FS: schema}

// Event is one line of events.log.
type Event struct {
	TS      time.Time `json:"ts"`
	Type    string    `json:"type"` // session, relay, tunnel, ask, question or program
	Status  string    `json:"status"`
	ID      string    `json:"id"`
	Cursor  int64     `json:"cursor"`
	Summary string    `json:"summary"`
	Reason  string    `json:"reason"`
	Handoff string    `json:"handoff"`
}

// Notice is an event with how it is told.
type Notice struct {
	Event
	Name   string `json:"name,omitempty"`   // who it is for somebody else's server, where the id says more than that
	Folder string `json:"folder,omitempty"` // for the commit in the handoff
	Left   *Left  `json:"left,omitempty"`   // or what is known of it already
	Next   string `json:"next,omitempty"`
	Push   Push   `json:"push,omitempty"`
	Says   string `json:"says,omitempty"` // what is told behind the name, as "needs an approval"; of what ended, its status
	Page   string `json:"page,omitempty"` // of the panel, where a push leads
}

// Left is what work left in its folder: the commit that it made, if any, and how many files it changed; negative is unknown.
type Left struct {
	Commit string `json:"commit,omitempty"`
	Files  int    `json:"files"`
}

// Push says whether a phone is woken, and how.
type Push string

// The kinds of push.
const (
	Quiet  Push = ""
	Normal Push = "done" // it ended: the title says how
	Answer Push = "NEEDS YOUR ANSWER"
	Urgent Push = "NEEDS YOU"
)

// Config says where notices go. Empty fields are off.
type Config struct {
	File    string // events.log
	Webhook string
	Secret  []byte // signs the webhook's body
	Server  string // of ntfy
	Topic   string
	Details bool          // a phone is told what is asked or was said, and not only who and what kind
	Desktop []string      // the command that shows a notice on the desktop; title and text are added
	Panel   func() string // the panel's address as a phone reaches it, "" for none: then a push leads nowhere
}

// The ways a notice goes.
const (
	toLog     = "log"
	toWebhook = "webhook"
	toPhone   = "ntfy"
	toDesktop = "desktop"
)

// Notifier keeps notices and tells them.
type Notifier struct {
	Config
	db   *db.DB
	log  *slog.Logger
	kick map[string]chan struct{}
	wait func(try int64) time.Duration
}

// giveUp is how long a notice is tried.
const giveUp = 24 * time.Hour

// New makes a notifier. It tells nothing until Run.
func New(d *db.DB, c Config, log *slog.Logger) *Notifier {
	n := &Notifier{Config: c, db: d, log: log, kick: map[string]chan struct{}{},
		wait: func(try int64) time.Duration { return min(time.Second<<(2*min(try, 6)), time.Hour) }}
	for _, way := range []string{toLog, toWebhook, toPhone, toDesktop} {
		n.kick[way] = make(chan struct{}, 1)
	}
	return n
}

// Put stores a notice in the transaction of what it tells of: either both are there after a crash, or neither is.
func (n *Notifier) Put(tx *db.Tx, tenant string, e Notice) error {
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	notice := id.New("note")
	if _, err := tx.Exec("INSERT INTO notice (tenant, id, body, created_at) VALUES (?, ?, ?, ?)", tenant, notice, string(body),
		tx.Now()); err != nil {
		return err
	}
	for _, way := range n.ways(e) {
		if _, err := tx.Exec("INSERT INTO notice_send (tenant, notice, channel, tries, due) VALUES (?, ?, ?, 0, ?)", tenant, notice, way,
			db.Micros(tx.Now())); err != nil {
			return err
		}
	}
	tx.AfterCommit(n.wake)
	return nil
}

// Tell stores a notice by itself.
func (n *Notifier) Tell(ctx context.Context, tenant string, e Notice) {
	if err := n.db.Write(ctx, func(tx *db.Tx) error { return n.Put(tx, tenant, e) }); err != nil {
		n.log.Error("a notice was not stored", "id", e.ID, "err", err)
	}
}

func (n *Notifier) ways(e Notice) []string {
	ways := []string{toLog}
	if n.Webhook != "" {
		ways = append(ways, toWebhook)
	}
	if n.Topic != "" && e.Push != Quiet {
		ways = append(ways, toPhone)
	}
	if len(n.Desktop) > 0 && e.Push != Quiet {
		ways = append(ways, toDesktop)
	}
	return ways
}

func (n *Notifier) wake() {
	for _, c := range n.kick {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

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
}

func (n *Notifier) deliver(ctx context.Context, way string, tell func(context.Context, item) error) {
	for ctx.Err() == nil {
		x, ok, err := n.next(ctx, way)
		pause := time.Hour
		switch {
		case err != nil:
			n.log.Error("look for notices", "err", err)
			pause = 10 * time.Second
		case ok && !n.db.Now().Before(x.due):
			if err := n.settle(ctx, way, x, tell(ctx, x)); err != nil && ctx.Err() == nil {
				n.log.Error("store that a notice was told", "err", err)
				pause = 10 * time.Second
			} else {
				continue
			}
		case ok:
			pause = time.Until(x.due)
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-n.kick[way]:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// next is what is due first on a way.
func (n *Notifier) next(ctx context.Context, way string) (x item, ok bool, err error) {
	var body string
	var due, created int64
	err = n.db.QueryRow(ctx, `SELECT s.tenant, s.notice, s.tries, s.due, o.created_at, o.body FROM notice_send s JOIN notice o ON o.tenant = s.tenant AND o.id = s.notice
		WHERE s.channel = ? ORDER BY s.due, s.notice LIMIT 1`, way).Scan(&x.tenant, &x.id, &x.tries, &due, &created, &body)
	if db.NoRows(err) {
		return x, false, nil
	}
	if err != nil {
		return x, false, err
	}
	x.due, x.created = db.Time(due), db.Time(created)
	return x, true, json.Unmarshal([]byte(body), &x.notice)
}

// settle takes a notice off a way that took it, or puts it back for later.
func (n *Notifier) settle(ctx context.Context, way string, x item, failed error) error {
	if failed != nil && ctx.Err() != nil {
		return nil // we are ending; the next start tries again
	}
	return n.db.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
		if failed != nil && tx.Now().Sub(x.created) < giveUp {
			n.log.Warn("notice not delivered", "to", way, "try", x.tries+1, "err", failed)
			_, err := tx.Exec("UPDATE notice_send SET tries = ?, due = ? WHERE tenant = ? AND notice = ? AND channel = ?", x.tries+1,
				db.Micros(tx.Now().Add(n.wait(x.tries))), x.tenant, x.id, way)
			return err
		}
		if failed != nil {
			n.log.Error("notice given up", "to", way, "id", x.notice.ID, "err", failed)
		}
		if _, err := tx.Exec("DELETE FROM notice_send WHERE tenant = ? AND notice = ? AND channel = ?", x.tenant, x.id, way); err != nil {
			return err
		}
		_, err := tx.Exec("DELETE FROM notice WHERE tenant = ? AND id = ? AND NOT EXISTS (SELECT 1 FROM notice_send s WHERE s.tenant = ? AND s.notice = ?)", x.tenant, x.id, x.tenant, x.id)
		return err
	})
}
