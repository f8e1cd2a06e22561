// Package aside keeps what agents left in folders and version control would have run outside of their box later: hooks, settings that
// name programs, links. A folder is looked through before the work begins and after it; what appeared in between is taken out of it,
// into a file of the data folder, and a person keeps or discards it.
//
// A file is stored before it is taken out, so that a crash between the two loses nothing, and it is taken out before anybody is told that
// the work ended. No agent decides about what agents left. The tables are made by the migrations of sessions, to whom each look belongs.
package aside

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"tandem/internal/db"
	"tandem/internal/op"
	"tandem/internal/session/wire"
)

// Home is where a room is at home.
type Home struct {
	Folder string   // in which lies what was set aside
	Person string   // the home of the person: what lies in certain places of it runs by itself
	Hidden []string // folders that no agent reaches: tandem's own state
	Server string   // the home of the server that settles what was noted here, among others on one database
}

// Told tells a session, if the work is of one, and the journal what was found, in the transaction that stores it.
type Told func(tx *db.Tx, w Work, found []*wire.Aside, payload map[string]any) error

// Room keeps what was set aside.
type Room struct {
	db    *db.DB
	home  Home
	tell  Told
	begun sync.Map // works that this process looked at and has not settled, by their keys
}

// New makes the room.
func New(d *db.DB, home Home, tell Told) *Room { return &Room{db: d, home: home, tell: tell} }

func at(session string) op.Resource { return op.Resource{Kind: "session", Path: "/" + session} }

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // rows hold plain values, which always encode
	}
	return string(b)
}

func decode(s string, into any) error {
	if err := json.Unmarshal([]byte(s), into); err != nil {
		return fmt.Errorf("read a stored row: %w", err)
	}
	return nil
}

func later(micros int64) *time.Time {
	if micros == 0 {
		return nil
	}
	t := db.Time(micros)
	return &t
}
