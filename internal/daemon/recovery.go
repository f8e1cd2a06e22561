package daemon

import (
	"net/http"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
)

// recoveryHeader brings a recovery code, or says that root of the machine calls about recovery.
const recoveryHeader = "Tandem-Recovery"

// recovering knows a caller of the control socket who forgot the PIN: whoever has a recovery code, or root where the server is not
// root itself. It is nobody present: what it has replaces the PIN and does nothing else.
func recovering(r *http.Request, who *identity.Room) (op.Caller, error) {
	ctx, code := r.Context(), r.Header.Get(recoveryHeader)
	by := identity.ByRoot
	switch {
	case code == identity.ByRoot && !isRoot(connOf(ctx)):
		return op.Caller{}, fault.New(fault.Denied, "recovery",
			"only root of this machine begins a recovery without a code, and only where the server does not run as root").
			WithNext("use a recovery code: tandem recover")
	case code != identity.ByRoot:
		if err := sameUser(connOf(ctx)); err != nil {
			return op.Caller{}, err
		}
		id, err := who.ProveCode(ctx, identity.LocalTenant, identity.WellKnown(identity.Owner), code, terminalOf(connOf(ctx)))
		if err != nil {
			return op.Caller{}, err
		}
		by = id
	}
	c, err := who.Caller(ctx, identity.LocalTenant, identity.LocalUser, op.DoorSocket)
	c.Recovers, c.Client = by, clientOf(r)
	return c, err
}
