package automation

import (
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"tandem/internal/automation/run"
	"tandem/internal/automation/spec"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	resource "tandem/internal/resource/wire"
)

// lookAtKey is how often a key is looked for that a node waits for.
const lookAtKey = 10 * time.Second

// kindle has every open run of an automation looked at: a message came that one of them may wait for.
func (r *Room) kindle(tx *db.Tx, s *row) error {
	rows, err := tx.Query("SELECT id FROM automation_run WHERE tenant = ? AND name = ? AND ended_at = 0", s.tenant, s.Name)
	open, err := db.Collect(rows, err, func(rows *sql.Rows) (id string, err error) { return id, rows.Scan(&id) })
	tx.AfterCommit(func() {
		for _, id := range open {
			r.stir(runKey{s.tenant, id})
		}
	})
	return err
}

// delivered is a message that nobody took yet.
type delivered struct{ id, kind, body string }

// hearMessages ends the waits for a webhook of which a message came: since the run began, and taken by no other run.
func (r *Room) hearMessages(h *held) error {
	for _, s := range h.run.Steps() {
		n := h.node(s.Node)
		if s.Phase != run.Held || n.Wait == nil || n.Wait.Webhook == "" {
			continue
		}
		rows, err := h.tx.Query(`SELECT id, kind, body FROM automation_delivery WHERE tenant = ? AND name = ? AND trigger_id = ?
			AND `+unheard+` AND at >= ? ORDER BY id`+h.tx.ForUpdate(), h.tenant, h.name, n.Wait.Webhook, h.began)
		all, err := db.Collect(rows, err, func(rows *sql.Rows) (d delivered, err error) { return d, rows.Scan(&d.id, &d.kind, &d.body) })
		if err != nil {
			return err
		}
		for _, d := range all {
			if !h.meant(n, message(d.body)) {
				continue
			}
			out := map[string]any{}
			for name, v := range map[string]any{"body": message(d.body), "event": d.kind} {
				if _, there := n.Output[name]; there {
					out[name] = v
				}
			}
			if err := h.apply(run.Event{Kind: run.Woke, Node: s.Node, Item: s.Item, Output: out, Text: d.id}); fault.Is(err, fault.Conflict) {
				if _, err := h.tx.Exec("UPDATE automation_delivery SET run = ?, why = ? WHERE tenant = ? AND id = ?", h.id,
					clipped("it is not what the run waits for: "+said(err), 500), h.tenant, d.id); err != nil {
					return err
				}
				continue
			} else if err != nil {
				return err
			}
			if _, err := h.tx.Exec("UPDATE automation_delivery SET run = ? WHERE tenant = ? AND id = ?", h.id, h.tenant, d.id); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// meant reports whether a message is for this run: each field that the node names has the value that it says.
func (h *held) meant(n *spec.Node, body any) bool {
	for field, ref := range n.Wait.Match {
		want, ok := h.run.Value(ref)
		at := body
		for _, name := range strings.Split(field, ".") {
			table, _ := at.(map[string]any)
			at = table[name]
		}
		if !ok || at == nil || !same(at, want) {
			return false
		}
	}
	return true
}

// same compares two values: numbers by their digits as they are written, also with a text of these digits, all else as it is.
func same(a, b any) bool {
	word := func(v any) (string, bool) {
		switch v := v.(type) {
		case string:
			return v, true
		case json.Number:
			return v.String(), true
		}
		return "", false
	}
	one, isWord := word(a)
	other, too := word(b)
	if isWord && too {
		return one == other
	}
	return reflect.DeepEqual(a, b)
}

// looksFor looks whether a shared key is there that a node waits for, as the automation: what that may not read never comes.
func (r *Room) looksFor(ctx context.Context, j *job, caller op.Caller) result {
	key := j.node.Wait.Condition
	caller.Scope, caller.Idempotency = []string{"resource.read", "resource.view"}, ""
	got, err := op.Do(op.WithCaller(ctx, caller), r.Rooms, resource.Get, resource.KeyIn{Key: key})
	if err != nil {
		if !fault.Is(err, fault.NotFound) && ctx.Err() == nil {
			r.Log.Error("a key that a run waits for cannot be read", "run", j.id, "node", j.step.node, "err", err)
		}
		return result{waits: "the shared key " + key, look: r.DB.Now().Add(lookAtKey)}
	}
	out := map[string]any{}
	if _, there := j.node.Output["value"]; there {
		var v any
		if spec.Decode(got.Value, &v) != nil || len(got.Value) > maxOutput {
			return result{waits: "the shared key " + key + ", whose value cannot be taken", look: r.DB.Now().Add(lookAtKey)}
		}
		out["value"] = v
		if err := j.node.Output["value"].Schema.Accepts(v); err != nil {
			return result{waits: clipped("the shared key "+key+", whose value is another one: "+err.Error(), 500), look: r.DB.Now().Add(lookAtKey)}
		}
	}
	return result{Event: run.Event{Kind: run.Woke, Output: out}}
}

// builtWait says what of a wait no server does yet, or nobody can do.
func builtWait(n *spec.Node, no func(string, ...any)) {
	w := n.Wait
	if w == nil {
		return
	}
	gives := []string{}
	switch {
	case w.Webhook != "":
		gives = []string{"body", "event"}
	case w.Condition != "":
		gives = []string{"value"}
	}
	if w.Handoff != "" { // it gives whatever is handed over
		gives = slices.Collect(maps.Keys(n.Output))
	}
	for _, name := range slices.Sorted(maps.Keys(n.Output)) {
		if !slices.Contains(gives, name) || w.Handoff == "" && (n.Output[name].Schema == nil || n.Output[name].Artifact != "") {
			no("node %s: a wait gives body and event of a webhook, or value of a condition, with a schema, and no %s", n.ID, name)
		}
	}
	if w.OnTimeout == spec.Escalate {
		no("node %s: a wait does not escalate; write a gate, or on_timeout = \"remind\"", n.ID)
	}
}
