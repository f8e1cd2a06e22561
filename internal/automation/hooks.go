package automation

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/base32"
	"encoding/hex"
	"strings"

	"tandem/internal/automation/hook"
	"tandem/internal/automation/spec"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
	"tandem/internal/secret"
)

// HookPath is where webhooks arrive, before the key.
const HookPath = "/hook/"

// Secrets are the names under which the room keeps what senders sign with.
var Secrets = []secret.Owned{{Prefix: "hook/"}}

func hookSecret(name, trigger string) string { return "hook/" + name + "/" + trigger }

// newKey is a credential of 160 bits.
func newKey(prefix string) string {
	var raw [20]byte
	rand.Read(raw[:])
	return prefix + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw[:]))
}

// keyHash is what is kept of the key in a webhook's address.
func keyHash(key string) string {
	sum := sha256.Sum256([]byte("tandem hook v1\x00" + key))
	return hex.EncodeToString(sum[:])
}

func (r *Room) hookOps() []op.Op {
	return []op.Op{
		wire.MakeHook.State(op.Spec{Right: "automation.admin", Present: true, People: true, Once: true, Secret: []string{"secret"}, MCP: "-",
			Method: "POST", Path: "/automation/{name}/hook",
			Doc: "Make the address of a webhook and show it once, in place of the one before. Needs a person present."},
			func(in wire.MakeHookIn) op.Resource { return at(in.Name) }, r.makeHook),
		wire.Hooks.Read(op.Spec{Right: "automation.read", Method: "GET", Path: "/automation/{name}/hooks",
			Doc: "List the webhooks of an automation: how much came, how much was refused, and what began runs."}, named, r.hooks),
		op.Binding(wire.Replay.State(op.Spec{Right: "automation.run", Method: "POST", Path: "/automation/{name}/replay",
			Doc: "Begin a run with a message that a webhook brought before."},
			func(in wire.ReplayIn) op.Resource { return at(in.Name) }, r.replay),
			func(ctx context.Context, in wire.ReplayIn) ([]op.Bound, error) {
				return r.bind(ctx, wire.BeginIn{Name: in.Name})
			}),
		wire.Deliver.State(op.Spec{Right: "automation.run", Socket: true, MCP: "-", Secret: []string{"body"},
			Doc: "Take in a message of a webhook. The server alone calls it, as the automation."},
			func(in wire.DeliverIn) op.Resource { return ticksOf(in.Name) }, r.deliver),
	}
}

// webhooks are the triggers of a definition that are webhooks.
func webhooks(a *spec.Automation) (out []spec.Trigger) {
	for _, t := range a.Triggers {
		if t.Webhook != "" {
			out = append(out, t)
		}
	}
	return out
}

func (r *Room) makeHook(ctx context.Context, tx *db.Tx, in wire.MakeHookIn) (out wire.MadeHook, err error) {
	c := op.CallerFrom(ctx)
	s, err := find(tx, c.Tenant, in.Name)
	if err != nil || s == nil {
		return out, orNone(err, in.Name)
	}
	v, err := versionIn(tx, c.Tenant, s.Name, s.Latest)
	if err != nil || v == nil {
		return out, orNone(err, in.Name)
	}
	a, err := r.read(v)
	if err != nil {
		return out, err
	}
	for _, t := range webhooks(a) {
		if in.Trigger == "" && len(webhooks(a)) == 1 || t.ID == in.Trigger {
			out = wire.MadeHook{Trigger: t.ID, Scheme: t.Webhook}
		}
	}
	if out.Trigger == "" {
		return out, fault.New(fault.NotFound, string(wire.MakeHook), "%s has no webhook trigger %.64q", s.Name, in.Trigger).
			WithNext("see its triggers: tandem automation show %s --text", s.Name)
	}
	value := in.Secret
	if value == "" {
		value = newKey("whs_")
		out.Secret = value
	}
	if len(value) < 8 {
		return out, fault.New(fault.Invalid, string(wire.MakeHook), "a secret of %d characters can be guessed", len(value)).
			WithNext("leave it out, and one is made")
	}
	same, err := r.sameSecret(ctx, c.Tenant, hookSecret(s.Name, out.Trigger), in.Secret)
	if err != nil {
		return out, err
	}
	if err := r.Seal(tx, c.Tenant, hookSecret(s.Name, out.Trigger), value, c.Name); err != nil {
		return out, err
	}
	key := newKey("hook_")
	out.Path = HookPath + key
	_, err = tx.Exec(`INSERT INTO automation_hook (tenant, name, trigger_id, id, key_hash, made_by, made_at, accepted, refused)
		VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0) ON CONFLICT (tenant, name, trigger_id) DO UPDATE SET key_hash = excluded.key_hash,
		made_by = excluded.made_by, made_at = excluded.made_at`, c.Tenant, s.Name, out.Trigger, id.New("whk"), keyHash(key), c.Name, tx.Now())
	if err != nil || same {
		return out, err
	}
	m := &past{tx: tx, tenant: c.Tenant, name: s.Name, trigger: out.Trigger}
	if err := tx.QueryRow("SELECT id FROM automation_hook WHERE tenant = ? AND name = ? AND trigger_id = ?", c.Tenant, s.Name, out.Trigger).
		Scan(&m.id); err != nil {
		return out, err
	}
	return out, m.forget()
}

// sameSecret reports whether a typed secret is the one that is kept: what was signed with it can be sent again.
func (r *Room) sameSecret(ctx context.Context, tenant, name, typed string) (same bool, err error) {
	if typed == "" {
		return false, nil
	}
	err = r.Lend(ctx, tenant, name, func(kept []byte) error {
		same = subtle.ConstantTimeCompare(kept, []byte(typed)) == 1
		return nil
	})
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return same, err
}

func (r *Room) hooks(ctx context.Context, in wire.NameIn) (wire.HooksOut, error) {
	out := wire.HooksOut{Hooks: []wire.Hook{}, Deliveries: []wire.Delivery{}}
	v, err := r.show(ctx, wire.ShowIn{Name: in.Name})
	if err != nil {
		return out, err
	}
	a, err := spec.Kept([]byte(v.Text))
	if err != nil {
		return out, err
	}
	tenant := op.CallerFrom(ctx).Tenant
	rows, err := r.DB.Query(ctx,
		"SELECT trigger_id, id, made_by, made_at, accepted, refused, remembered FROM automation_hook WHERE tenant = ? AND name = ? "+
			"ORDER BY trigger_id", tenant, in.Name)
	made, err := db.Collect(rows, err, func(rows *sql.Rows) (h wire.Hook, err error) {
		var hookID string
		var at int64
		err = rows.Scan(&h.Trigger, &hookID, &h.MadeBy, &at, &h.Accepted, &h.Refused, &h.Remembered)
		h.Made, h.MadeAt = true, db.Time(at)
		h.Refused += r.door.waiting(hookID)
		return h, err
	})
	if err != nil {
		return out, err
	}
	for _, t := range webhooks(a) {
		h := wire.Hook{Trigger: t.ID}
		for _, m := range made {
			if m.Trigger == t.ID {
				h = m
			}
		}
		if h.Scheme = t.Webhook; hook.Lasting(h.Scheme) {
			h.Most = mostRemembered
		}
		out.Hooks = append(out.Hooks, h)
	}
	rows, err = r.DB.Query(ctx,
		`SELECT id, trigger_id, sender, kind, run, why, at, CASE WHEN body = '' THEN 0 ELSE 1 END FROM automation_delivery
		WHERE tenant = ? AND name = ? ORDER BY id DESC LIMIT 100`, tenant, in.Name)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (d wire.Delivery, err error) {
		var at, kept int64
		err = rows.Scan(&d.ID, &d.Trigger, &d.Sender, &d.Kind, &d.Run, &d.Why, &at, &kept)
		d.At, d.Kept = db.Time(at), kept > 0
		return d, err
	})
	out.Deliveries = append(out.Deliveries, all...)
	return out, err
}
