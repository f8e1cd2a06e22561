package contextrun

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"tandem/internal/contextrun/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

func (r *Room) patch(ctx context.Context, tx *db.Tx, in wire.PatchIn) (wire.Moved, error) {
	p, err := checkPatch(in)
	if err != nil {
		return wire.Moved{}, err
	}
	one, err := held(ctx, tx, in.ID)
	if err != nil {
		return wire.Moved{}, err
	}
	before, err := sent(tx, one, in.Command, saying{kind: patched, action: p.Op, by: op.CallerFrom(ctx).Name})
	if err != nil || before != nil {
		return wire.Moved{Event: before, Run: one.Run, Again: true}, err
	}
	if one.Status.Ended() {
		return wire.Moved{}, over(one)
	}
	single := p.Op == rolling || p.Op == pack
	if !single {
		if err := place(tx, one, p); err != nil {
			return wire.Moved{}, err
		}
	}
	p.Item.At = nowOf(tx)
	e, err := one.report(ctx, tx, patched, "", in.Command, p, ofNothing)
	if err != nil {
		return wire.Moved{}, err
	}
	body, err := json.Marshal(p.Item)
	if err == nil {
		_, err = tx.Exec(`INSERT INTO context_item (tenant, run, section, id, seq, body) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (tenant, run, section, id) DO UPDATE SET seq = excluded.seq, body = excluded.body`, one.tenant, one.ID, p.Op, p.Item.ID,
			e.Seq, string(body))
	}
	op.Note(ctx, "op", p.Op)
	return wire.Moved{Event: e, Run: one.Run}, cmp.Or(err, one.save(tx, false))
}

func checkPatch(in wire.PatchIn) (patch, error) {
	p := patch{Op: in.Op, Item: wire.Item{ID: in.Item, Text: in.Text, Path: in.Path, Type: in.Type, Step: in.Step, Source: in.Source}}
	switch {
	case slices.Contains([]string{"add_task", "update_task_lease", "update_task_state"}, in.Op):
		return p, bad("tasks are not changed by way of the blackboard").WithNext("use context.add, context.claim and context.transition")
	case !slices.Contains(sections, in.Op):
		return p, bad("%.40q writes nothing on a blackboard", in.Op).WithNext("it is %s", strings.Join(sections, ", "))
	case in.Op == "add_artifact" && in.Path == "":
		return p, bad("an artifact has a path: where is it?")
	case in.Op != "add_artifact" && in.Op != rolling && in.Op != pack && strings.TrimSpace(in.Text) == "":
		return p, bad("what does it say? the text is missing")
	}
	if in.Op == rolling || in.Op == pack {
		p.Item = wire.Item{Text: in.Text}
	} else if p.Item.ID == "" {
		p.Item.ID = id.New("note")
	} else if err := named("something on the blackboard", p.Item.ID); err != nil {
		return p, err
	}
	return p, cmp.Or(words(maxText, in.Text), words(4096, in.Path), words(maxWord, in.Type, in.Step, in.Source, in.Command))
}

// place refuses something for the blackboard that is there already, or for which there is no room.
func place(tx *db.Tx, one *run, p patch) error {
	var all, same int
	if err := tx.QueryRow("SELECT count(*) FROM context_item WHERE tenant = ? AND run = ?", one.tenant, one.ID).Scan(&all); err != nil {
		return err
	}
	if err := tx.QueryRow("SELECT count(*) FROM context_item WHERE tenant = ? AND run = ? AND section = ? AND id = ?", one.tenant, one.ID,
		p.Op, p.Item.ID).Scan(&same); err != nil {
		return err
	}
	switch {
	case same > 0:
		return fault.New(fault.Conflict, "context.patch", "%s is on the blackboard already", p.Item.ID).
			WithNext("leave the id out, or give another")
	case all >= maxItems:
		return fault.New(fault.Exhausted, "context.patch", "%d things are on the blackboard, as many as there may be", all).
			WithNext("say what matters of them in the rolling summary, and go on in another run")
	}
	return nil
}
