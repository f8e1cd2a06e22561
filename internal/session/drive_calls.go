package session

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/id"
	"tandem/internal/provider"
	"tandem/internal/tool"
)

// What a turn asked its tools for: which call is next, what became of each, and the message that answers a reply's calls.

// closeCalls gives calls that will never run a result that says so: a conversation with an unanswered call cannot go on.
func (r *Room) closeCalls(tx *db.Tx, s *Session, t *Turn, why string) error {
	if left, err := openCalls(inTx{tx}, t, 1); err != nil || len(left) == 0 {
		return err
	}
	calls, err := loadCalls(inTx{tx}, t.Tenant, t.ID)
	if err != nil {
		return err
	}
	var open []provider.Block
	var ended []*Call
	for _, c := range calls {
		if c.State.Ended() {
			ended = append(ended, c)
			continue
		}
		if waitsForChild(c.Ask) {
			if err := r.cancelChild(tx, t.Tenant, c.Ask); err != nil {
				return err
			}
		}
		now := tx.Now()
		c.State, c.EndedAt, c.Result = CallFailed, &now, &tool.Result{Text: why, Error: true}
		if err := saveCall(tx, c); err != nil {
			return err
		}
		if err := tell(tx, s, t.ID, EventCall, c); err != nil {
			return err
		}
		open = append(open, provider.Block{Kind: provider.ResultOf,
			Result: &provider.Result{CallID: c.Ref, Name: c.Tool, Text: why, Error: true}})
	}
	if len(open) == 0 {
		return nil
	}
	// Calls of the same reply that did end answer together with these.
	answered, err := unanswered(tx, t, ended)
	if err != nil {
		return err
	}
	return addMessage(tx, s, &Message{ID: id.New("msg"), Turn: t.ID, Role: RoleTool, Blocks: append(answered, open...)})
}

// unanswered are the results of a turn's ended calls that no message carries yet.
func unanswered(tx *db.Tx, t *Turn, calls []*Call) ([]provider.Block, error) {
	ms, err := messagesWhere(inTx{tx}, "AND turn = ? ORDER BY seq", t.Tenant, t.Session, t.ID)
	if err != nil {
		return nil, err
	}
	return untold(ms, calls), nil
}

// untold are the results of ended calls that none of these messages carries.
func untold(ms []*Message, calls []*Call) (out []provider.Block) {
	told := map[string]bool{}
	for _, m := range ms {
		for _, b := range m.Blocks {
			if b.Kind == provider.ResultOf {
				told[b.Result.CallID] = true
			}
		}
	}
	for _, c := range calls {
		if c.State.Ended() && !told[c.Ref] {
			out = append(out, resultBlock(c))
		}
	}
	return out
}

func resultBlock(c *Call) provider.Block {
	return provider.Block{Kind: provider.ResultOf, Result: &provider.Result{CallID: c.Ref, Name: c.Tool, Text: c.Result.Text,
		Error: c.Result.Error}}
}

// NextCall is the first of a turn's calls that has not ended, nil when all have. It reads no other: a turn may have hundreds.
func (r *Room) NextCall(ctx context.Context, t *Turn) (*Call, error) {
	open, err := openCalls(outside{ctx, r.db}, t, 1)
	if err != nil || len(open) == 0 {
		return nil, err
	}
	return open[0], nil
}

// NewestCalls are the last of a turn's calls, so many.
func (r *Room) NewestCalls(ctx context.Context, t *Turn, n int64) ([]*Call, error) {
	return newestCalls(outside{ctx, r.db}, t, n)
}

// Calls lists a turn's calls.
func (r *Room) Calls(ctx context.Context, t *Turn) ([]*Call, error) {
	return loadCalls(outside{ctx, r.db}, t.Tenant, t.ID)
}

// MoveCall changes a call and tells so. The last call of a reply to end gives the model the results of all of them.
func (r *Room) MoveCall(ctx context.Context, t *Turn, c *Call, open *Writer, text string) error {
	_, err := r.move(ctx, t, func(tx *db.Tx, s *Session, t *Turn) error {
		if c.State.Ended() && c.EndedAt == nil {
			now := tx.Now()
			c.EndedAt = &now
		}
		if open != nil {
			if err := open.end(tx, s, text, false); err != nil {
				return err
			}
		}
		if err := tellCall(tx, s, t, c); err != nil || !c.State.Ended() {
			return err
		}
		return answer(tx, s, t)
	})
	return err
}

// RunCall marks a call as running, in the transaction that says so to the gate: it has begun for both or for none.
func (r *Room) RunCall(t *Turn, c *Call) func(*db.Tx) error {
	return func(tx *db.Tx) error {
		_, err := r.moveIn(tx, t, func(tx *db.Tx, s *Session, t *Turn) error {
			c.State, c.Ask = CallRunning, ""
			return tellCall(tx, s, t, c)
		})
		return err
	}
}

func tellCall(tx *db.Tx, s *Session, t *Turn, c *Call) error {
	if err := saveCall(tx, c); err != nil {
		return err
	}
	return tell(tx, s, t.ID, EventCall, c)
}

// Results gives the model the results of its calls, as one message.
func (r *Room) Results(ctx context.Context, t *Turn) error {
	_, err := r.move(ctx, t, answer)
	return err
}

// answer adds the message with the results of the last reply's calls once all of them have ended. Those of the replies before were
// given to the model when it was asked for this one, so a long turn does not read them again.
func answer(tx *db.Tx, s *Session, t *Turn) error {
	open, err := openCalls(inTx{tx}, t, 1)
	if err != nil || len(open) > 0 {
		return err
	}
	said, err := messagesWhere(inTx{tx}, `AND turn = ? AND seq >= (SELECT seq FROM session_message WHERE tenant = ? AND session = ? AND
		hidden = 0 AND turn = ? AND role = ? ORDER BY seq DESC LIMIT 1) ORDER BY seq`,
		t.Tenant, t.Session, t.ID, t.Tenant, t.Session, t.ID, string(RoleAssistant))
	if err != nil || len(said) == 0 {
		return err
	}
	var wanted int64
	for _, b := range said[0].Blocks {
		if b.Kind == provider.CallKind {
			wanted++
		}
	}
	calls, err := newestCalls(inTx{tx}, t, wanted)
	if err != nil {
		return err
	}
	if blocks := untold(said, calls); len(blocks) > 0 {
		return addMessage(tx, s, &Message{ID: id.New("msg"), Turn: t.ID, Role: RoleTool, Blocks: blocks})
	}
	return nil
}
