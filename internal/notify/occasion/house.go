package occasion

import (
	"context"
	"fmt"
	"time"

	"tandem/internal/db"
	"tandem/internal/identity"
	"tandem/internal/notify"
	"tandem/internal/schedule/wire"
)

// CameBy tells people that an invitation for several machines was used from an address from which nobody had used it.
func (tell *Teller) CameBy(tx *db.Tx, c identity.CameBy) error {
	return tell.notify.Put(tx, c.Tenant, notify.Notice{Push: notify.Normal, Page: "/panel/actors",
		Event: notify.Event{TS: tx.Now(), Type: "presence", Status: "joined", ID: c.Invite,
			Summary: fmt.Sprintf("%s joined from %s by the invitation %s.", c.Name, c.From, c.Invite),
			Reason:  fmt.Sprintf("Nobody had come by it from there. %d more may join with it.", c.Left)},
		Next: fmt.Sprintf("If that was not you: tandem invite revoke %s; tandem actor disable %s", c.Invite, c.Name)})
}

// Recovered tells everybody what happens about a forgotten PIN: whoever did not expect it must hear of it in time.
func (tell *Teller) Recovered(tx *db.Tx, r identity.Recovered) error {
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
	return tell.notify.Put(tx, r.Tenant, n)
}

// ScheduleFailed tells people once that something is not done any more; the inbox and the doctor go on saying so.
func (tell *Teller) ScheduleFailed(ctx context.Context, s wire.Schedule) {
	tell.notify.Tell(ctx, identity.LocalTenant, notify.Notice{Event: notify.Event{TS: s.FailedAt, Type: "schedule", Status: "failed",
		ID: string(s.Kind), Summary: "What is scheduled was not done: " + string(s.Kind), Reason: s.Failure}, Push: notify.Urgent,
		Next: "See it: tandem server schedule list", Page: "/panel/system"})
}
