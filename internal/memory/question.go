package memory

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"tandem/internal/memory/text"
	"tandem/internal/memory/vector"
)

// question is one that a model was asked: its vector, nil with the reason when it did not come in time.
type question struct {
	of  *chosen
	v   vector.Vector
	why string
}

// ask has the vector of a question made, when a model was chosen that may be asked it, and waits a little for it: before a transaction,
// which would hold a connection meanwhile. Who asks only within the house has it asked of no provider outside.
func (r *Room) ask(ctx context.Context, tenant, about string, within bool) (*question, error) {
	c, err := choice(r.outside(ctx), tenant)
	if err != nil || c == nil || c.name == "" || about == "" || byWordsAlone(text.Read(about)) || !r.Models.Vouch.Holds(ctx, c.seal()) {
		return nil, err
	}
	q := &question{of: c, why: c.called() + " could not be asked"}
	if out, err := r.leaves(ctx, c); err != nil { // its provider is gone, say: what is found without it is an answer, too
		r.engines.note(tenant, err)
		return q, ctx.Err()
	} else if out && within {
		return nil, nil
	}
	key := sha256.Sum256([]byte(c.tenant + "\x00" + c.name + "\x00" + about))
	r.engines.mu.Lock()
	q.v = r.engines.asked[key]
	r.engines.mu.Unlock()
	if q.v != nil {
		return q, nil
	}
	ready, slot := make(chan vector.Vector, 1), r.engines.slot(c)
	go func() { // it is kept for the next who asks the same, also when this one waits no more
		defer close(ready)
		select {
		case slot <- struct{}{}:
			defer func() { <-slot }()
		case <-time.After(waitFor): // others ask so much that this one would come too late
			return
		}
		var v vector.Vector
		all, err := r.point(context.WithoutCancel(ctx), c, c.asks, []string{about})
		if err == nil {
			v = c.direction(all[0])
		}
		if v != nil {
			r.engines.keep(key, v)
			ready <- v
		}
		r.engines.note(tenant, err)
	}()
	select {
	case q.v = <-ready:
	case <-time.After(waitFor):
		q.why = fmt.Sprintf("%s did not answer within %s", c.called(), waitFor)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return q, nil
}

// slot is where a question waits for its turn: of a provider each tenant has its own, so that a slow one holds up nobody else's; what this
// machine computes is one for all.
func (s *engines) slot(c *chosen) chan struct{} {
	key := ""
	if c.kind == ofProvider {
		key = c.tenant
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.slots[key] == nil {
		s.slots[key] = make(chan struct{}, 2)
	}
	return s.slots[key]
}

func (s *engines) keep(key [32]byte, v vector.Vector) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.asked) >= maxAsked {
		clear(s.asked)
	}
	s.asked[key] = v
}

// note keeps why a tenant's model could not be asked, for who looks at it.
func (s *engines) note(tenant string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.trouble, tenant); err != nil {
		s.trouble[tenant] = err.Error()
	}
}
