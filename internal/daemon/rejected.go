package daemon

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/identity/assertion"
	"tandem/internal/journal"
)

// rejectedType is the event of an assertion that was not taken.
const rejectedType = "assertion.rejected"

// rejectedAMinute is how many of one key's have an entry each; the rest is counted.
const rejectedAMinute = 60

// rejectedSources bounds what a flood of addresses can make us remember.
const rejectedSources = 1000

// rejectedTime is how long writing one down may take. Whoever hung up meanwhile is written down all the same.
const rejectedTime = 10 * time.Second

// rejected are assertions that have no entry of their own, of one source in one minute.
type rejected struct {
	Reason assertion.Reason `json:"reason"`
	From   string           `json:"from"`
	Minute time.Time        `json:"minute"`
	Signed bool             `json:"signed"`
	Count  int              `json:"count"`
}

// rejections counts assertions that were not taken. Those that nobody signed are a stranger's word, and are counted as strangers are: an
// entry each would let anybody fill the journal, and hide the others in it.
type rejections struct {
	mu     sync.Mutex
	minute time.Time
	own    map[string]int // of each key in this minute
	more   map[rejected]int
}

// owns reports whether one more has an entry of its own.
func (r *rejections) owns(why *assertion.Rejected, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := now.UTC().Truncate(time.Minute); m != r.minute || r.own == nil {
		r.minute, r.own = m, map[string]int{}
	}
	if !why.Signed || r.own[why.Key] >= rejectedAMinute {
		return false
	}
	r.own[why.Key]++
	return true
}

// add counts what has no entry of its own.
func (r *rejections) add(x rejected, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.more == nil {
		r.more = map[rejected]int{}
	}
	x.Count = 0
	if _, known := r.more[x]; !known && len(r.more) >= rejectedSources {
		x.From = "others"
	}
	r.more[x] += n
}

// left takes what was counted and not written.
func (r *rejections) left() (all []rejected) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for x, n := range r.more {
		x.Count = n
		all = append(all, x)
	}
	r.more = nil
	return all
}

// writeRejected writes down one assertion that was not taken. What it says of itself counts only where its signature held.
func (d *Daemon) writeRejected(ctx context.Context, why *assertion.Rejected, from string) error {
	now := time.Now()
	counted := rejected{Reason: why.Reason, From: from, Minute: now.UTC().Truncate(time.Minute), Signed: why.Signed}
	if !d.rejects.owns(why, now) {
		d.rejects.add(counted, 1)
		return nil
	}
	c := why.Claims
	err := d.appendRejected(ctx, map[string]any{"reason": why.Reason, "text": why.Text, "from": from, "signed": true, "key": why.Key,
		"issuer": clip(c.Issuer), "assertion": clip(c.ID), "org": clip(c.Tenant.Org), "actor": clip(c.Human.Actor)})
	if err != nil {
		d.rejects.add(counted, 1)
	}
	return err
}

// clip keeps words of a control plane short.
func clip(s string) string { return fault.Clip(s, 128) }

func (d *Daemon) appendRejected(ctx context.Context, all ...any) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rejectedTime)
	defer cancel()
	return d.db.Write(ctx, func(tx *db.Tx) error {
		for _, about := range all {
			payload, err := json.Marshal(about)
			if err != nil {
				return err
			}
			if _, err := d.journal.Append(tx, journal.Event{Tenant: identity.LocalTenant, Type: rejectedType, Phase: journal.Denied,
				Resource: "token:/assertion", Payload: payload}); err != nil {
				return err
			}
		}
		return nil
	})
}

// tellRejected writes an entry for each source, minute and reason of those that had none of their own.
func (d *Daemon) tellRejected(ctx context.Context) {
	more := d.rejects.left()
	if len(more) == 0 {
		return
	}
	all := make([]any, len(more))
	for i, x := range more {
		all[i] = x
	}
	if err := d.appendRejected(ctx, all...); err != nil {
		for _, x := range more {
			d.rejects.add(x, x.Count)
		}
		d.Log.Error("rejected assertions were not recorded", "err", err)
	}
}
