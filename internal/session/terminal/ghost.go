package terminal

import (
	"context"
	"encoding/json"
	"time"

	"tandem/internal/approval"
	"tandem/internal/db"
	"tandem/internal/journal"
)

// ghostsAfter is how long after a start a dialog has to be heard of again: the hook of one that is still open tries every 300 ms.
const ghostsAfter = 8 * time.Second

// endGhosts ends the asks whose dialogs are gone. A dialog that was answered, closed or lost with its program while no server ran
// left its ask behind, and a person's yes to it would do nothing.
func (d *Driver) endGhosts(ctx context.Context) {
	timer := time.NewTimer(ghostsAfter)
	defer timer.Stop()
	for wait := true; wait; wait = d.looking() > 0 { // which ends: no session is looked for longer than grace
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			timer.Reset(time.Second)
		}
	}
	asks, err := d.asks.Waiting(ctx, string(SessionTool))
	if err != nil {
		d.log.Error("look for asks that nobody waits for", "err", err)
		return
	}
	for _, a := range asks {
		if d.db.Now().Sub(a.CreatedAt) < ghostsAfter || d.waitsFor(a) {
			continue
		}
		why := "its dialog was answered or closed at the terminal while tandem was not running"
		if d.live(a.Session) == nil {
			why = "the program that asked is gone"
		}
		if err := d.abandon(ctx, a, why); err != nil {
			d.log.Error("end an ask that nobody waits for", "ask", a.ID, "err", err)
		}
	}
}

// waitsFor says whether a dialog waits for the ask's answer.
func (d *Driver) waitsFor(a *approval.Ask) bool {
	s := d.live(a.Session)
	if s == nil {
		return false
	}
	for _, w := range s.openWaits() {
		if w.ask == a.ID {
			return true
		}
	}
	return false
}

func (d *Driver) abandon(ctx context.Context, a *approval.Ask, why string) error {
	return d.db.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
		ok, err := d.asks.Abandon(tx, a.Tenant, a.AskerID, a.ID, why)
		if err != nil || !ok {
			return err
		}
		payload, err := json.Marshal(map[string]any{"approval": a.ID, "reason": why})
		if err != nil {
			return err
		}
		_, err = d.journal.Append(tx, journal.Event{Tenant: a.Tenant, Type: "session.terminal_answer", Phase: journal.Done, Actor: a.AskerID,
			Resource: "session:/" + a.Session, Payload: payload})
		return err
	})
}
