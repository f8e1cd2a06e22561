package peer

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/space"
)

// WaitIn waits for mail.
type WaitIn struct {
	Seconds int64 `json:"seconds,omitempty" jsonschema:"how long to wait at most, 25 when left out, 600 at most"`
	Parents []int `json:"parents,omitempty" jsonschema:"process ids above a hook: its agent is among them"`
	Which
}

// hookSeat is the seat that a hook speaks for: that of the agent whose child the
// hook is (the agent's tandem mcp has the same parent), and never that of the
// person whose account both run under. Without parents, and in a session of
// tandem's, it is the caller's own.
func (r *Room) hookSeat(ctx context.Context, parents []int) (*seat, error) {
	c := op.CallerFrom(ctx)
	if len(parents) == 0 || c.Session != "" {
		s, err := r.enterSeat(ctx)
		if err != nil {
			return nil, err
		}
		if err := s.usable(); err != nil {
			s.mu.Unlock()
			return nil, err
		}
		return s, nil
	}
	for _, s := range r.of(func(s *seat) bool { return s.tenant == c.Tenant && childOf(s.owner, program(c), parents) }) {
		s.mu.Lock()
		if s.state == active {
			return s, nil
		}
		s.mu.Unlock()
	}
	return nil, fault.New(fault.Conflict, "space", "the agent of this hook is in no space")
}

// childOf reports whether a seat's program was started by one of the processes.
func childOf(who, actor string, parents []int) bool {
	rest, ok := strings.CutPrefix(who, "client/"+actor+"/")
	if !ok {
		return false
	}
	_, rest, _ = strings.Cut(rest, ".")
	parent, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(parent)
	return err == nil && n > 1 && slices.Contains(parents, n)
}

// opWait returns when there is something new to announce. It costs nothing
// while it waits, also for somebody who has no seat yet, and the budget of wakes
// is spent only when it answers. One waiter per seat: a newer one ends the
// older, so that one message starts one turn.
func (r *Room) opWait(ctx context.Context, in WaitIn) (Said, error) {
	if in.Seconds <= 0 || in.Seconds > 600 {
		in.Seconds = 25
	}
	deadline := time.NewTimer(time.Duration(in.Seconds) * time.Second)
	defer deadline.Stop()
	var s *seat
	for {
		r.mu.Lock()
		taken := r.taken
		r.mu.Unlock()
		var err error
		if s, err = r.hookSeat(ctx, in.Parents); err == nil {
			break
		}
		if len(in.Parents) == 0 && op.CallerFrom(ctx).Session == "" {
			return Said{}, err // a person or a script, who wants to know
		}
		select {
		case <-taken: // an agent that joins later is waited for too
		case <-deadline.C:
			return Said{}, nil
		case <-ctx.Done():
			return Said{}, nil
		}
	}
	s.waiter++
	mine := s.waiter
	s.ring()
	for {
		text, ids := s.wakes.take(r.now())
		bell := s.changed
		s.mu.Unlock()
		if text != "" {
			return Said{Text: text, IDs: ids}, nil
		}
		select {
		case <-bell:
		case <-deadline.C:
			return Said{}, nil
		case <-ctx.Done():
			return Said{}, nil
		}
		s.mu.Lock()
		if s.state != active || s.waiter != mine {
			s.mu.Unlock()
			return Said{State: "superseded"}, nil
		}
	}
}

// SurfacedIn reports what a hook saw.
type SurfacedIn struct {
	Texts   []string `json:"texts" jsonschema:"what came into the conversation: texts that contain ids of messages"`
	How     string   `json:"how" jsonschema:"hook or transcript"`
	Parents []int    `json:"parents,omitempty" jsonschema:"process ids above a hook"`
}

func (r *Room) opSurfaced(ctx context.Context, in SurfacedIn) (Said, error) {
	if in.How != "hook" && in.How != "transcript" {
		return Said{}, fault.New(fault.Invalid, "space.surfaced", "a message is surfaced by hook or transcript")
	}
	s, err := r.hookSeat(ctx, in.Parents)
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.Denied) { // a hook tells of every turn, also of agents in no space, or no longer
		return Said{Text: "0 surfaced"}, nil
	}
	if err != nil {
		return Said{}, err
	}
	defer s.mu.Unlock()
	known, err := r.unsurfaced(ctx, s, in.Texts)
	if err != nil {
		return Said{}, err
	}
	return Said{Text: fmt.Sprintf("%d surfaced", len(known)), IDs: ids(known)}, r.surfaced(ctx, s, known, in.How)
}

// wakesUsedUp tells the senders that what is new waits, when an agent that could
// be woken has no wakes left in this hour. The caller holds s.mu.
func (r *Room) wakesUsedUp(s *seat) {
	if s.waiter == 0 && !strings.HasPrefix(s.owner, "session/") || s.wakes.left(r.now()) > 0 || s.telling || s.wakes.told {
		return
	}
	s.telling = true
	r.later(func(ctx context.Context) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.telling = false
		ids := slices.Clone(s.wakes.fresh)
		if len(ids) == 0 || s.state != active {
			return
		}
		s.wakes.told = true
		if _, _, err := r.sendOrQueue(ctx, s, thing{class: space.ClassReceipt,
			clear: space.ReceiptClear{Waiting: ids, How: "wakes used up"}}); err != nil {
			r.log.Warn("senders not told that their messages wait", "space", s.space, "err", err)
		}
	})
}
