package contextrun

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"tandem/internal/contextrun/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// stands is a run as its rows have it.
func stands(tx *db.Tx, one *run) (*State, error) {
	s := &State{Run: one.Run, Tasks: map[string]*wire.Task{}}
	all, err := tasks(tx, one, "")
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		t.Token = ""
		s.Tasks[t.ID] = t
	}
	s.Board, err = board(tx, one)
	return s, err
}

func (r *Room) checkpoint(ctx context.Context, tx *db.Tx, in wire.CheckpointIn) (*wire.Mark, error) {
	if err := words(maxTitle, in.Reason); err != nil {
		return nil, err
	}
	one, err := held(ctx, tx, in.ID)
	if err != nil {
		return nil, err
	}
	s, err := stands(tx, one)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	m := &wire.Mark{ID: id.New("mark"), Seq: one.Events, Reason: in.Reason, By: op.CallerFrom(ctx).Name, At: nowOf(tx), Bytes: len(body)}
	_, err = tx.Exec("INSERT INTO context_checkpoint (tenant, run, id, seq, reason, made_by, made_at, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		one.tenant, one.ID, m.ID, m.Seq, m.Reason, m.By, m.At, string(body))
	if err == nil { // the events are all there: an older one is only a shorter way
		_, err = tx.Exec(`DELETE FROM context_checkpoint WHERE tenant = ? AND run = ? AND id NOT IN
			(SELECT id FROM context_checkpoint WHERE tenant = ? AND run = ? ORDER BY seq DESC, id DESC LIMIT ?)`, one.tenant, one.ID, one.tenant,
			one.ID, maxMarks)
	}
	op.Note(ctx, "checkpoint", m.ID)
	op.Note(ctx, "seq", m.Seq)
	return m, err
}

// marks are a run's checkpoints, newest first, and what the newest of them up to an event holds.
func marks(tx *db.Tx, one *run, upto int64) (out []*wire.Mark, newest string, err error) {
	rows, err := tx.Query(`SELECT id, seq, reason, made_by, made_at, state FROM context_checkpoint WHERE tenant = ? AND run = ? AND seq <= ?
		ORDER BY seq DESC, id DESC`, one.tenant, one.ID, upto)
	out, err = db.Collect(rows, err, func(rows *sql.Rows) (*wire.Mark, error) {
		var m wire.Mark
		var at int64
		var state string
		err := rows.Scan(&m.ID, &m.Seq, &m.Reason, &m.By, &at, &state)
		if m.At, m.Bytes = db.Time(at), len(state); newest == "" {
			newest = state
		}
		return &m, err
	})
	if out == nil {
		out = []*wire.Mark{}
	}
	return out, newest, err
}

func (r *Room) checkpoints(ctx context.Context, in wire.IDIn) (out wire.MarksOut, err error) {
	return out, r.look(ctx, in.ID, func(tx *db.Tx, found *run) error {
		all, newest, err := marks(tx, found, found.Events)
		out.Marks = all
		if newest != "" {
			out.State = json.RawMessage(newest)
		}
		return err
	})
}

// page is how many events a replay reads at once.
const page = 500

func (r *Room) replay(ctx context.Context, in wire.ReplayIn) (out *wire.ReplayOut, err error) {
	if in.Upto < 0 {
		return nil, bad("upto is the number of an event")
	}
	return out, r.look(ctx, in.ID, func(tx *db.Tx, found *run) error {
		if in.Upto == 0 || in.Upto > found.Events {
			in.Upto = found.Events
		}
		out = &wire.ReplayOut{Whole: in.Upto == found.Events, Drift: []wire.Drift{}}
		var s State
		if in.Checkpoint {
			if err := beginAt(tx, found, in.Upto, &s, out); err != nil {
				return err
			}
		}
		if err := fold(tx, found, in.Upto, &s, out); err != nil {
			return err
		}
		out.Run, out.Tasks, out.Board = s.Run, s.list(), s.Board
		if !out.Whole {
			return nil
		}
		rows, err := stands(tx, found)
		if err == nil {
			out.Drift = append(out.Drift, drift(rows, &s)...)
		}
		return err
	})
}

// beginAt takes the newest checkpoint for the state to begin with. One that cannot be read is passed over, and said.
func beginAt(tx *db.Tx, found *run, upto int64, s *State, out *wire.ReplayOut) error {
	all, newest, err := marks(tx, found, upto)
	if err != nil || len(all) == 0 {
		return err
	}
	if err := json.Unmarshal([]byte(newest), s); err != nil || s.Run == nil || s.Tasks == nil || s.Board == nil {
		*s = State{}
		out.Drift = append(out.Drift, wire.Drift{What: "checkpoint " + all[0].ID, Stored: "cannot be read", Replayed: "from the first event"})
		return nil
	}
	out.From = all[0].Seq
	return nil
}

// fold applies the events behind out.From, as far as upto. A number that is missing is drift, and so is an event that means nothing.
func fold(tx *db.Tx, found *run, upto int64, s *State, out *wire.ReplayOut) error {
	for at := out.From; at < upto; {
		list, err := events(tx, found, " AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?", at, upto, page)
		if err != nil {
			return err
		}
		for _, e := range list {
			if e.Seq != at+1 {
				out.Drift = append(out.Drift, wire.Drift{What: fmt.Sprintf("event %d", at+1), Stored: "missing", Replayed: "there was one"})
			}
			if at = e.Seq; s.Run == nil && e.Type != began {
				return gone(found)
			}
			if err := s.Apply(e); err != nil {
				out.Drift = append(out.Drift, wire.Drift{What: fmt.Sprintf("event %d", e.Seq), Stored: "means nothing", Replayed: err.Error()})
			}
			out.Applied++
		}
		if len(list) == 0 {
			out.Drift = append(out.Drift, wire.Drift{What: fmt.Sprintf("event %d", at+1), Stored: "missing", Replayed: "there was one"})
			break
		}
	}
	if s.Run == nil {
		return gone(found)
	}
	return nil
}

func gone(found *run) error {
	return fault.New(fault.Conflict, "context.replay", "the first event of %s is gone from the database: nothing can be folded", found.ID).
		WithNext("see what the journal has: tandem audit log --resource context:/%s", found.ID)
}

// list are the tasks in the order in which they were added.
func (s *State) list() []*wire.Task {
	out := make([]*wire.Task, 0, len(s.Tasks))
	for _, t := range s.Tasks {
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b *wire.Task) int { return cmp.Compare(a.Nr, b.Nr) })
	return out
}

// maxDrift is how many differences are named.
const maxDrift = 100

// drift is where rows say something else than events; pure.
func drift(rows, events *State) (out []wire.Drift) {
	tell := func(what string, stored, replayed any) {
		a, b := plainJSON(stored), plainJSON(replayed)
		if a != b && len(out) < maxDrift {
			out = append(out, wire.Drift{What: what, Stored: fault.Clip(a, 200), Replayed: fault.Clip(b, 200)})
		}
	}
	fields := func(what string, stored, replayed any) {
		a, b := parts(stored), parts(replayed)
		for _, name := range union(a, b) {
			tell(what+name, a[name], b[name])
		}
	}
	fields("", rows.Run, events.Run)
	for _, id := range union(rows.Tasks, events.Tasks) {
		a, b := rows.Tasks[id], events.Tasks[id]
		switch {
		case a == nil:
			tell("task "+id, "missing", b.Stage)
		case b == nil:
			tell("task "+id, a.Stage, "missing")
		default:
			fields("task "+id+" ", a, b)
		}
	}
	fields("blackboard ", rows.Board, events.Board)
	return out
}

// parts are the fields of a value as they are written.
func parts(v any) (out map[string]json.RawMessage) {
	if json.Unmarshal([]byte(plainJSON(v)), &out) != nil {
		return nil
	}
	return out
}

func plainJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// union are the names of both, in order.
func union[V any](a, b map[string]V) (out []string) {
	for name := range a {
		out = append(out, name)
	}
	for name := range b {
		if _, both := a[name]; !both {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
