package automation

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem/internal/automation/spec"
	"tandem/internal/automation/watch"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/tool/box"
)

// watched is what a trigger watches, for its row; "" is nothing.
func watched(t *spec.Trigger) string {
	switch {
	case t.Files != "":
		return "files " + t.Folder + " " + t.Files
	case t.Bookmark != "":
		return "bookmark " + t.Repo + " " + t.Bookmark
	}
	return ""
}

// stood is how something stood when it was last dealt with, and when that was.
type stood struct {
	text string
	at   int64
}

// seenOf takes out how what the triggers of an automation watch stood, before they are forgotten.
func seenOf(tx *db.Tx, s *row) (map[string]stood, error) {
	rows, err := tx.Query("SELECT trigger_id, watch, seen, seen_at FROM automation_trigger WHERE tenant = ? AND name = ? AND watch <> ''",
		s.tenant, s.Name)
	out := map[string]stood{}
	_, err = db.Collect(rows, err, func(rows *sql.Rows) (key string, err error) {
		var id, what string
		var was stood
		err = rows.Scan(&id, &what, &was.text, &was.at)
		out[id+" "+what] = was
		return id, err
	})
	return out, err
}

// oneself refuses whoever is not the server that acts as this automation.
func oneself(ctx context.Context, name, of string) error {
	if c := op.CallerFrom(ctx); c.Door != op.DoorInside || c.Name != actorName(name) {
		return fault.New(fault.Denied, of, "the server does this by itself, and nobody else").
			WithNext("to begin a run now: tandem automation run %s", name)
	}
	return nil
}

// live is a trigger of the version that is switched on, nil when there is none.
func (r *Room) live(q querier, tenant, name, id string) (*spec.Automation, *spec.Trigger, error) {
	v, err := scanVersion(q.QueryRow(`SELECT `+versionColumns+` FROM automation_version v WHERE tenant = ? AND name = ? AND digest =
		(SELECT live FROM automation a WHERE a.tenant = v.tenant AND a.name = v.name)`, tenant, name))
	if db.NoRows(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	a, err := r.read(v)
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(a.Triggers, func(t spec.Trigger) bool { return t.ID == id })
	if i < 0 {
		return a, nil, nil
	}
	return a, &a.Triggers[i], nil
}

// lookAt says how what a trigger watches stands, as far as the automation and whoever switched it on see it.
func (r *Room) lookAt(ctx context.Context, in wire.TickIn) (out wire.LookOut, err error) {
	if err := oneself(ctx, in.Name, string(wire.Look)); err != nil {
		return out, err
	}
	tenant := op.CallerFrom(ctx).Tenant
	_, t, err := r.live(looking{ctx, r.DB}, tenant, in.Name, in.Trigger)
	if err != nil || t == nil {
		return out, orNone(err, in.Name)
	}
	if t.Bookmark != "" {
		out.State, err = r.Bookmark(ctx, t.Repo, t.Bookmark)
		return out, err
	}
	granted, err := r.Granted(ctx, tenant, t.Folder)
	if err == nil && !granted {
		err = fault.New(fault.Conflict, string(wire.Look), "%s is not granted to sessions, so nothing is watched in it", t.Folder).
			WithNext("a person can grant it: tandem grant folder %s", t.Folder)
	}
	if err != nil {
		return out, err
	}
	f := watch.Folder{Path: t.Folder, Fits: t.Fits, Sees: func(path string) bool {
		return op.Sees(ctx, path) && !slices.ContainsFunc(r.Hidden, func(h string) bool { return box.Below(h, path) })
	}}
	state, err := f.Scan(ctx)
	return wire.LookOut{State: state.Text()}, err
}

// What one trigger that watches may do.
const (
	mostAnHour = 60  // runs: one whose own nodes change what it watches does not feed itself without end
	mostNames  = 200 // of files of each kind that a run is told
)

// changed begins a run for what differs between how it stood and how it stands, and from then on that is how it stood. What differs stays
// to be dealt with where there is no room for a run.
func (r *Room) changed(ctx context.Context, tx *db.Tx, in wire.ChangedIn) (out wire.TickOut, err error) {
	if err := oneself(ctx, in.Name, string(wire.Changed)); err != nil {
		return out, err
	}
	t := trigger{tenant: op.CallerFrom(ctx).Tenant, name: in.Name, id: in.Trigger, next: tx.Now()}
	var was, is, what string
	var at int64
	err = tx.QueryRow("SELECT seen, seen_at, ahead, watch FROM automation_trigger WHERE tenant = ? AND name = ? AND trigger_id = ?"+
		tx.ForUpdate(), t.tenant, t.name, t.id).Scan(&was, &at, &is, &what)
	if db.NoRows(err) || err == nil && (what == "" || at > 0 && was == is) { // switched off, or dealt with
		return out, nil
	}
	if err != nil {
		return out, err
	}
	if sumOf(is) != in.Sum { // another server dealt with it, or it was switched on anew: what was written ahead is not what was seen
		out.Skipped = 1
		return out, nil
	}
	a, trig, err := r.live(tx, t.tenant, t.name, t.id)
	if err != nil || trig == nil || watched(trig) != what {
		return out, err
	}
	if at == 0 {
		return out, r.dealtWith(tx, t, is, "", "looked at for the first time: "+standing(trig, is)+"; what changes from now on begins a run")
	}
	cause, event, body := difference(trig, was, is)
	recent := 0
	if err := tx.QueryRow("SELECT count(*) FROM automation_tick WHERE tenant = ? AND name = ? AND trigger_id = ? AND run <> '' AND at > ?",
		t.tenant, t.name, t.id, tx.Now().Add(-time.Hour)).Scan(&recent); err != nil {
		return out, err
	}
	if recent >= mostAnHour {
		out.Skipped = 1
		return out, leaveFailure(tx, t, fmt.Sprintf("it began %d runs within an hour; what changed since waits until that is past", mostAnHour))
	}
	begin := wire.BeginIn{Name: t.name, Input: map[string]any{}}
	if a.Inputs["event"] != nil {
		begin.Input["event"] = event
	}
	if a.Inputs["body"] != nil {
		begin.Input["body"] = body
	}
	begun, err := r.beginIn(ctx, tx, begin, origin{cause: cause})
	switch {
	case err == nil:
		out.Runs = []string{begun.ID}
		return out, r.dealtWith(tx, t, is, begun.ID, "")
	case full(err):
		out.Skipped = 1
		return out, leaveFailure(tx, t, waitsForRoom(err))
	case fault.KindOf(err) == fault.Internal:
		return out, err
	}
	out.Skipped = 1
	if fault.KindOf(err) == fault.Invalid { // this change makes no run, whenever that is tried
		return out, r.dealtWith(tx, t, is, "", said(err))
	}
	return out, leaveFailure(tx, t, said(err))
}

// waitsForRoom says of a change that it waits, and for what.
func waitsForRoom(err error) string { return said(err) + "; it begins when one has ended" }

// sumOf names a state.
func sumOf(state string) string {
	sum := sha256.Sum256([]byte(state))
	return hex.EncodeToString(sum[:])
}

// dealtWith writes down how it stands, and leaves a row about what was done.
func (r *Room) dealtWith(tx *db.Tx, t trigger, is, run, why string) error {
	if _, err := tx.Exec("UPDATE automation_trigger SET seen = ?, seen_at = ?, ahead = '' WHERE tenant = ? AND name = ? AND trigger_id = ?",
		is, tx.Now(), t.tenant, t.name, t.id); err != nil {
		return err
	}
	return leaveTick(tx, t, []time.Time{tx.Now()}, 1, run, why)
}

func standing(t *spec.Trigger, is string) string {
	switch {
	case t.Files != "":
		return fmt.Sprintf("%d files", strings.Count(is, "\n"))
	case is == "":
		return "there is no such bookmark"
	}
	return fmt.Sprintf("it is at %.12s", is)
}

// difference says what became of what a trigger watches: for people, in one word and with what a run may use.
func difference(t *spec.Trigger, was, is string) (cause, event string, body map[string]any) {
	if t.Files != "" {
		d := watch.Between(watch.Read(was), watch.Read(is))
		body = d.Body(mostNames)
		body["folder"] = t.Folder
		return fmt.Sprintf("files %s: %s", t.ID, d.Words()), "files", body
	}
	event = "moved"
	switch {
	case was == "":
		event = "created"
	case is == "":
		event = "deleted"
	}
	body = map[string]any{"repo": t.Repo, "bookmark": t.Bookmark, "from": was, "to": is}
	return fmt.Sprintf("bookmark %s of %s %s", t.Bookmark, t.Repo, event), event, body
}
