package contextrun

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"time"

	"tandem/internal/contextrun/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// moment of a change, as rows and events can both hold it.
func nowOf(tx *db.Tx) time.Time { return tx.Now().UTC().Truncate(time.Microsecond) }

// event is the next one of a run, by the caller.
func (r *run) event(ctx context.Context, tx *db.Tx, kind string, payload any) (*wire.Event, error) {
	body, err := json.Marshal(payload)
	e := &wire.Event{Seq: r.Events + 1, Type: kind, Status: r.Status, Revision: r.Revision, At: nowOf(tx), By: op.CallerFrom(ctx).Name,
		Payload: body}
	if string(body) == "null" {
		e.Payload = nil
	}
	return e, err
}

// note says in the journal what was written, not what it says.
func note(ctx context.Context, r *run, e *wire.Event) {
	op.Note(ctx, "run", r.ID)
	op.Note(ctx, "seq", e.Seq)
	op.Note(ctx, "event", e.Type)
	op.Note(ctx, "status", string(r.Status))
}

func (r *Room) start(ctx context.Context, tx *db.Tx, in wire.StartIn) (*wire.Run, error) {
	c := op.CallerFrom(ctx)
	if in.ID == "" {
		in.ID = id.New("ctx")
	}
	if in.Kind == "" {
		in.Kind = "interactive"
	}
	source, err := anObject("source", in.Source, maxSource)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(in.Objective) == "" {
		return nil, bad("what is true when it is reached? the objective is missing").WithNext("say it in a sentence")
	}
	if len(in.Connectors) > maxNeeds {
		return nil, bad("a run names at most %d connectors", maxNeeds)
	}
	for i := range in.Steps {
		in.Steps[i].Title = cmp.Or(in.Steps[i].Title, in.Steps[i].ID)
		in.Steps[i].Stage = cmp.Or(in.Steps[i].Stage, wire.Pending)
	}
	for _, err := range []error{named("a context run", in.ID), words(maxObjective, in.Objective), checkFolder(in.Folder), checkSteps(in.Steps),
		words(maxWord, append(in.Connectors, in.Kind, in.Client, in.Provider, in.Model)...)} {
		if err != nil {
			return nil, err
		}
	}
	known, err := find(tx, c.Tenant, in.ID, true)
	if err != nil {
		return nil, err
	}
	if known != nil {
		return nil, fault.New(fault.Conflict, "context", "there is a context run %s already", in.ID).
			WithNext("leave the id out, or look at that one: tandem context show %s", in.ID)
	}
	if full, err := r.Runs.Full(tx, c.Tenant); err != nil || full {
		if err == nil {
			err = fault.New(fault.Exhausted, "context", "there are %d context runs already, as many as there may be", r.Runs.Most).
				WithNext("delete some that have ended: tandem context list --status completed, then tandem context remove RUN")
		}
		return nil, err
	}
	if in.Steps == nil {
		in.Steps = []wire.Step{}
	}
	first := &run{Run: &wire.Run{Status: wire.Queued}, tenant: c.Tenant}
	e, err := first.event(ctx, tx, began, wire.Run{ID: in.ID, Kind: in.Kind, Objective: in.Objective, Folder: in.Folder, Steps: in.Steps,
		Client: in.Client, Provider: in.Provider, Model: in.Model, Connectors: in.Connectors, Source: source, Status: wire.Queued})
	if err != nil {
		return nil, err
	}
	e.Revision = 1
	first.ID = in.ID
	if err := first.write(tx, e); err != nil {
		return nil, err
	}
	note(ctx, first, e)
	return first.Run, first.insert(tx)
}

func (r *Room) list(ctx context.Context, in wire.ListIn) (wire.ListOut, error) {
	out := wire.ListOut{Runs: []*wire.Run{}}
	if in.Limit < 0 || in.Limit > 500 {
		return out, bad("limit lies between 1 and 500")
	}
	if in.Limit == 0 {
		in.Limit = 50
	}
	if in.Status != "" && !known(in.Status) {
		return out, noStatus(in.Status)
	}
	made, last := int64(1<<62), ""
	for { // what the caller may not see is left out, so pages are read until one is full
		rows, err := r.db.Query(ctx, "SELECT "+runColumns+` FROM context_run WHERE tenant = ? AND (made_at < ? OR made_at = ? AND id < ?)
			AND (? = '' OR kind = ?) AND (? = '' OR folder = ?) AND (? = '' OR status = ?) ORDER BY made_at DESC, id DESC LIMIT ?`,
			op.CallerFrom(ctx).Tenant, made, made, last, in.Kind, in.Kind, in.Folder, in.Folder, string(in.Status), string(in.Status), in.Limit+1)
		page, err := db.Collect(rows, err, func(rows *sql.Rows) (*run, error) { return scanRun(rows) })
		if err != nil {
			return out, err
		}
		for _, one := range page {
			made, last = db.Micros(one.MadeAt), one.ID
			switch {
			case !op.May(ctx, "context.read", at(one.ID)):
			case len(out.Runs) == in.Limit:
				out.More = true
				return out, nil
			default:
				out.Runs = append(out.Runs, one.Run)
			}
		}
		if len(page) <= in.Limit {
			return out, nil
		}
	}
}

func (r *Room) show(ctx context.Context, in wire.ShowIn) (out wire.ShowOut, err error) {
	return out, r.look(ctx, in.ID, func(tx *db.Tx, found *run) error {
		all, err := tasks(tx, found, " ORDER BY nr")
		for _, t := range all {
			if t.Token = ""; !in.Payloads {
				t.Payload = nil
			}
		}
		if all == nil {
			all = []*wire.Task{}
		}
		out = wire.ShowOut{Run: found.Run, List: all, Waits: waits(found, all, tx.Now(), tx.Ended())}
		return err
	})
}

func (r *Room) events(ctx context.Context, in wire.EventsIn) (out wire.EventsOut, err error) {
	if in.Limit < 0 || in.Limit > 500 || in.Tail < 0 || in.Tail > 500 || in.After < 0 {
		return out, bad("limit and tail lie between 1 and 500, and after is the number of an event")
	}
	if in.Limit == 0 {
		in.Limit = 100
	}
	return out, r.look(ctx, in.ID, func(tx *db.Tx, found *run) error {
		out.Last = found.Events
		column, newest := "seq", found.Events
		if in.Patches {
			column, newest = "patch", found.Patches
		}
		if in.Tail > 0 {
			in.After, in.Limit = max(0, newest-int64(in.Tail)), in.Tail
		}
		all, err := events(tx, found, " AND "+column+" > ? ORDER BY "+column+" LIMIT ?", in.After, in.Limit+1)
		if out.More = len(all) > in.Limit; out.More {
			all = all[:in.Limit]
		}
		if out.Events = all; all == nil {
			out.Events = []*wire.Event{}
		}
		return err
	})
}

func (r *Room) board(ctx context.Context, in wire.IDIn) (out *wire.Board, err error) {
	return out, r.look(ctx, in.ID, func(tx *db.Tx, found *run) (err error) {
		out, err = board(tx, found)
		return err
	})
}

func (r *Room) remove(ctx context.Context, tx *db.Tx, in wire.IDIn) (wire.RemoveOut, error) {
	gone, err := held(ctx, tx, in.ID)
	if err != nil {
		return wire.RemoveOut{}, err
	}
	if !gone.Status.Ended() {
		return wire.RemoveOut{}, fault.New(fault.Conflict, "context", "%s has not ended: it is %s", gone.ID, gone.Status).
			WithNext("end it first: tandem context append %s run_cancelled --status cancelled", gone.ID)
	}
	for _, table := range []string{"context_event", "context_task", "context_need", "context_item", "context_checkpoint"} {
		if _, err := tx.Exec("DELETE FROM "+table+" WHERE tenant = ? AND run = ?", gone.tenant, gone.ID); err != nil {
			return wire.RemoveOut{}, err
		}
	}
	tx.AfterCommit(r.Forgot)
	op.Note(ctx, "events", gone.Events)
	_, err = tx.Exec("DELETE FROM context_run WHERE tenant = ? AND id = ?", gone.tenant, gone.ID)
	return wire.RemoveOut{ID: gone.ID, Events: gone.Events}, err
}
