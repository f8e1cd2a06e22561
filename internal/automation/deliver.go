package automation

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"tandem/internal/automation/hook"
	"tandem/internal/automation/spec"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// How much is kept of what webhooks bring.
const (
	MaxDelivery    = 1 << 20 // bytes of one message
	keptDeliveries = 20_000  // of one webhook: what came before is known again among these
	keptBodies     = 100     // of one webhook: these can be replayed
	maxUnheard     = 1000    // of one webhook: those that an open run may still come to wait for
	unheardBytes   = 8 << 20 // and how large they may be together
	forgotAtOnce   = 100     // rows, with each message that comes
)

// Hook is an address that a sender knows.
type Hook struct {
	room                      *Room
	tenant, name, trigger, id string
	actor, scheme             string
}

// Hook finds the webhook of a key, while its automation is switched on with that trigger. Nobody who has no key learns what there is, and
// whoever tries many from one place keeps out those alone who come from there with a key that was never used.
func (r *Room) Hook(ctx context.Context, key, from string) (*Hook, error) {
	none := fault.New(fault.NotFound, "hook", "there is no such webhook, or its automation is switched off")
	if !strings.HasPrefix(key, "hook_") || len(key) > 60 {
		return nil, none
	}
	hash := keyHash(key)
	if !r.door.lookFor(hash, from, r.DB.Now()) {
		return nil, fault.New(fault.Exhausted, "hook", "too much at once")
	}
	h := &Hook{room: r}
	var live string
	err := r.DB.QueryRow(ctx, `SELECT h.tenant, h.name, h.trigger_id, h.id, a.actor, a.live FROM automation_hook h JOIN automation a ON
		a.tenant = h.tenant AND a.name = h.name WHERE h.key_hash = ? AND a.live <> ''`, hash).
		Scan(&h.tenant, &h.name, &h.trigger, &h.id, &h.actor, &live)
	if db.NoRows(err) {
		r.door.wrong(hash, from, r.DB.Now())
		return nil, none
	}
	if err != nil {
		return nil, err
	}
	r.door.right(hash)
	if !r.door.room(h.id, r.DB.Now()) {
		return nil, fault.New(fault.Exhausted, "hook", "this webhook is called too often")
	}
	v, err := r.version(ctx, &row{tenant: h.tenant, Automation: wire.Automation{Name: h.name}}, live)
	if err != nil {
		return nil, err
	}
	a, err := r.read(v)
	if err != nil {
		return nil, err
	}
	for _, t := range webhooks(a) {
		if t.ID == h.trigger {
			h.scheme = t.Webhook
			return h, nil
		}
	}
	return nil, none
}

// Hear takes a message in: one that is not signed right is counted, and nothing of it is kept.
func (h *Hook) Hear(ctx context.Context, header func(string) string, body []byte) (out wire.Delivery, err error) {
	r := h.room
	var d hook.Delivery
	err = r.Lend(ctx, h.tenant, hookSecret(h.name, h.trigger), func(secret []byte) (err error) {
		d, err = hook.Check(h.scheme, secret, header, body, r.DB.Now())
		return err
	})
	if err != nil {
		r.door.refuse(h.id)
		if fault.KindOf(err) == fault.Unavailable {
			return out, err
		}
		return out, fault.New(fault.Unauthenticated, "hook", "%v", hook.ErrUnsigned)
	}
	if !utf8.Valid(body) || strings.ContainsRune(string(body), 0) {
		return out, fault.New(fault.Invalid, "hook", "the body is no text")
	}
	c, err := r.As(ctx, h.tenant, h.actor)
	if err != nil {
		return out, err
	}
	c.Scope = []string{"automation.run"}
	return op.Do(op.WithCaller(ctx, c), r.Rooms, wire.Deliver, wire.DeliverIn{Name: h.name, Trigger: h.trigger, Hook: h.id, Scheme: h.scheme,
		Sender: d.ID, Kind: d.Kind, Mark: d.Mark, Body: string(body)})
}

func (r *Room) deliver(ctx context.Context, tx *db.Tx, in wire.DeliverIn) (wire.Delivery, error) {
	c := op.CallerFrom(ctx)
	if c.Door != op.DoorInside || c.Name != actorName(in.Name) {
		return wire.Delivery{}, fault.New(fault.Denied, string(wire.Deliver), "the server does this by itself, and nobody else").
			WithNext("to begin a run now: tandem automation run %s", in.Name)
	}
	s, err := find(tx, c.Tenant, in.Name)
	if err != nil || s == nil {
		return wire.Delivery{}, orNone(err, in.Name)
	}
	d := wire.Delivery{Trigger: in.Trigger, Sender: in.Sender, Kind: in.Kind, At: tx.Now()}
	m := &past{tx: tx, tenant: c.Tenant, name: s.Name, trigger: in.Trigger, id: in.Hook, scheme: in.Scheme}
	if d.Duplicate, err = r.cameBefore(m, in, &d); err != nil || d.Duplicate {
		return d, err
	}
	d.ID = id.New("dlv")
	if err := r.beginWith(ctx, tx, s, &d, in.Body, fmt.Sprintf("webhook %s, delivery %s", in.Trigger, d.ID)); err != nil {
		return d, err
	}
	if _, err := tx.Exec(`INSERT INTO automation_delivery (tenant, id, name, hook, trigger_id, sender, mark, kind, body, run, why, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, c.Tenant, d.ID, s.Name, in.Hook, in.Trigger, in.Sender, in.Mark, in.Kind, in.Body, d.Run,
		d.Why, tx.Now()); err != nil {
		return d, err
	}
	if _, err := tx.Exec("UPDATE automation_hook SET accepted = accepted + 1 WHERE tenant = ? AND id = ?", c.Tenant, in.Hook); err != nil {
		return d, err
	}
	op.Note(ctx, "delivery", d.ID)
	since, err := openSince(tx, s)
	if err != nil {
		return d, err
	}
	return d, r.forgetDeliveries(m, since)
}

// cameBefore reports whether a message is known. Of one that says no time when it was signed a digest is known for ever, as many as there
// is room for; then none is taken until the webhook has another secret.
func (r *Room) cameBefore(m *past, in wire.DeliverIn, d *wire.Delivery) (bool, error) {
	var mark string
	err := m.tx.QueryRow(`SELECT id, run, mark FROM automation_delivery WHERE tenant = ? AND hook = ? AND (mark = ? OR sender <> '' AND
		sender = ?) ORDER BY id LIMIT 1`, m.tenant, m.id, in.Mark, in.Sender).Scan(&d.ID, &d.Run, &mark)
	byRow := err == nil
	switch {
	case err != nil && !db.NoRows(err):
		return false, err
	case !hook.Lasting(m.scheme):
		return byRow, nil
	}
	n, err := m.count()
	if err != nil {
		return byRow, err
	}
	if byRow {
		if mark == in.Mark || n >= mostRemembered {
			return true, nil
		}
		return true, m.keep([]string{in.Mark}, r.filling(m)) // it is another text under the same name: no row will tell of it
	}
	if known, err := m.knows(m.of(in.Mark, in.Sender)); err != nil || known {
		return known, err
	}
	if n >= mostRemembered {
		return false, fault.New(fault.Exhausted, string(wire.Deliver), "of this webhook %d messages are known, and there is no room for more", n).
			WithNext("give it another secret: tandem automation hook %s %s", m.name, m.trigger)
	}
	return false, nil
}

// filling tells people that a webhook has soon no room to know more messages.
func (r *Room) filling(m *past) func(int64) error {
	return func(n int64) error {
		if r.Filling == nil {
			return nil
		}
		return r.Filling(m.tx, m.tenant, m.name, m.trigger, n, mostRemembered)
	}
}

// openSince is when the oldest open run of an automation began: what came since then and nobody took, one of them may come to wait for.
// Without an open run it is never.
func openSince(tx *db.Tx, s *row) (since int64, err error) {
	err = tx.QueryRow("SELECT COALESCE(MIN(began_at), ?) FROM automation_run WHERE tenant = ? AND name = ? AND ended_at = 0",
		int64(math.MaxInt64), s.tenant, s.Name).Scan(&since)
	return since, err
}

// unheard are the deliveries that no run took, and of which nothing says that none will.
const unheard = "run = '' AND why = ''"

// unwaited says of a message that a node waits for why nobody hears it.
const unwaited = "no run was open that could wait for it"

// hears lets the open runs of an automation hear a message, unless too many wait to be heard already.
func (r *Room) hears(tx *db.Tx, s *row, d *wire.Delivery) error {
	since, err := openSince(tx, s)
	if err != nil {
		return err
	}
	if since == math.MaxInt64 {
		d.Why = unwaited
		return nil
	}
	var n, bytes int64
	if err := tx.QueryRow("SELECT count(*), COALESCE(SUM(length(body)), 0) FROM automation_delivery WHERE tenant = ? AND name = ? AND "+
		"trigger_id = ? AND "+unheard+" AND at >= ?", s.tenant, s.Name, d.Trigger, since).Scan(&n, &bytes); err != nil {
		return err
	}
	if n >= maxUnheard || bytes >= unheardBytes {
		return fault.New(fault.Exhausted, string(wire.Deliver), "%d messages wait for runs of %s", n, s.Name).
			WithNext("look at what is open: tandem automation runs list %s", s.Name)
	}
	return r.kindle(tx, s)
}

// forgetDeliveries lets go what is older or more than is kept, but not what an open run, begun at or after since, may come to wait for.
// What could be sent again stays known by its digest.
func (r *Room) forgetDeliveries(m *past, since int64) error {
	tx, tenant, id := m.tx, m.tenant, m.id
	const newest = "(SELECT id FROM automation_delivery WHERE tenant = ? AND hook = ? ORDER BY id DESC LIMIT 1 OFFSET ?)"
	if _, err := tx.Exec("UPDATE automation_delivery SET body = '', why = CASE WHEN "+unheard+" THEN 'nobody waited for it' ELSE why END "+
		"WHERE tenant = ? AND hook = ? AND (body <> '' OR "+unheard+") AND id <= "+newest+" AND NOT ("+unheard+" AND at >= ?)", tenant, id,
		tenant, id, keptBodies, since); err != nil {
		return err
	}
	rows, err := tx.Query("SELECT id, mark, sender FROM automation_delivery WHERE tenant = ? AND hook = ? AND (at < ? OR id <= "+newest+
		" AND NOT ("+unheard+" AND at >= ?)) ORDER BY id LIMIT ?", tenant, id, tx.Now().Add(-hook.Remembered), tenant, id, keptDeliveries,
		since, forgotAtOnce)
	type old struct{ id, mark, sender string }
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (o old, err error) { return o, rows.Scan(&o.id, &o.mark, &o.sender) })
	if err != nil {
		return err
	}
	for _, o := range all {
		if hook.Lasting(m.scheme) {
			if err := m.keep(m.of(o.mark, o.sender), r.filling(m)); err != nil {
				return err
			}
		}
		if _, err := tx.Exec("DELETE FROM automation_delivery WHERE tenant = ? AND id = ?", tenant, o.id); err != nil {
			return err
		}
	}
	return nil
}

// beginWith begins a run with a message, and leaves a row that says so, or why there was none.
func (r *Room) beginWith(ctx context.Context, tx *db.Tx, s *row, d *wire.Delivery, body, cause string) error {
	in, heard, err := r.given(tx, s, d, body)
	if err != nil {
		return err
	}
	if heard {
		return r.hears(tx, s, d)
	}
	begun, err := r.beginIn(ctx, tx, in, origin{cause: cause})
	switch {
	case err == nil:
		d.Run = begun.ID
	case fault.KindOf(err) == fault.Internal:
		return err
	default:
		d.Why = said(err)
	}
	return leaveTick(tx, trigger{tenant: s.tenant, name: s.Name, id: d.Trigger}, []time.Time{tx.Now()}, 1, d.Run, d.Why)
}

// given are the inputs that a message gives to a run, as far as the definition has them: body is what it says, event of which kind it is.
// One that a node waits for begins no run: it is heard by those that wait.
func (r *Room) given(tx *db.Tx, s *row, d *wire.Delivery, body string) (in wire.BeginIn, heard bool, err error) {
	in = wire.BeginIn{Name: s.Name, Input: map[string]any{}}
	v, err := versionIn(tx, s.tenant, s.Name, s.Live)
	if err != nil || v == nil {
		return in, false, err // beginIn says that it is switched off
	}
	a, err := r.read(v)
	if err != nil || a.Heard(d.Trigger) {
		return in, err == nil, err
	}
	if a.Inputs["event"] != nil {
		in.Input["event"] = d.Kind
	}
	if a.Inputs["body"] != nil {
		in.Input["body"] = message(body)
	}
	return in, false, nil
}

// message is the body of a message as a value: JSON, or the text.
func message(body string) (value any) {
	if spec.Decode([]byte(body), &value) != nil {
		return body
	}
	return value
}

func (r *Room) replay(ctx context.Context, tx *db.Tx, in wire.ReplayIn) (wire.Delivery, error) {
	tenant := op.CallerFrom(ctx).Tenant
	s, err := find(tx, tenant, in.Name)
	if err != nil || s == nil {
		return wire.Delivery{}, orNone(err, in.Name)
	}
	d := wire.Delivery{ID: in.ID, At: tx.Now()}
	var body, took, why string
	err = tx.QueryRow("SELECT trigger_id, sender, kind, body, run, why FROM automation_delivery WHERE tenant = ? AND name = ? AND id = ?",
		tenant, in.Name, in.ID).Scan(&d.Trigger, &d.Sender, &d.Kind, &body, &took, &why)
	if db.NoRows(err) || err == nil && body == "" {
		return d, fault.New(fault.NotFound, string(wire.Replay), "there is no delivery %.64q whose body is kept", in.ID).
			WithNext("see what came: tandem automation hooks %s", in.Name)
	}
	if err != nil {
		return d, err
	}
	d.Kept = true
	if took != "" && why == "" {
		open, err := Open(tx, tenant, took)
		_, heard, unread := r.given(tx, s, &d, body)
		switch {
		case err != nil || unread != nil:
			return d, errors.Join(err, unread)
		case heard && open:
			return d, fault.New(fault.Conflict, string(wire.Replay), "the run %s took it, and is not over", took).
				WithNext("see how it goes: tandem automation runs show %s", took)
		}
	}
	if err := r.beginWith(ctx, tx, s, &d, body, "delivery "+d.ID+", replayed"); err != nil {
		return d, err
	}
	switch {
	case d.Run != "":
		return d, nil
	case d.Why == unwaited:
		return d, fault.New(fault.Conflict, string(wire.Replay), "a node waits for it, and %s", d.Why).
			WithNext("begin one first: tandem automation run %s", in.Name)
	case d.Why != "":
		return d, fault.New(fault.Conflict, string(wire.Replay), "no run was begun: %s", d.Why)
	}
	_, err = tx.Exec("UPDATE automation_delivery SET run = '', why = '', at = ? WHERE tenant = ? AND id = ?", tx.Now(), tenant, d.ID)
	return d, err // from now on those that wait hear it anew
}
