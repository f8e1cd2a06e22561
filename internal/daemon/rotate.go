package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
)

// RotateIn names a key.
type RotateIn struct {
	Key string `json:"key" jsonschema:"journal, secret, space, tls or tokens"`
}

// RotateOut says what was done.
type RotateOut struct {
	Key    string   `json:"key"`
	Sealed int      `json:"sealed,omitempty" jsonschema:"rows that were sealed anew"`
	Old    string   `json:"old,omitempty" jsonschema:"the public key until now"`
	New    string   `json:"new,omitempty" jsonschema:"the public key from now on"`
	Tokens []string `json:"tokens,omitempty" jsonschema:"the default tokens that have new values"`
	Next   string   `json:"next,omitempty"`
}

// rotations are the keys that can be replaced while the server runs.
var rotations = map[string]func(d *Daemon, ctx context.Context) (RotateOut, error){
	"journal": (*Daemon).rotateJournal, "secret": (*Daemon).rotateSecret, "tls": (*Daemon).rotateTLS, "tokens": (*Daemon).rotateTokens,
	"space": (*Daemon).rotateSpace,
}

// Check refuses names of no key.
func (in RotateIn) Check() error {
	if rotations[in.Key] != nil {
		return nil
	}
	var names []string
	for name := range rotations {
		names = append(names, name)
	}
	slices.Sort(names)
	return fault.New(fault.Invalid, "server.rotate", "%q is no key that can be replaced", in.Key).
		WithNext("it is one of %s: tandem server rotate KEY", strings.Join(names, ", "))
}

func (d *Daemon) rotateOps() []op.Op {
	return []op.Op{ServerRotate.Effect(op.Spec{Right: "server.admin", Present: true, People: true, Socket: true, MCP: "-",
		Doc: "Replace one of the server's keys while it runs, or the default tokens. " +
			"What the old key signed can still be checked.\nNeeds a person present."},
		func(RotateIn) op.Resource { return op.Resource{Kind: "server", Path: "/keys"} }, d.rotate, nil)}
}

func (d *Daemon) rotate(ctx context.Context, in RotateIn) (RotateOut, error) {
	d.mu.Lock() // one at a time
	defer d.mu.Unlock()
	if err := d.together(ctx, "a key cannot be replaced"); err != nil && in.Key != "tokens" {
		return RotateOut{}, err
	}
	out, err := rotations[in.Key](d, ctx)
	out.Key = in.Key
	return out, err
}

// rotateJournal replaces the key that signs the journal and vouches for rows.
func (d *Daemon) rotateJournal(ctx context.Context) (RotateOut, error) {
	by := op.CallerFrom(ctx)
	path := filepath.Join(d.data, "journal.key")
	done, err := d.journal.Rotate(ctx, path, func(r journal.Rotated) (journal.Event, error) {
		payload, err := json.Marshal(map[string]any{"key": "journal.key", "old": r.Old, "new": r.New, "signed": r.Signed, "up_to": r.Size,
			"sealed": r.Sealed, "present": by.Present})
		return journal.Event{Tenant: identity.LocalTenant, Type: "server.key_rotated", Actor: by.Name, Resource: "server:/keys",
			Payload: payload}, err
	}, func(tx *db.Tx, r journal.Rotated) error {
		return d.kept.Mark(tx, "journal.key", r.File)
	})
	if err != nil {
		return RotateOut{}, err
	}
	return RotateOut{Sealed: done.Sealed, Old: done.Old, New: done.New,
		Next: "keep the new public key where you kept the old one: tandem audit anchor --json; make a copy of everything: " +
			"tandem server backup PATH"}, nil
}

// finishRotation ends what a crash cut off: the database says which of two keys counts.
func (d *Daemon) finishRotation(ctx context.Context) error {
	finished, err := journal.FinishRotation(filepath.Join(d.data, "journal.key"), d.sealsFile(), func(key []byte) (known bool, err error) {
		err = d.db.Read(ctx, func(tx *db.Tx) (err error) { known, err = d.kept.Marked(tx, "journal.key", key); return err })
		return known, err
	})
	if err == nil {
		err = errors.Join(d.finishTLS(ctx), d.finishSpace(ctx))
	}
	if finished {
		d.Log.Warn("finished a rotation that was cut off", "key", "journal.key")
	}
	return err
}

// rotateSecret makes a new master key and seals every secret anew.
func (d *Daemon) rotateSecret(ctx context.Context) (RotateOut, error) {
	n, err := d.rooms.secret.Rotate(ctx, identity.LocalTenant)
	if err == nil {
		err = d.kept.Rekey(d.keepers, d.data, d.dsn())
	}
	return RotateOut{Sealed: n}, err
}

// rotateTokens gives the default tokens new values; the old ones stop working at once.
func (d *Daemon) rotateTokens(ctx context.Context) (RotateOut, error) {
	var out RotateOut
	for _, t := range givenTokens {
		given, err := d.given(t.setting)
		if err != nil {
			return out, err
		}
		if given != "" {
			return out, fault.New(fault.Conflict, "server.rotate", "the token %s comes from a setting, and would come back with the next start",
				t.actor).
				WithNext("change %s where it is set, then: tandem up --replace", t.variable)
		}
	}
	for _, t := range givenTokens {
		_, err := d.sealToken(ctx, "token/"+t.actor, identity.NewSecret("tdm_"), func(tx *db.Tx, token string) (op.Sealed, error) {
			return identity.KeepIn(tx, t.id, t.actor, token)
		})
		if err != nil {
			return out, err
		}
		out.Tokens = append(out.Tokens, t.actor)
	}
	out.Next = "give programs the new one: tandem token show api"
	return out, nil
}
