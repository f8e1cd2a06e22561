package identity

import (
	"context"
	"crypto/ed25519"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/login/device"
	"tandem/internal/op"
)

// A person on another machine proves that they are present with a key of that machine, which only their PIN opens. The PIN stays there;
// what comes here is a signature over one call: who, which operation, its very bytes, and a number that this server gave for it.

// byDevice is how a caller is present whose machine answered for them.
const byDevice = "device"

// A number for one answer, and how many of one device may be open: whoever has the machine's token can ask for them.
const (
	challengesOpen   = 16
	maxProof         = 600
	deviceNameLength = 64
)

// deviceRow is a device as its row has it.
type deviceRow struct {
	tenant, id, actor, terminal string
	name                        string
	key                         []byte
	revoked                     int64
}

const deviceColumns = "tenant, id, actor, terminal, name, public_key, revoked_at"

func scanDevice(row interface{ Scan(...any) error }) (d deviceRow, err error) {
	return d, row.Scan(&d.tenant, &d.id, &d.actor, &d.terminal, &d.name, &d.key, &d.revoked)
}

// Seal is a device: for whom it answers, from which terminal, and with which key.
func (d deviceRow) Seal() op.Sealed {
	s := op.Sealed{Tenant: d.tenant, Subject: "device:" + d.id, What: "the device " + d.id + " of " + d.actor,
		Says: []string{d.id, d.actor, d.terminal, hex.EncodeToString(d.key)}}
	if d.revoked != 0 {
		s.Says = []string{d.id, takenBack}
		s.What += ", revoked"
	}
	return s
}

// enrol keeps the key of a person's machine. Without one the machine has everyday rights, and nobody is ever proven to be there.
func enrol(ctx context.Context, tx *db.Tx, person, terminal *Actor, machine, key string) (string, error) {
	if key == "" {
		return "", nil
	}
	public, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil || len(public) != ed25519.PublicKeySize {
		return "", fault.New(fault.Invalid, "person.enter", "that is not the key of a device")
	}
	d := deviceRow{tenant: person.Tenant, id: id.New("dev"), actor: person.ID, terminal: terminal.ID, name: machine, key: public}
	_, err = tx.Exec("INSERT INTO device ("+deviceColumns+", created_at, used_at, wrong, wait_until) VALUES (?, ?, ?, ?, ?, ?, 0, ?, 0, 0, 0)",
		d.tenant, d.id, d.actor, d.terminal, d.name, d.key, tx.Now())
	op.Note(ctx, "device", d.id)
	op.Row(ctx, d.Seal())
	return d.id, err
}

// ChallengeIn asks for a number to sign.
type ChallengeIn struct {
	Device string `json:"device" jsonschema:"the device's id, dev_…"`
}

// ChallengeOut is good for one answer.
type ChallengeOut struct {
	Nonce string `json:"nonce"`
}

// challenge gives a terminal a number that the device's key signs together with one call.
func (r *Room) challenge(ctx context.Context, in ChallengeIn) (ChallengeOut, error) {
	c := op.CallerFrom(ctx)
	out := ChallengeOut{Nonce: newSecret("")}
	err := r.db.Write(ctx, func(tx *db.Tx) error {
		if _, err := r.deviceOf(ctx, tx, c, in.Device); err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM device_challenge WHERE expires_at <= ?", tx.Now()); err != nil {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM device_challenge WHERE tenant = ? AND device = ? AND hash NOT IN (SELECT hash FROM device_challenge
			WHERE tenant = ? AND device = ? ORDER BY expires_at DESC LIMIT ?)`, c.Tenant, in.Device, c.Tenant, in.Device,
			challengesOpen-1); err != nil {
			return err
		}
		_, err := tx.Exec("INSERT INTO device_challenge (hash, tenant, device, expires_at) VALUES (?, ?, ?, ?)", hashOf(out.Nonce), c.Tenant,
			in.Device, tx.Now().Add(challengeLife))
		return err
	})
	return out, err
}

// deviceOf is a device that answers from the terminal that calls. Another's is not found.
func (r *Room) deviceOf(ctx context.Context, tx *db.Tx, c op.Caller, device string) (deviceRow, error) {
	d, err := scanDevice(tx.QueryRow("SELECT "+deviceColumns+" FROM device WHERE tenant = ? AND id = ?"+tx.ForUpdate(), c.Tenant, device))
	switch {
	case db.NoRows(err) || err == nil && (c.Kind != op.Local || c.Token == "" || d.terminal != c.Actor):
		return d, fault.New(fault.Denied, "presence", "this machine has no device of that name here").
			WithNext("ask there for another invitation and log in with it: tandem login HOST:PORT#INVITE")
	case err != nil:
		return d, err
	case d.revoked != 0:
		return d, fault.New(fault.Denied, "presence", "this device was revoked: it answers for nobody any more").
			WithNext("ask there for another invitation and log in with it: tandem login HOST:PORT#INVITE")
	case !r.Vouch.Holds(ctx, d.Seal()):
		return d, fault.New(fault.Denied, "presence", "%s is not what the journal knows: somebody changed the database", d.Seal().What).
			With("reason", "forged").WithNext("over there: tandem audit verify --whole")
	}
	return d, nil
}

// Proof is what a device answers with.
type Proof struct {
	Device, Nonce string
	Signature     []byte
	Operation     string
	Input         []byte // the very bytes that came
}

// ParseProof reads the header that brings a proof: device, number and signature.
func ParseProof(header string) (p Proof, err error) {
	words := strings.Fields(header)
	if len(words) == 3 && len(header) <= maxProof {
		p.Device, p.Nonce = words[0], words[1]
		p.Signature, err = base64.RawURLEncoding.DecodeString(words[2])
	}
	if err != nil || len(p.Signature) != ed25519.SignatureSize {
		return p, fault.New(fault.Invalid, "presence", "that is not the proof of a device")
	}
	return p, nil
}

// ProveDevice is the person whose device signed this very call, present for it. A wrong proof is counted; many of them are refused
// unlooked at, and what was signed rightly counts all the same: nobody who has the machine's token keeps the person out.
func (r *Room) ProveDevice(ctx context.Context, terminal op.Caller, p Proof) (op.Caller, error) {
	var d deviceRow
	var wrong error
	err := r.db.Write(ctx, func(tx *db.Tx) (err error) {
		wrong = nil
		if d, err = r.deviceOf(ctx, tx, terminal, p.Device); err != nil {
			return err
		}
		act := device.Act{Of: device.Of{Server: r.Server, Person: personOf(terminal), Device: d.id}, Operation: p.Operation, Nonce: p.Nonce,
			Input: p.Input}
		n, err := tx.Changed("DELETE FROM device_challenge WHERE hash = ? AND tenant = ? AND device = ? AND expires_at > ?", hashOf(p.Nonce),
			d.tenant,
			d.id, tx.Now())
		switch {
		case err != nil:
			return err
		case n == 0:
			wrong, err = r.wrongProof(tx, d, terminal, "it answers a question that was not asked, was answered already, or is too old")
			return err
		case !act.Signed(d.key, p.Signature):
			wrong, err = r.wrongProof(tx, d, terminal, "it was signed for another call, or with another key")
			return err
		}
		_, err = tx.Exec("UPDATE device SET used_at = ?, wrong = 0, wait_until = 0 WHERE tenant = ? AND id = ?", tx.Now(), d.tenant, d.id)
		return err
	})
	if err == nil {
		err = wrong
	}
	if err != nil {
		return op.Caller{}, err
	}
	c, err := r.Caller(ctx, d.tenant, d.actor, terminal.Door)
	if err == nil && c.Kind != op.Person {
		err = fault.New(fault.Denied, "presence", "%s is no person, and no device answers for them", c.Name)
	}
	c.Present, c.Token, c.Device, c.Client = byDevice, terminal.Token, d.id, terminal.Client
	return c, err
}

// personOf is the person for whom a terminal acts.
func personOf(c op.Caller) string {
	if len(c.For) == 0 {
		return ""
	}
	return strings.TrimPrefix(c.For[0], string(op.Person)+":")
}

// wrongProof counts a proof that does not hold. Those that come while the last ones have to wait are refused and not written down.
func (r *Room) wrongProof(tx *db.Tx, d deviceRow, c op.Caller, why string) (refused, err error) {
	var count int
	var until int64
	if err := tx.QueryRow("SELECT wrong, wait_until FROM device WHERE tenant = ? AND id = ?", d.tenant, d.id).Scan(&count,
		&until); err != nil {
		return nil, err
	}
	if wait := db.Time(until).Sub(tx.Now()); wait > 0 {
		return fault.New(fault.Exhausted, "presence", "too many wrong proofs of this device; the next is looked at in %s",
			wait.Round(time.Second)).
			WithNext("wait, then try again"), nil
	}
	refused = fault.New(fault.Denied, "presence", "the device's proof was not accepted: %s", why).WithNext("try again")
	w := WrongPIN{Tenant: d.tenant, Actor: d.actor, Caller: c.Name, Door: c.Door, Count: count + 1, Pause: pause(count+1, true), Device: d.id}
	if _, err := tx.Exec("UPDATE device SET wrong = ?, wait_until = ? WHERE tenant = ? AND id = ?", w.Count, tx.Now().Add(w.Pause), d.tenant,
		d.id); err != nil || r.Wrong == nil {
		return refused, err
	}
	return refused, r.Wrong(tx, w)
}

// endDevices revokes the devices that match, and says so in the journal.
func endDevices(ctx context.Context, tx *db.Tx, where string, args ...any) (int, error) {
	rows, err := tx.Query("UPDATE device SET revoked_at = ? WHERE revoked_at = 0 AND "+where+" RETURNING "+deviceColumns,
		append([]any{tx.Now()}, args...)...)
	gone, err := db.Collect(rows, err, func(rows *sql.Rows) (deviceRow, error) { return scanDevice(rows) })
	for _, d := range gone {
		op.Row(ctx, d.Seal())
	}
	return len(gone), err
}
