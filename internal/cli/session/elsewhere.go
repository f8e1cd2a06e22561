package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tandem/internal/client"
	"tandem/internal/fault"
	room "tandem/internal/session"
)

// errElsewhere ends a question at this terminal that somebody answered in another one, or in the panel.
var errElsewhere = fmt.Errorf("answered elsewhere: %w", context.Canceled)

// unlessAnswered asks at this terminal what a turn waits for, and stops asking as soon as it has its answer from elsewhere.
func (v *viewer) unlessAnswered(t *room.Turn, ask func(*room.Turn) error) error {
	c, err := v.k.Client(v.ctx)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(v.ctx)
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		v.hear(ctx, c, t, end)
	}()
	over := v.k.AskWhile(ctx)
	err = ask(t)
	over()
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound) { // somebody was faster, and the turn is about to say so
		select {
		case <-heard:
		case <-time.After(5 * time.Second):
		}
	}
	end(nil)
	<-heard
	if err != nil && errors.Is(context.Cause(ctx), errElsewhere) && !errors.Is(err, errOver) {
		v.note("answered elsewhere; the turn goes on")
		return nil
	}
	return err
}

// hear follows the session's events until the turn waits for this answer no more. While the server is away nothing is heard.
func (v *viewer) hear(ctx context.Context, c *client.Client, t *room.Turn, end context.CancelCauseFunc) {
	for ctx.Err() == nil {
		err := c.Follow(ctx, v.stream(), func(e client.Event) error {
			var told room.Event
			var now room.Turn
			if json.Unmarshal(e.Data, &told) != nil || told.Type != room.EventTurn || told.Turn != t.ID ||
				json.Unmarshal(told.Body, &now) != nil || now.State == room.Waiting && now.Ask == t.Ask {
				return nil
			}
			return errOver
		})
		if errors.Is(err, errOver) {
			end(errElsewhere)
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}
