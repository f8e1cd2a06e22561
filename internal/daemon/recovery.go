package daemon

import (
	"fmt"
	"net/http"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/notify"
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

// recovered tells everybody what happens about a forgotten PIN: whoever did not expect it must hear of it in time.
func (d *Daemon) recovered(tx *db.Tx, r identity.Recovered) error {
	n := notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "presence", Status: "recovery " + r.What}, Push: notify.Urgent,
		Page: "/panel/system"}
	switch r.What {
	case "used":
		n.Summary, n.Reason = "The PIN was replaced with a recovery code.",
			fmt.Sprintf("%d codes are left. If that was not you, somebody has your codes.", r.Left)
		n.Next = "See what was done since: tandem audit log; make new codes: tandem recover codes"
	case "begun":
		n.Summary = "Root of this machine began to replace the PIN: from " + r.Due.UTC().Format(time.RFC3339) + " on it can be set anew."
		n.Reason, n.Next = "If nobody forgot the PIN, stop it now, with a passkey or the PIN.", "Stop it: tandem recover stop"
	case "stopped":
		n.Summary, n.Push = "The recovery that root of this machine began was stopped.", notify.Normal
	case "finished":
		n.Summary, n.Reason = "Root of this machine replaced the PIN.", "It was begun a day ago, and nobody stopped it."
		n.Next = "See what was done since: tandem audit log"
	}
	return d.rooms.notify.Put(tx, r.Tenant, n)
}
