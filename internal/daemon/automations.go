package daemon

import (
	"context"
	"strings"
	"time"

	"tandem/internal/artifact"
	"tandem/internal/automation"
	"tandem/internal/db"
	"tandem/internal/id"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/policy/book"
	"tandem/internal/session"
	"tandem/internal/tool/box"
)

// makeAutomations gives the room of automations what it does not own.
func (d *Daemon) makeAutomations(table *op.Table) {
	r := automation.New(d.db, d.Log)
	r.Kept = d.journal.Kept
	r.Vouch, r.Rooms, r.Find, r.All = d.journal.Vouch(), &d.inner, table.Get, table.All
	r.Actor = func(ctx context.Context, tx *db.Tx, name string) (string, error) {
		a, err := d.identity.Serve(ctx, tx, name)
		if err != nil {
			return "", err
		}
		return a.ID, nil
	}
	r.Grant = func(ctx context.Context, tx *db.Tx, g automation.Grant) (string, error) {
		in := book.GrantIn{Principal: g.Actor, Resource: g.Resource, Permissions: []string{"execute"}, Approvers: g.Approvers,
			Note: "an automation does what it was switched on for"}
		if g.Ask {
			in.Effect, in.Note = "ask", "a gate of an automation: a person says whether it goes on"
		}
		out, err := d.rooms.book.Add(ctx, tx, in)
		return out.ID, err
	}
	r.Revoke = func(ctx context.Context, tx *db.Tx, grant, actor string) error {
		whose, err := d.rooms.book.Whose(ctx, tx, grant)
		if err != nil || whose != "service:"+actor {
			return err // its row is no authority over what others were granted, or denied
		}
		_, err = d.rooms.book.Revoke(ctx, tx, book.GrantIDIn{ID: grant, Note: "the automation was switched off or changed"})
		return err
	}
	r.Seal = func(tx *db.Tx, tenant, name, value, by string) error {
		_, err := d.rooms.secret.Put(tx, tenant, name, value, by)
		return err
	}
	d.rooms.artifact = &artifact.Room{DB: d.db, Days: func() int { return d.live().Int("artifacts.days") }, Open: automation.Open,
		Told: d.rooms.tell.Removed}
	r.Text, r.Mark = d.rooms.artifact.Text, func() bool { return d.live().Get("artifacts.mark") == "on" }
	r.Made, r.Secret = d.rooms.artifact.Named, d.redact.Holds
	r.AtOnce = func() int { return d.live().Int("automations.steps") }
	r.Head, r.Hidden = d.journal.Latest, []string{d.data}
	r.Bookmark = func(ctx context.Context, repo, name string) (string, error) {
		return d.rooms.repo.Bookmark(ctx, repo, name)
	}
	r.Lend, r.Drop = d.rooms.secret.Lend, d.rooms.secret.Drop
	r.Abandon, r.Told, r.SwitchedOff = d.rooms.approval.Abandon, d.rooms.tell.Run, d.rooms.tell.SwitchedOff
	r.Filling = d.rooms.tell.Filling
	r.As = func(ctx context.Context, tenant, actor string) (op.Caller, error) {
		return d.identity.Caller(ctx, tenant, actor, op.DoorInside)
	}
	r.Owner, r.Sandbox, r.Granted = id.New("own"), d.rooms.session.Sandbox(), d.rooms.session.Grants
	r.Errand = func(ctx context.Context, e session.Errand, run func(context.Context, box.Box) error) (aside []string, err error) {
		all, err := d.rooms.session.Errand(ctx, e, run)
		for _, a := range all {
			aside = append(aside, a.Path+" was set aside: "+a.What)
		}
		return aside, err
	}
	d.rooms.automation = r
}

// hearAnswers has the steps of automations go on that wait for an ask which somebody answered.
func (d *Daemon) hearAnswers(ctx context.Context) {
	began := false
	for head := d.journal.Latest(); ctx.Err() == nil; {
		if !began { // what was answered before
			if err := d.rooms.automation.LookAgain(ctx); err != nil {
				d.Log.Error("answers to automations are not heard", "err", err)
				wait(ctx, time.Second)
				continue
			}
			began = true
		}
		limited, cancel := context.WithTimeout(ctx, time.Minute)
		err := d.journal.Wait(limited, head)
		ended := limited.Err() != nil
		cancel()
		if err != nil && !ended { // the database is away, and is not asked again at once
			d.Log.Error("answers to automations are not heard", "err", err)
			wait(ctx, time.Second)
		}
		if err != nil {
			continue
		}
		now := max(head, d.journal.Latest())
		d.rooms.automation.Noticed()
		if d.journal.LatestAbout("approval") <= head { // nobody answered anything
			head = now
			continue
		}
		tenants, err := d.rooms.automation.Tenants(ctx)
		for _, tenant := range tenants {
			if err = d.hearIn(ctx, tenant, head); err != nil {
				break
			}
		}
		if err != nil && ctx.Err() == nil {
			d.Log.Error("answers to automations are not heard", "err", err)
			wait(ctx, time.Second)
			continue
		}
		head = now
	}
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// hearIn hears all answers of a tenant since.
func (d *Daemon) hearIn(ctx context.Context, tenant string, since int64) error {
	const page = 1000
	for {
		answers, err := d.journal.Read(ctx, tenant, since, page, journal.Filter{Resource: "approval:/"})
		if err != nil {
			return err
		}
		for _, e := range answers {
			if err := d.rooms.automation.Answered(ctx, tenant, strings.TrimPrefix(e.Resource, "approval:/")); err != nil {
				return err
			}
			since = e.Seq
		}
		if len(answers) < page {
			return nil
		}
	}
}
