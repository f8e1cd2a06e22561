package identity

import (
	"slices"
	"time"

	"tandem/internal/db"
	"tandem/internal/op"
)

// maxKnown is how many callers are kept; whoever presents more tokens than that at once is asked about again.
const maxKnown = 1024

// found is a caller as its token was found, so that the next call with that token asks nothing of the database. It holds while the
// journal has no newer word about any token, actor or tenant: what is revoked, disabled or made is such a word.
type found struct {
	caller  op.Caller
	expires int64
	far     far
}

// far is how far the journal has come about tokens, actors and tenants.
type far struct{ tokens, actors, tenants int64 }

// keeps reports whether callers are kept at all. A database that several servers may share is always asked, as for a policy.
func (r *Room) keeps() bool { return r.Vouch.Asks() && r.db.Name() == "sqlite" }

func (r *Room) far() far {
	if !r.keeps() {
		return far{}
	}
	return far{r.Vouch.Turn("token"), r.Vouch.Turn("actor"), r.Vouch.Turn("tenant")}
}

// recall is the caller that a token's hash stood for, if that still holds.
func (r *Room) recall(hash []byte, now time.Time) (op.Caller, bool) {
	if !r.keeps() {
		return op.Caller{}, false
	}
	r.mu.Lock()
	k, ok := r.callers[string(hash)]
	r.mu.Unlock()
	if !ok || k.far != r.far() || k.expires != 0 && !now.Before(db.Time(k.expires)) {
		return op.Caller{}, false
	}
	return k.caller, true
}

// remember keeps a caller, as it was found after the journal had come so far.
func (r *Room) remember(hash []byte, c op.Caller, expires int64, at far) {
	if !r.keeps() {
		return
	}
	c.For = slices.Clip(c.For) // whoever adds to it gets a copy
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.callers) >= maxKnown {
		clear(r.callers)
	}
	r.callers[string(hash)] = found{c, expires, at}
}
