package daemon

import (
	"context"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/server/wire"
	"tandem/internal/session"
	"tandem/internal/settings"
	"tandem/internal/space/peer"
)

// caution is why a person decides a call that policy allows: it touches what a member of a space has leased, or it would lead
// somewhere else what people have set up.
func (d *Daemon) caution(ctx context.Context, c op.Caller, o *op.Op, in any) (string, error) {
	if c.Kind == op.Session && c.Door != op.DoorInside && strings.HasPrefix(o.Name, session.ToolOp("")) {
		// On its socket it would call with every granted folder, and not with its own alone.
		return "", fault.New(fault.Denied, o.Name, "a session uses the tools that its own program or model offers")
	}
	if err := d.rooms.scales.RoomLeft(ctx, c, o, in); err != nil {
		return "", err
	}
	if why, err := d.leased(ctx, c, o, in); err != nil || why != "" {
		return why, err
	}
	// Who holds a token that decides could approve the same call of somebody else.
	if c.Present != "" || c.Decides && c.Kind == op.Person || c.Name == identity.System && c.Door == op.DoorInside {
		return "", nil
	}
	if join, ok := in.(peer.JoinIn); ok && c.Kind == op.Session {
		if host := join.Elsewhere(); host != "" {
			return "what is said and shared in that space goes to " + host + ", whatever network the session itself has", nil
		}
	}
	why, err := d.moved(ctx, c, o.Name, in)
	if err != nil || why == "" {
		return "", err
	}
	if c.Kind == op.Local || c.Kind == op.Person { // the person may be right there
		return "", fault.New(fault.Denied, o.Name, "%s needs a person who is present: %s", o.Name, why).With("presence", "required").
			WithNext("ask a person to do it: on a terminal with the PIN, or in the panel with a passkey")
	}
	return why, nil
}

// moved says what a call would lead elsewhere: models, providers, searches, sign-ins. Everyday rights do not cover that, for
// whoever holds them reads along, or has this machine read inside addresses for them. Nor do a person's own rights cover what guards this
// machine, while nobody knows that it is that person: of programs the policy asks.
func (d *Daemon) moved(ctx context.Context, c op.Caller, name string, in any) (string, error) {
	if set, ok := in.(wire.SetIn); ok {
		switch s := settings.Known(set.Key); {
		case strings.HasPrefix(set.Key, "search."):
			return "it leads what agents search for elsewhere", nil
		case s != nil && s.Guard && c.Kind == op.Person:
			return "it says where tandem's doors, programs and walls are", nil
		}
	}
	if why, err := d.rooms.models.Moved(ctx, c.Tenant, name, in); err != nil || why != "" {
		return why, err
	}
	return d.rooms.connector.Moved(name, in), nil
}
