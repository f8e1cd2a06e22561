package daemon

import (
	"context"
	"fmt"

	"tandem/internal/identity"
)

// Finding is something that is wrong with a running server, or was.
type Finding struct {
	Name   string `json:"name"`
	State  string `json:"state" jsonschema:"bad while it lasts, note for what is past or only worth knowing"`
	Detail string `json:"detail"`
	Mend   string `json:"mend,omitempty"`
}

// FindingsOut lists what is wrong.
type FindingsOut struct {
	Findings []Finding `json:"findings"`
}

// findingsOp is what the doctor asks: readiness with its reasons, and what was counted since the start.
func (d *Daemon) findingsOp(ctx context.Context, _ nothing) (FindingsOut, error) {
	out := FindingsOut{Findings: []Finding{}}
	changed, err := d.journal.Orphans(ctx)
	if err != nil {
		return out, err
	}
	for _, f := range changed {
		out.Findings = append(out.Findings, Finding{"authority", "bad", f.What,
			"look, and mend it with your PIN: tandem audit confirm; all of it: tandem audit verify --whole"})
	}
	out.Findings = append(out.Findings, d.tookOver()...)
	gone, err := d.halfGone(ctx)
	if err != nil {
		return out, err
	}
	out.Findings = append(append(out.Findings, gone...), d.sharedFindings()...)
	for _, r := range d.health.Look(ctx) {
		out.Findings = append(out.Findings, Finding{r.Part, "bad", r.Text, r.Next})
	}
	if n := d.health.Jumps(); n > 0 && d.db.Clock().Sure {
		out.Findings = append(out.Findings, Finding{"clock", "note", fmt.Sprintf("the machine's clock was set %d times since the start", n),
			"when: tandem audit log --type server.clock"})
	}
	rec, err := d.identity.Recovery(ctx, identity.LocalTenant)
	if err != nil {
		return out, err
	}
	out.Findings = append(out.Findings, recoveryFindings(rec)...)
	out.Findings = append(out.Findings, d.scheduleFindings()...)
	since := d.health.Since()
	if since.Failed > 0 {
		out.Findings = append(out.Findings, Finding{"turns", "note", fmt.Sprintf("%d turns of agents failed since the start", since.Failed),
			"why: tandem logs --level warn"})
	}
	if n := d.gate.Strangers.All() + since.Denied; n > manyRefused {
		out.Findings = append(out.Findings, Finding{"refused", "note",
			fmt.Sprintf("%d calls were refused since the start, %d of them of callers that nobody knows", n, d.gate.Strangers.All()),
			"who and what: tandem audit log --type gate.stranger"})
	}
	if since.Slow > 0 {
		out.Findings = append(out.Findings, Finding{"slow", "note",
			fmt.Sprintf("%d operations took longer than they should, the last one: %s", since.Slow, since.Slowest),
			"see: tandem logs --level warn"})
	}
	return out, nil
}

// manyRefused is how many refusals are worth a line of the doctor's.
const manyRefused = 100

// recoveryFindings say what becomes of a person who forgets the PIN, and that somebody is at it.
func recoveryFindings(r identity.RecoveryOut) (out []Finding) {
	if r.Pending != nil {
		out = append(out, Finding{"recovery", "bad", "root of this machine began to replace the PIN, which counts from " +
			r.Pending.DueAt.Local().Format("2006-01-02 15:04") + " on",
			"if nobody forgot the PIN, stop it: tandem recover stop"})
	}
	if r.PIN && r.Codes == 0 {
		detail := "there are no recovery codes: a forgotten PIN can be replaced by root of this machine alone, after a day"
		if !r.ByRoot {
			detail = "there are no recovery codes: a forgotten PIN cannot be replaced by anybody"
		}
		out = append(out, Finding{"recovery codes", "note", detail, "make some: tandem recover codes"})
	}
	return out
}
