package peer

import (
	"context"
	"strconv"
	"sync"
	"time"

	"tandem/internal/space"
)

// Of the seats of this machine that wait for the same entries of the same host,
// one asks and the others have its answer, too. The host sees who asks, so each
// asks for itself before it would be taken for gone, and whoever expects
// newcomers always does: a knock is shown to its inviter alone.

// askItself is how long a seat lives on what others asked.
const askItself = space.PresentFor / 3

// pulls are what is being asked for, by what it is.
type pulls struct {
	mu sync.Mutex
	by map[string]*pulled
}

// pulled is one such answer.
type pulled struct {
	there chan struct{} // closed when it is
	out   space.PullOut
	err   error
}

// asksItself says that a seat has to ask for itself, and then it counts as having done so. The caller holds s.mu.
func (s *seat) asksItself(now time.Time, wait int64) bool {
	if wait > 0 && s.next == nil && s.invites == 0 && now.Sub(s.asked) < askItself {
		return false
	}
	s.asked = now
	return true
}

// pull asks the host for entries, or waits for the answer that another seat is waiting for.
func (p *pulls) pull(ctx context.Context, l link, key string, in space.PullIn, itself bool) (space.PullOut, error) {
	if in.Wait <= 0 {
		return ask(ctx, l, space.SpacePull, in)
	}
	key += "/" + strconv.FormatInt(in.Since, 10) + "/" + strconv.FormatInt(in.Term, 10)
	for {
		mine, other := p.begin(key)
		if other != nil && !itself {
			select {
			case <-other.there:
			case <-ctx.Done():
				return space.PullOut{}, ctx.Err()
			}
			if other.err != nil {
				continue // that may be about who asked
			}
			out := other.out
			out.Knocks = nil
			return out, nil
		}
		out, err := ask(ctx, l, space.SpacePull, in)
		if mine != nil {
			p.end(key, mine, out, err)
		}
		return out, err
	}
}

// begin is either the caller's to answer, or somebody else's.
func (p *pulls) begin(key string) (mine, other *pulled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if other := p.by[key]; other != nil {
		return nil, other
	}
	if p.by == nil {
		p.by = map[string]*pulled{}
	}
	mine = &pulled{there: make(chan struct{})}
	p.by[key] = mine
	return mine, nil
}

func (p *pulls) end(key string, mine *pulled, out space.PullOut, err error) {
	p.mu.Lock()
	delete(p.by, key)
	p.mu.Unlock()
	mine.out, mine.err = out, err
	close(mine.there)
}
