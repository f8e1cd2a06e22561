package session

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/tool"
)

// What a turn asked its tools for: which call is next, what became of each, and the message that answers a reply's calls.

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

// BeginCall marks a call as running.
func (r *Room) BeginCall(ctx context.Context, t *Turn, c *Call) error {
	_, err := r.moved(ctx, t, callBegan{c})
	return err
}

// RunCall marks a call as running, in the transaction that says so to the gate: it has begun for both or for none.
func (r *Room) RunCall(t *Turn, c *Call) func(*db.Tx) error {
	return func(tx *db.Tx) error {
		_, err := r.moveIn(tx, t, func(tx *db.Tx, s *Session, t *Turn) error { return r.happen(tx, s, t, callBegan{c}) })
		return err
	}
}

// ParkCall lets a turn go until people allowed one of its calls. open is what the call had begun to show, if anything.
func (r *Room) ParkCall(ctx context.Context, t *Turn, c *Call, ask, reason string, open *Writer, text string) error {
	_, err := r.moved(ctx, t, callAsked{c, ask, reason}, open.closing(text)...)
	return err
}

// EndCall gives a call its result. The last call of a reply to end gives the model the results of all of them.
func (r *Room) EndCall(ctx context.Context, t *Turn, c *Call, state CallState, result *tool.Result, open *Writer, text string) error {
	_, err := r.moved(ctx, t, callEnded{c, state, result}, open.closing(text)...)
	return err
}

// Results gives the model the results of its calls, as one message.
func (r *Room) Results(ctx context.Context, t *Turn) error {
	_, err := r.moved(ctx, t, gathered{})
	return err
}
