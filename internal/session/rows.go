package session

import (
	"slices"

	"tandem/internal/db"
	"tandem/internal/id"
	"tandem/internal/provider"
)

// happen lets something happen to a turn whose session is being changed: reads where it stands, and keeps what comes of it.
func (r *Room) happen(tx *db.Tx, s *Session, t *Turn, h happening) error {
	at := stand{turn: t, now: tx.Now(), mint: id.New}
	var err error
	switch h := h.(type) {
	case finished:
		if at.calls, at.said, err = leftOpen(tx, t); err == nil && h.state == Done && s.cites(t) {
			var said string
			if said, err = saidIn(tx, t); err == nil {
				at.uncited, _, err = r.uncited(tx, s, t, said)
			}
		}
	case cancelled:
		at.calls, at.said, err = leftOpen(tx, t)
	case replied:
		if len(h.reply.Calls()) == 0 {
			if at.calls, at.said, err = leftOpen(tx, t); err == nil {
				at.uncited, at.more, err = r.uncited(tx, s, t, h.reply.Text())
			}
		}
	case callEnded:
		at.calls, at.said, err = lastReply(tx, t, h.call.ID)
	case gathered:
		at.calls, at.said, err = lastReply(tx, t, "")
	}
	if err != nil {
		return err
	}
	if err := at.apply(h); err != nil {
		return err
	}
	if err := r.keepRows(tx, s, t, at.rows); err != nil {
		return err
	}
	if !t.State.Ended() {
		return nil
	}
	if err := r.tellParent(tx, s, t); err != nil || !at.over {
		return err
	}
	return r.tellOver(tx, s, t)
}

// keepRows writes rows of a turn in their order, and tells of each.
func (r *Room) keepRows(tx *db.Tx, s *Session, t *Turn, rows []any) (err error) {
	for _, row := range rows {
		switch row := row.(type) {
		case *Turn: // its own row is written once everything happened
			err = tell(tx, s, t.ID, EventTurn, row)
		case *Call:
			if err = saveCall(tx, row); err == nil {
				err = tell(tx, s, t.ID, EventCall, row)
			}
		case *Message:
			err = addMessage(tx, s, row)
		case *Question:
			err = r.keepQuestion(tx, s, row)
		case Retry:
			err = tell(tx, s, t.ID, EventRetry, row)
		case dropped:
			err = r.cancelChild(tx, t.Tenant, string(row))
		case unasked:
			err = r.withdraw(tx, s, string(row))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tellOver tells whoever listens that a turn came to its end.
func (r *Room) tellOver(tx *db.Tx, s *Session, t *Turn) error {
	if t.State == Failed && r.Failed != nil {
		if err := r.Failed(tx, s, t); err != nil {
			return err
		}
	}
	if r.TurnEnded != nil {
		over := Ended{Session: s.ID, Turn: t.ID, Driver: s.Driver, Model: s.Model, State: t.State, Reason: t.Reason}
		tx.AfterCommit(func() { r.TurnEnded(over) })
	}
	return r.record(tx, s, "session.turn_ended", map[string]any{"turn": t.ID, "state": t.State, "reason": t.Reason, "usage": t.Usage,
		"cost_nano_usd": t.Cost, "steps": t.Steps, "calls": t.Calls}, t.over())
}

func addMessage(tx *db.Tx, s *Session, m *Message) error {
	if err := insertMessage(tx, s, m); err != nil {
		return err
	}
	return tell(tx, s, m.Turn, EventMessage, m)
}

// leftOpen are the calls of a turn and what was said in it, where one of the calls has not ended.
func leftOpen(tx *db.Tx, t *Turn) ([]*Call, []*Message, error) {
	if left, err := openCalls(inTx{tx}, t, 1); err != nil || len(left) == 0 {
		return nil, nil, err
	}
	calls, err := loadCalls(inTx{tx}, t.Tenant, t.ID)
	if err != nil {
		return nil, nil, err
	}
	said, err := messagesWhere(inTx{tx}, "AND turn = ? ORDER BY seq", t.Tenant, t.Session, t.ID)
	return calls, said, err
}

// lastReply is the turn's last reply, what was said since, and the calls that it wanted; of calls that are open, the one that is named
// aside, these alone. Those of the replies before were given to the model when it was asked for this one, so a long turn does not read
// them again.
func lastReply(tx *db.Tx, t *Turn, but string) ([]*Call, []*Message, error) {
	open, err := openCalls(inTx{tx}, t, 2)
	open = slices.DeleteFunc(open, func(c *Call) bool { return c.ID == but })
	if err != nil || len(open) > 0 {
		return open, nil, err
	}
	said, err := messagesWhere(inTx{tx}, `AND turn = ? AND seq >= (SELECT seq FROM session_message WHERE tenant = ? AND session = ? AND
		hidden = 0 AND turn = ? AND role = ? ORDER BY seq DESC LIMIT 1) ORDER BY seq`,
		t.Tenant, t.Session, t.ID, t.Tenant, t.Session, t.ID, string(RoleAssistant))
	if err != nil || len(said) == 0 {
		return nil, nil, err
	}
	var wanted int64
	for _, b := range said[0].Blocks {
		if b.Kind == provider.CallKind {
			wanted++
		}
	}
	calls, err := newestCalls(inTx{tx}, t, wanted)
	return calls, said, err
}
