package journal

import "tandem/internal/op"

// The operations of the journal. Doors and commands import this package anyway, to read and to check what it signed, so the
// handles stand here and not in a leaf of their own.
const (
	AuditLog     = op.Def[LogIn, LogOut]("audit.log")
	AuditShow    = op.Def[SeqIn, *Entry]("audit.show")
	AuditProve   = op.Def[SeqIn, *Receipt]("audit.prove")
	AuditVerify  = op.Def[VerifyIn, *Report]("audit.verify")
	AuditAnchor  = op.Def[struct{}, *Anchor]("audit.anchor")
	AuditExport  = op.Def[ExportIn, *Page]("audit.export")
	AuditForget  = op.Def[ForgetIn, ForgetOut]("audit.forget")
	AuditAdopted = op.Def[struct{}, *AdoptedOut]("audit.adopted")
	EventStream  = op.Def[EventsIn, struct{}]("event.stream")
	AuditConfirm = op.Def[ConfirmIn, ConfirmOut]("audit.confirm")
)
