package notify

import (
	"context"
	"embed"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
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
	Type    string    `json:"type"` // session, relay, tunnel, ask, question, program or automation
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
	Tenant  string // whose ways these are: notices of another tenant go nowhere; "" is everybody's
	File    string // events.log
	Webhook string
	Secret  []byte        // signs the webhook's body
	Server  string        // of ntfy
	Starts  string        // the topic of ntfy at the start; Phone names another one
	Details bool          // a phone is told what is asked or was said, and not only who and what kind
	Desktop []string      // the command that shows a notice on the desktop; title and text are added
	Lives   string        // the home of this server in its cluster: each tells its own notices
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
	db    *db.DB
	log   *slog.Logger
	kick  map[string]chan struct{}
	topic atomic.Pointer[string]
	wait  func(try int64) time.Duration

	look   sync.Once
	before map[string]bool // what events.log held at the start
}

// giveUp is how long a notice is tried.
const giveUp = 24 * time.Hour

// New makes a notifier. It tells nothing until Run.
func New(d *db.DB, c Config, log *slog.Logger) *Notifier {
	n := &Notifier{Config: c, db: d, log: log, kick: map[string]chan struct{}{},
		wait: func(try int64) time.Duration { return min(time.Second<<(2*min(try, 6)), time.Hour) }}
	n.Phone(c.Starts)
	for _, way := range []string{toLog, toWebhook, toPhone, toDesktop} {
		n.kick[way] = make(chan struct{}, 1)
	}
	return n
}

// Put stores a notice in the transaction of what it tells of: either both are there after a crash, or neither is. Of another tenant than
// the one whose ways these are it stores none: its texts are not for whoever reads them there, and nobody there could answer.
func (n *Notifier) Put(tx *db.Tx, tenant string, e Notice) error {
	if n.Tenant != "" && tenant != n.Tenant {
		return nil
	}
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	notice, ways := id.New("note"), n.ways(e)
	for _, way := range ways {
		if _, err := tx.Exec(`INSERT INTO notice_way (channel, due, notice, tenant, tries, created_at, body)
			VALUES (?, ?, ?, ?, 0, ?, ?)`, n.channel(way, n.Lives), db.Micros(tx.Now()), notice, tenant, tx.Now(), string(body)); err != nil {
			return err
		}
	}
	tx.AfterCommit(func() { n.wake(ways) })
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
	if n.Topic() != "" && e.Push != Quiet {
		ways = append(ways, toPhone)
	}
	if len(n.Desktop) > 0 && e.Push != Quiet {
		ways = append(ways, toDesktop)
	}
	return ways
}

// channel is a way of one server: to each server of a cluster its own, so that nothing is told twice.
func (n *Notifier) channel(way, home string) string {
	if home == "" {
		return way
	}
	return way + "@" + home
}

// TakeOver tells from now on what a server of the cluster had still to tell.
func (n *Notifier) TakeOver(ctx context.Context, home string) error {
	if home == n.Lives {
		return nil
	}
	err := n.db.Write(ctx, func(tx *db.Tx) error {
		for way := range n.kick {
			if _, err := tx.Exec("UPDATE notice_way SET channel = ? WHERE channel = ?", n.channel(way, n.Lives), n.channel(way, home)); err != nil {
				return err
			}
		}
		return nil
	})
	n.wake(slices.Collect(maps.Keys(n.kick)))
	return err
}

func (n *Notifier) wake(ways []string) {
	for _, way := range ways {
		select {
		case n.kick[way] <- struct{}{}:
		default:
		}
	}
}
