package occasion

import (
	"fmt"
	"strings"

	artifacts "tandem/internal/artifact/wire"
	"tandem/internal/automation"
	automations "tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/notify"
	"tandem/internal/told"
)

// Run tells of a run of an automation that failed, or that does not go on until somebody looks at it.
func (tell *Teller) Run(tx *db.Tx, tenant string, r *automations.Run) error {
	e := notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "automation", Status: r.Status, ID: r.Name,
		Summary: summary(r.Reason), Reason: r.Reason}, Says: "failed", Push: notify.Normal,
		Next: fmt.Sprintf("tandem automation runs show %s", r.ID), Page: "/panel"}
	if r.Needs != "" {
		e.Status, e.Summary, e.Reason, e.Says, e.Push = "waits", summary(r.Needs), r.Needs, "needs somebody to look", notify.Answer
	}
	return tell.notify.Put(tx, tenant, e)
}

// SwitchedOff tells of an automation that somebody else switched off than had switched it on.
func (tell *Teller) SwitchedOff(tx *db.Tx, tenant, name, on, off string) error {
	reason := fmt.Sprintf("%s switched off what %s had switched on.", told.By(off), told.By(on))
	return tell.notify.Put(tx, tenant, notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "automation", Status: "off", ID: name,
		Summary: reason, Reason: reason}, Says: "was switched off", Push: notify.Normal,
		Next: fmt.Sprintf("to switch it on again: tandem automation on %s", name), Page: "/panel"})
}

// Filling tells of a webhook that has soon no room to know more messages, or none any more.
func (tell *Teller) Filling(tx *db.Tx, tenant, name, trigger string, known, most int64) error {
	reason := fmt.Sprintf("Its webhook %s knows %d messages; at %d it takes no more, until it has another secret.", trigger, known, most)
	return tell.notify.Put(tx, tenant, notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "automation", Status: "waits", ID: name,
		Summary: summary(reason), Reason: reason}, Says: "needs somebody to look", Push: notify.Answer,
		Next: fmt.Sprintf("to give it another secret: tandem automation hook %s %s", name, trigger), Page: "/panel"})
}

// Removed tells of versions that somebody else removed than had switched the automation on that made them.
func (tell *Teller) Removed(tx *db.Tx, tenant string, what artifacts.RemoveIn, n int, by string) error {
	name, _, _ := strings.Cut(what.Name, ".")
	on, err := automation.SwitchedBy(tx, tenant, name)
	if err != nil || on == "" || on == by {
		return err
	}
	reason := fmt.Sprintf("%s removed what the automation %s made, which %s had switched on: %d of its versions.", told.By(by), name,
		told.By(on), n)
	return tell.notify.Put(tx, tenant, notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "artifact", Status: "removed", ID: what.Name,
		Summary: reason, Reason: reason}, Says: "was removed", Push: notify.Normal,
		Next: fmt.Sprintf("to see what is left: tandem artifact list %s", what.Name), Page: "/panel"})
}
