package peer

import (
	"context"
	"fmt"

	"tandem/internal/fault"
	"tandem/internal/op"
)

// TakeOverIn says which space.
type TakeOverIn struct {
	Space string `json:"space,omitempty" jsonschema:"name or id of the space when this machine is in several; the one whose host is gone when left out"`
}

// opTakeOver is for the machine's owner: it acts on the one seat here whose
// host is gone, whoever of this machine sits on it. Whether the host is gone is
// asked again now: a line that was cut a moment ago looks well until then.
func (r *Room) opTakeOver(ctx context.Context, in TakeOverIn) (Said, error) {
	c := op.CallerFrom(ctx)
	var found *seat
	for _, s := range r.of(func(s *seat) bool { return s.tenant == c.Tenant }) {
		s.mu.Lock()
		ok := (in.Space == "" || s.called(in.Space)) && s.host != "" && (s.state == active || s.state == broken)
		lost := !s.online || s.state == broken
		s.mu.Unlock()
		if ok && (found == nil || lost) {
			found = s
		}
	}
	if found == nil {
		return Said{}, fault.New(fault.NotFound, "space.take_over", "no space of this machine is hosted by another one").
			WithNext("see them: tandem space list")
	}
	found.mu.Lock()
	defer found.mu.Unlock()
	if err := r.takeOver(ctx, found); err != nil {
		return Said{}, found.named(err)
	}
	text := fmt.Sprintf("This machine hosts %q now (term %d). The others follow by themselves; what they sent meanwhile waits with them.",
		escape(found.sec.Base.Title), found.term)
	if host, _ := r.addr(); host == "" {
		text += "\nOther machines cannot reach this one. Open an address, and tell them where it is: tandem up --replace --listen HOST:PORT, " +
			"then over there: tandem space rejoin --host HOST:PORT"
	}
	return Said{Text: text}, nil
}
