package session

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
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

// moveIn is move in a transaction of somebody else's.
func (r *Room) moveIn(tx *db.Tx, t *Turn, fn func(tx *db.Tx, s *Session, t *Turn) error) (out *Turn, err error) {
	_, err = r.change(tx, t.Tenant, t.Session, func(s *Session) error {
		cur, err := loadTurn(inTx{tx}, t.Tenant, t.ID)
		if err != nil {
			return err
		}
		if cur.State.Ended() {
			return fault.New(fault.Conflict, "session.turn", "the turn has ended already: %s", cur.State)
		}
		before := *cur
		if err := fn(tx, s, cur); err != nil {
			return err
		}
		out = cur
		if err := saveTurn(tx, cur); err != nil {
			return err
		}
		return r.count(tx, s, &before, cur)
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
		if err := r.own(tx, t); err != nil || t.State == Running {
			return err
		}
		if t.StartedAt == nil {
			if err := r.tellBrief(tx, t, brief); err != nil {
				return err
			}
			if err := r.begin(tx, s, t); err != nil {
				return err
			}
		}
		t.State, t.Ask, t.Reason = Running, "", ""
		return tell(tx, s, t.ID, EventTurn, t)
	})
}

// begin makes a turn run: its prompt becomes part of the conversation.
func (r *Room) begin(tx *db.Tx, s *Session, t *Turn) error {
	now := tx.Now()
	t.State, t.StartedAt = Running, &now
	if err := r.unrevert(tx, s, false); err != nil {
		return err
	}
	return addMessage(tx, s, &Message{ID: id.New("msg"), Turn: t.ID, Role: RoleUser, Blocks: t.prompt})
}

// Park lets a turn go until somebody answered ask.
func (r *Room) Park(ctx context.Context, t *Turn, ask, reason string) (*Turn, error) {
	return r.move(ctx, t, func(tx *db.Tx, s *Session, t *Turn) error {
		t.State, t.Ask, t.Reason = Waiting, ask, reason
		return tell(tx, s, t.ID, EventTurn, t)
	})
}

// End ends a turn, and says so in the journal. also is what a driver keeps or tells of it, in the same transaction.
func (r *Room) End(ctx context.Context, t *Turn, state TurnState, reason string, also ...func(tx *db.Tx, s *Session, t *Turn) error) (*Turn,
	error) {
	return r.move(ctx, t, func(tx *db.Tx, s *Session, t *Turn) error {
		if err := r.finish(tx, s, t, state, reason); err != nil {
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

// finish ends a turn in a transaction that may also do what ended it.
func (r *Room) finish(tx *db.Tx, s *Session, t *Turn, state TurnState, reason string) error {
	now := tx.Now()
	t.State, t.Reason, t.Ask, t.EndedAt = state, reason, "", &now
	if err := r.closeCalls(tx, s, t, "the turn ended before this call ran"); err != nil {
		return err
	}
	if err := r.tellParent(tx, s, t); err != nil {
		return err
	}
	if err := tell(tx, s, t.ID, EventTurn, t); err != nil {
		return err
	}
	if state == Failed && r.Failed != nil {
		if err := r.Failed(tx, s, t); err != nil {
			return err
		}
	}
	if r.TurnEnded != nil {
		ended := Ended{Session: s.ID, Turn: t.ID, Driver: s.Driver, Model: s.Model, State: state, Reason: reason}
		tx.AfterCommit(func() { r.TurnEnded(ended) })
	}
	return r.record(tx, s, "session.turn_ended", map[string]any{"turn": t.ID, "state": t.State, "reason": t.Reason, "usage": t.Usage,
		"cost_nano_usd": t.Cost, "steps": t.Steps, "calls": t.Calls})
}

func addMessage(tx *db.Tx, s *Session, m *Message) error {
	if err := insertMessage(tx, s, m); err != nil {
		return err
	}
	return tell(tx, s, m.Turn, EventMessage, m)
}

// Reply stores what the model said and the calls it wants, and ends the turn when it wants none. open is the part that is
// still being written, if any.
func (r *Room) Reply(ctx context.Context, t *Turn, msg string, reply provider.Reply, model string, cost provider.Nano, open *Writer,
	text string) (*Turn, error) {
	return r.move(ctx, t, func(tx *db.Tx, s *Session, t *Turn) error {
		t.Steps++
		t.Attempts++
		t.Usage = t.Usage.Add(reply.Usage)
		t.Cost += cost
		if open != nil {
			if err := open.end(tx, s, text, false); err != nil {
				return err
			}
		}
		if err := addMessage(tx, s, &Message{ID: msg, Turn: t.ID, Role: RoleAssistant, Blocks: reply.Blocks, Model: model}); err != nil {
			return err
		}
		for _, c := range reply.Calls() {
			t.Calls++
			call := &Call{ID: id.New("call"), Tenant: t.Tenant, Session: t.Session, Turn: t.ID, Position: t.Calls, Ref: c.ID, Tool: c.Name,
				Args:  c.Args,
				State: CallProposed, CreatedAt: tx.Now()}
			if err := saveCall(tx, call); err != nil {
				return err
			}
			if err := tell(tx, s, t.ID, EventCall, call); err != nil {
				return err
			}
		}
		if len(reply.Calls()) > 0 || reply.Stop == provider.StopPause || t.Cancel {
			return nil
		}
		return r.finish(tx, s, t, Done, stopReason(reply.Stop))
	})
}

// stopReason says why a reply ended before the model was done, if it did.
func stopReason(s provider.Stop) string {
	switch s {
	case provider.StopLength:
		return "the reply reached its limit of tokens"
	case provider.StopRefusal:
		return "the model refused"
	}
	return ""
}

// Spend counts a model call that cost something and brought no message.
func (r *Room) Spend(ctx context.Context, t *Turn, u provider.Usage, cost provider.Nano) (*Turn, error) {
	return r.move(ctx, t, func(_ *db.Tx, _ *Session, t *Turn) error {
		t.Attempts++
		t.Usage = t.Usage.Add(u)
		t.Cost += cost
		return nil
	})
}

// Retry tells watchers that a model call failed and is tried again.
func (r *Room) Retry(ctx context.Context, t *Turn, body Retry) error {
	_, err := r.move(ctx, t, func(tx *db.Tx, s *Session, t *Turn) error {
		if r.Retried != nil {
			if err := r.Retried(tx, s, t, body); err != nil {
				return err
			}
		}
		return tell(tx, s, t.ID, EventRetry, body)
	})
	return err
}

// Ask stores questions of the agent and parks the turn until they are answered.
func (r *Room) Ask(ctx context.Context, t *Turn, c *Call, qs []tool.Question) (*Turn, error) {
	return r.move(ctx, t, func(tx *db.Tx, s *Session, t *Turn) error {
		q := &Question{ID: id.New("que"), Session: s.ID, Turn: t.ID, Call: c.ID, Questions: qs, State: "pending", CreatedAt: tx.Now()}
		if _, err := tx.Exec("INSERT INTO session_question (tenant, "+questionColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			s.Tenant, q.ID, q.Session, q.Turn, q.Call, encode(q.Questions), q.State, "", "", q.CreatedAt); err != nil {
			return err
		}
		c.State, c.Ask = CallAsking, q.ID
		if err := saveCall(tx, c); err != nil {
			return err
		}
		t.State, t.Ask, t.Reason = Waiting, q.ID, "the agent asks: "+qs[0].Question
		if r.Questioned != nil {
			if err := r.Questioned(tx, s, q); err != nil {
				return err
			}
		}
		if err := tell(tx, s, t.ID, EventQuestion, q); err != nil {
			return err
		}
		if err := tell(tx, s, t.ID, EventCall, c); err != nil {
			return err
		}
		return tell(tx, s, t.ID, EventTurn, t)
	})
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
func (r *Room) CutParts(ctx context.Context) error {
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
		if err := decode(o.body, &o.w.part); err != nil {
			return err
		}
		err := r.db.Write(ctx, func(tx *db.Tx) error {
			var text string
			err := tx.QueryRow("SELECT text FROM session_part WHERE tenant = ? AND session = ? AND seq = ?", o.w.s.Tenant, o.w.s.ID, o.w.seq).
				Scan(&text)
			if err != nil && !db.NoRows(err) {
				return err
			}
			_, err = r.change(tx, o.w.s.Tenant, o.w.s.ID, func(s *Session) error { return o.w.end(tx, s, text, true) })
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Waiting lists the turns that wait for somebody.
func (r *Room) Waiting(ctx context.Context) ([]*Turn, error) {
	return turnsWhere(outside{ctx, r.db}, "ended_at = 0 AND state = ?", string(Waiting))
}
