package daemon

import (
	"context"
	"encoding/json"
	"maps"
	"sync"
	"time"

	"tandem/internal/db"
	"tandem/internal/identity"
	"tandem/internal/identity/assertion"
	"tandem/internal/journal"
)

// rejectedType is the event of an assertion that was not taken.
const rejectedType = "assertion.rejected"

// rejectedAMinute is how many of them have an entry each; whoever sends more fills no journal: the rest is counted by its reason.
const rejectedAMinute = 60

// rejections counts assertions that were not taken in the running minute.
type rejections struct {
	mu     sync.Mutex
	minute time.Time
	count  int
	more   map[assertion.Reason]int
}

// own reports whether one more has an entry of its own.
func (r *rejections) own(why assertion.Reason, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := now.Truncate(time.Minute); m != r.minute {
		r.minute, r.count = m, 0
	}
	if r.count++; r.count <= rejectedAMinute {
		return true
	}
	if r.more == nil {
		r.more = map[assertion.Reason]int{}
	}
	r.more[why]++
	return false
}

// left takes what was counted and not written.
func (r *rejections) left() map[assertion.Reason]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	more := r.more
	r.more = nil
	return more
}

// back keeps what could not be written.
func (r *rejections) back(more map[assertion.Reason]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.more == nil {
		r.more = map[assertion.Reason]int{}
	}
	for why, n := range maps.All(more) {
		r.more[why] += n
	}
}

// writeRejected writes down one assertion that was not taken. What it says of itself counts only where its signature held.
func (d *Daemon) writeRejected(ctx context.Context, why *assertion.Rejected, from string) error {
	if !d.rejects.own(why.Reason, time.Now()) {
		return nil
	}
	about := map[string]any{"reason": why.Reason, "text": why.Text, "from": from, "signed": why.Signed}
	if why.Key != "" {
		about["key"] = why.Key
	}
	if c := why.Claims; why.Signed {
		about["issuer"], about["assertion"], about["org"], about["actor"] = clip(c.Issuer), clip(c.ID), clip(c.Tenant.Org), clip(c.Human.Actor)
	}
	return d.appendRejected(ctx, about)
}

// clip keeps words of a control plane short.
func clip(s string) string {
	if len(s) > 128 {
		return s[:128] + "…"
	}
	return s
}

func (d *Daemon) appendRejected(ctx context.Context, about any) error {
	payload, err := json.Marshal(about)
	if err != nil {
		return err
	}
	return d.db.Write(ctx, func(tx *db.Tx) error {
		_, err := d.journal.Append(tx, journal.Event{Tenant: identity.LocalTenant, Type: rejectedType, Phase: journal.Denied,
			Resource: "token:/assertion", Payload: payload})
		return err
	})
}

// tellRejected writes one entry for those that had none of their own.
func (d *Daemon) tellRejected(ctx context.Context) {
	more := d.rejects.left()
	if len(more) == 0 {
		return
	}
	if err := d.appendRejected(ctx, map[string]any{"more": more}); err != nil {
		d.rejects.back(more)
		d.Log.Error("rejected assertions were not recorded", "err", err)
	}
}
