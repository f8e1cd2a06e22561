package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/approval"
	"tandem/internal/automation"
	"tandem/internal/connector"
	"tandem/internal/db"
	"tandem/internal/forge"
	"tandem/internal/identity"
	"tandem/internal/job"
	"tandem/internal/journal"
	"tandem/internal/knowledge"
	"tandem/internal/login"
	"tandem/internal/memory"
	"tandem/internal/models"
	"tandem/internal/notify"
	"tandem/internal/op"
	"tandem/internal/policy/book"
	"tandem/internal/repo/host"
	"tandem/internal/schedule"
	"tandem/internal/session"
	relays "tandem/internal/session/relay"
	"tandem/internal/session/terminal"
	sources "tandem/internal/source"
	"tandem/internal/team"
	"tandem/internal/wholefile"
)

// sealsFile says, outside the database, how far the journal's word about authority reached.
func (d *Daemon) sealsFile() string { return filepath.Join(d.data, "journal.seals") }

// forgetSeals lets the next start take the database as it is: a person restored it, or said that the key is lost.
func (d *Daemon) forgetSeals() error {
	for _, file := range []string{d.sealsFile(), d.kindsFile()} {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// lateKinds are rows that the journal came to vouch for after it vouched for others: a server from before has some that it never saw.
const lateKinds = "acceptance bookmark budget connector crossing default job knowledge lease lock login pass provider pull " +
	"queue relay session skip switch tag team terminal turn workspace"

// kindsFile says, outside the database, which of them were adopted here: later ones are not.
func (d *Daemon) kindsFile() string { return filepath.Join(d.data, "journal.kinds") }

// older are the rows that are adopted at this start: all of a server for which the journal never vouched, those of the late kinds once,
// and no others.
func (d *Daemon) older(ctx context.Context, known bool, rows []op.Sealed) ([]op.Sealed, error) {
	if !known {
		return rows, nil
	}
	done, err := os.ReadFile(d.kindsFile())
	if errors.Is(err, os.ErrNotExist) { // a server that joins others, or a copy: what the journal tells of, it does not take as it stands
		var spoken []string
		if spoken, err = d.journal.Kinds(ctx, strings.Fields(lateKinds)); err == nil {
			done = []byte(strings.Join(spoken, " "))
		}
	}
	if err != nil {
		return nil, err
	}
	var late []string
	for _, kind := range strings.Fields(lateKinds) {
		if !slices.Contains(strings.Fields(string(done)), kind) {
			late = append(late, kind)
		}
	}
	rows = slices.DeleteFunc(rows, func(r op.Sealed) bool {
		kind, _, _ := strings.Cut(r.Subject, ":")
		return !slices.Contains(late, kind)
	})
	return d.journal.Unspoken(ctx, rows)
}

// sealing are the rows of every room that the journal vouches for, in one database: here, or of a tenant that comes or goes.
func (d *Daemon) sealing(in *db.DB) []func(context.Context) ([]op.Sealed, error) {
	var out []func(context.Context) ([]op.Sealed, error)
	for _, rows := range []func(context.Context, *db.DB) ([]op.Sealed, error){session.Rows, models.Rows, terminal.Rows, connector.Rows,
		forge.Rows, login.Rows, schedule.Rows, automation.Rows, job.Rows, team.Rows, relays.Rows, memory.Rows, knowledge.Rows, host.Rows} {
		out = append(out, func(ctx context.Context) ([]op.Sealed, error) { return rows(ctx, in) })
	}
	return append(out, func(ctx context.Context) ([]op.Sealed, error) { return sources.Rows(ctx, in, d.journal.Vouch()) })
}

// sealedIn lists the rows of another database that the journal would vouch for.
func (d *Daemon) sealedIn(ctx context.Context, copied *db.DB) (out []op.Sealed, err error) {
	for _, rows := range append(d.sealing(copied), func(ctx context.Context) ([]op.Sealed, error) { return d.identity.In(ctx, copied) },
		func(ctx context.Context) ([]op.Sealed, error) { return book.RowsIn(ctx, copied) }) {
		more, err := rows(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// recallSeals reads what the journal vouches for and lets rooms ask it. What was there before it vouched for anything, or under a
// key that is lost, is adopted: it counts, and a person confirms the list.
func (d *Daemon) recallSeals(ctx context.Context) error {
	if slices.Contains(d.Without, "journal.key") {
		if err := d.forgetSeals(); err != nil {
			return err
		}
	}
	known, err := d.journal.Recall(ctx, d.sealsFile())
	if err != nil {
		return err
	}
	rooms := append([]func(context.Context) ([]op.Sealed, error){d.identity.Rows, d.rooms.book.Rows, d.journal.KeyRows}, d.sealing(d.db)...)
	d.journal.Rows = append(rooms, d.rooms.approval.Standing)
	d.journal.Mend = journal.Mend{What: d.identity.Changed, Do: d.identity.SetBack}
	d.journal.Lives = maps.Clone(identity.Lives)
	maps.Copy(d.journal.Lives, terminal.Lives)
	var rows []op.Sealed
	for _, list := range rooms {
		more, err := list(ctx)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	if rows, err = d.older(ctx, known, rows); err != nil {
		return err
	}
	if !known { // before anything is adopted: a start that is cut off here does it again
		if err := d.endAnswers(ctx); err != nil {
			return err
		}
	}
	if len(rows) > 0 {
		if err := d.journal.Adopt(ctx, identity.LocalTenant, identity.System, rows); err != nil {
			return fmt.Errorf("vouch for what was there before: %w", err)
		}
	}
	if err := wholefile.Write(d.kindsFile(), []byte(lateKinds+"\n")); err != nil {
		return err
	}
	d.identity.Vouch, d.rooms.book.Vouch = d.journal.Vouch(), d.journal.Vouch()
	return nil
}

// endAnswers ends answers to asks from before the journal vouched for any, which are not adopted, and tells of it.
func (d *Daemon) endAnswers(ctx context.Context) error {
	return d.db.Write(ctx, func(tx *db.Tx) error {
		n, err := approval.EndUnvouched(tx)
		if err != nil || n == 0 {
			return err
		}
		payload, err := json.Marshal(map[string]any{"ended": n, "why": "answers from before the journal vouched for any do not count"})
		if err != nil {
			return err
		}
		_, err = d.journal.Append(tx, journal.Event{Tenant: identity.LocalTenant, Type: "approval.expire", Phase: journal.Done,
			Actor: identity.System, Resource: "approval:/", Payload: payload})
		return err
	})
}

// answerGuards are what an answer to an ask is held to: the policy as it is now, and the journal.
func (d *Daemon) answerGuards() approval.Guards {
	return approval.Guards{
		Circle: func(ctx context.Context, tx *db.Tx, tenant string) (approval.Named, error) {
			return d.rooms.book.Circle(ctx, tx, tenant)
		},
		Vouches: func(tx *db.Tx, s op.Sealed) (bool, error) {
			return d.journal.Vouches(tx, s.Tenant, journal.Seal{Subject: s.Subject, Digest: journal.Digest(s.Says...)})
		}}
}

// tellSeals says at every start what waits for a person's word, and what somebody did to the database.
func (d *Daemon) tellSeals(ctx context.Context) error {
	found, err := d.journal.Orphans(ctx)
	if err != nil {
		return err
	}
	for _, f := range found {
		d.Log.Error("the database and the journal differ", "what", f.What)
	}
	var astray []string
	if err := d.db.Read(ctx, func(tx *db.Tx) (err error) {
		astray, err = d.rooms.book.Astray(ctx, tx, identity.LocalTenant)
		return err
	}); err != nil {
		return err
	}
	for _, g := range astray {
		d.Log.Warn("a grant names a tenant by its name, and matches nothing", "grant", g)
	}
	waiting := d.journal.Waiting()
	if waiting > 0 {
		d.Log.Warn("rows that confer authority wait to be confirmed", "count", waiting, "next", "tandem audit confirm")
	}
	notice := notify.Notice{Event: notify.Event{Type: "authority"}, Push: notify.Urgent, Page: "/panel/journal"}
	switch {
	case len(found) > 0:
		notice.Status, notice.Summary = "changed", fmt.Sprintf("The database was changed from outside: %s", found[0].What)
		notice.Reason, notice.Next = fmt.Sprintf("%d such things were found at the start.", len(found)), "See all: tandem audit verify --whole"
	case waiting > 0:
		notice.Status, notice.Summary = "unconfirmed", fmt.Sprintf("%d grants, tokens and the like are older than the journal's word about them.",
			waiting)
		notice.Reason = "Nobody has looked yet whether each is right. What was here before goes on working."
		notice.Next = "Look, and confirm: tandem audit confirm"
	case len(astray) > 0:
		notice.Status, notice.Summary = "astray", "A grant or denial is about a tenant by its name, and matches nothing: "+astray[0]
		notice.Reason = fmt.Sprintf("Tenants are meant by their ids since names can be given anew; %d such grants stand.", len(astray))
		notice.Next = "Give it anew with the id, and take the old one back: tandem tenant list --json; tandem grant revoke ID"
	default:
		return nil
	}
	return d.db.Write(ctx, func(tx *db.Tx) error {
		notice.TS = tx.Now()
		return d.rooms.notify.Put(tx, identity.LocalTenant, notice)
	})
}
