package session

import (
	"context"
	"fmt"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/provider"
	"tandem/internal/tool"
)

// This file is what drivers move: each method is one transaction that leaves the turn in a state from which it can go on.

// move changes a turn and its session together.
func (r *Room) move(ctx context.Context, t *Turn, fn func(tx *db.Tx, s *Session, t *Turn) error) (*Turn, error) {
	var out *Turn
	err := r.db.Write(ctx, func(tx *db.Tx) (err error) {
		out, err = r.moveIn(tx, t, fn)
		return err
	})
	return out, err
}

// moved lets something happen to a turn, in a transaction of its own. first is what is done before it.
func (r *Room) moved(ctx context.Context, t *Turn, h happening, first ...func(tx *db.Tx, s *Session, t *Turn) error) (*Turn, error) {
	return r.move(ctx, t, func(tx *db.Tx, s *Session, t *Turn) error {
		for _, f := range first {
			if err := f(tx, s, t); err != nil {
				return err
			}
		}
		return r.happen(tx, s, t, h)
	})
}

// moveIn is move in a transaction of somebody else's.
func (r *Room) moveIn(tx *db.Tx, t *Turn, fn func(tx *db.Tx, s *Session, t *Turn) error) (out *Turn, err error) {
	_, err = r.change(tx, t.Tenant, t.Session, func(s *Session) error {
		cur, err := loadTurn(inTx{tx}, t.Tenant, t.ID)
		if err != nil {
			return err
		}
		if err := cur.open(); err != nil {
			return err
		}
		if err := r.hold(tx, cur, t); err != nil {
			return err
		}
		before := *cur
		if err := fn(tx, s, cur); err != nil {
			return err
		}
		out = cur
		if err := saveTurn(tx, cur); err != nil {
			return err
		}
		return r.Budgets.count(tx, s, &before, cur)
	})
	return out, err
}

// Start takes a turn that was queued or parked.
func (r *Room) Start(ctx context.Context, t *Turn) (*Turn, error) {
	brief, err := r.briefed(ctx, t)
	if err != nil {
		return nil, err
	}
	return r.move(ctx, t, func(tx *db.Tx, s *Session, t *Turn) error {
		if err := r.turnCounts(tx, t); err != nil {
			return err
		}
		if err := r.own(tx, t); err != nil || t.State == Running {
			return err
		}
		if t.StartedAt == nil {
			if err := r.tellBrief(tx, s, t, brief); err != nil {
				return err
			}
			if err := r.unrevert(tx, s, false); err != nil {
				return err
			}
		}
		return r.happen(tx, s, t, started{})
	})
}

// Park lets a turn go until people allowed ask; without one, until its driver takes it again.
func (r *Room) Park(ctx context.Context, t *Turn, ask, reason string) (*Turn, error) {
	awaits := AwaitsApproval
	if ask == "" {
		awaits = ""
	}
	return r.moved(ctx, t, parked{awaits, ask, reason})
}

// End ends a turn, and says so in the journal. also is what a driver keeps or tells of it, in the same transaction.
func (r *Room) End(ctx context.Context, t *Turn, state TurnState, reason string, also ...func(tx *db.Tx, s *Session, t *Turn) error) (*Turn,
	error) {
	return r.EndFor(ctx, t, state, reason, "", also...)
}

// EndFor ends a turn for a cause that has a name.
func (r *Room) EndFor(ctx context.Context, t *Turn, state TurnState, reason string, cause Cause,
	also ...func(tx *db.Tx, s *Session, t *Turn) error) (*Turn, error) {
	return r.move(ctx, t, func(tx *db.Tx, s *Session, t *Turn) error {
		if err := r.happen(tx, s, t, finished{state, reason, cause}); err != nil {
			return err
		}
		for _, f := range also {
			if err := f(tx, s, t); err != nil {
				return err
			}
		}
		return nil
	})
}

// Reply stores what the model said and the calls it wants, and ends the turn when it wants none. open is the part that is
// still being written, if any.
func (r *Room) Reply(ctx context.Context, t *Turn, msg string, reply provider.Reply, model string, cost provider.Nano, open *Writer,
	text string) (*Turn, error) {
	return r.moved(ctx, t, replied{msg, reply, model, cost}, open.closing(text)...)
}

// Spend counts a model call that cost something and brought no message.
func (r *Room) Spend(ctx context.Context, t *Turn, u provider.Usage, cost provider.Nano) (*Turn, error) {
	return r.moved(ctx, t, spent{u, cost})
}

// Retry tells watchers that a model call failed and is tried again.
func (r *Room) Retry(ctx context.Context, t *Turn, body Retry) error {
	_, err := r.moved(ctx, t, retried{body}, func(tx *db.Tx, s *Session, t *Turn) error {
		if r.Retried == nil {
			return nil
		}
		return r.Retried(tx, s, t, body)
	})
	return err
}

// Ask stores questions of the agent and parks the turn until they are answered.
func (r *Room) Ask(ctx context.Context, t *Turn, c *Call, qs []tool.Question) (*Turn, error) {
	return r.moved(ctx, t, questioned{c, qs})
}

// Question reads one question.
func (r *Room) Question(ctx context.Context, tenant, qid string) (*Question, error) {
	q, err := scanQuestion(r.db.QueryRow(ctx, "SELECT "+questionColumns+" FROM session_question WHERE tenant = ? AND id = ?", tenant, qid))
	if db.NoRows(err) {
		return nil, fault.New(fault.NotFound, "question", "there is no question %.60s", qid)
	}
	return q, err
}

// Begin does what a driver does before its first turn, however long the database is away.
func (r *Room) Begin(ctx context.Context, told func(error), do func() error) error {
	return r.db.Begin(ctx, told, do)
}

// CutParts closes parts that a crash left open, before anything else happens. The time in which the server was down is nobody's. What
// another server is about that lives is left to it.
func (r *Room) CutParts(ctx context.Context, odd func(error)) error {
	lived, err := r.lived(ctx)
	if err != nil {
		return err
	}
	if err := r.db.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec("UPDATE session_turn SET since = ? WHERE ended_at = 0 AND since > 0"+notIn("id", len(lived)),
			append([]any{tx.Now()}, lived.ids()...)...)
		return err
	}); err != nil {
		return err
	}
	rows, err := r.db.Query(ctx, `SELECT e.tenant, e.session, e.seq, e.turn, e.body FROM session_event e WHERE e.type IN (?, ?) AND NOT EXISTS
		(SELECT 1 FROM session_event x WHERE x.tenant = e.tenant AND x.session = e.session AND x.seq > e.seq AND x.type = ?)`, EventPart,
		EventOutput, EventPartEnd)
	if err != nil {
		return err
	}
	type openPart struct {
		w    Writer
		body string
	}
	var open []openPart
	for rows.Next() {
		o := openPart{w: Writer{room: r, s: &Session{}}}
		if err := rows.Scan(&o.w.s.Tenant, &o.w.s.ID, &o.w.seq, &o.w.turn, &o.body); err != nil {
			rows.Close()
			return err
		}
		if !lived[o.w.turn] {
			open = append(open, o)
		}
	}
	rows.Close()
	if err := rows.Err(); err != nil {
		return err
	}
	for _, o := range open {
		err := r.cut(ctx, o.w, o.body)
		switch {
		case err == nil:
		case ctx.Err() != nil || fault.KindOf(r.db.Explain(err)) == fault.Unavailable:
			return err
		default: // one that nobody can close keeps no server from starting
			odd(fmt.Errorf("part %d of the session %.64s: %w", o.w.seq, o.w.s.ID, err))
		}
	}
	return nil
}

func (r *Room) cut(ctx context.Context, w Writer, body string) error {
	if err := decode(body, &w.part); err != nil {
		return err
	}
	return r.db.Write(ctx, func(tx *db.Tx) error {
		var text string
		err := tx.QueryRow("SELECT text FROM session_part WHERE tenant = ? AND session = ? AND seq = ?", w.s.Tenant, w.s.ID, w.seq).Scan(&text)
		if err != nil && !db.NoRows(err) {
			return err
		}
		_, err = r.change(tx, w.s.Tenant, w.s.ID, func(s *Session) error { return w.end(tx, s, text, true) })
		return err
	})
}

// Waiting lists the turns that wait for somebody.
func (r *Room) Waiting(ctx context.Context) ([]*Turn, error) {
	return turnsWhere(outside{ctx, r.db}, "ended_at = 0 AND state = ?", string(Waiting))
}
