package secret

import (
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// Owned are names that a room reads by itself: what stands under them lets somebody in, or decides where keys go. Setting or
// deleting one by hand needs a person present.
type Owned struct {
	Prefix string
	First  bool // the first value is nobody's loss, and needs none
	// Kind is of what a name serves: who sets the secret provider/openai changes provider:/openai, and needs the right to. "" is nothing.
	Kind string
}

// Reserve declares names that a room owns.
func (r *Room) Reserve(names ...Owned) { r.reserved = append(r.reserved, names...) }

// serves is what a secret of this name changes beside itself.
func (r *Room) serves(name string) (t op.Touch) {
	for _, o := range r.reserved {
		if rest, ok := strings.CutPrefix(name, o.Prefix); ok && o.Kind != "" {
			t.Also = append(t.Also, op.Resource{Kind: o.Kind, Path: "/" + rest})
		}
	}
	return t
}

// owned refuses to touch a room's own name without presence.
func (r *Room) owned(tx *db.Tx, c op.Caller, operation, name string) error {
	if c.Present != "" {
		return nil
	}
	for _, o := range r.reserved {
		if !strings.HasPrefix(name, o.Prefix) {
			continue
		}
		if o.First {
			var n int
			if err := tx.QueryRow("SELECT count(*) FROM secret WHERE tenant = ? AND name = ?", c.Tenant, name).Scan(&n); err != nil || n == 0 {
				return err
			}
		}
		return fault.New(fault.Denied, operation, "%s is one of tandem's own names: what stands under it lets somebody in", name).With("presence",
			"required").
			WithNext("repeat it on a terminal with the PIN, or in the panel with a passkey; names of your own do not begin with %s", o.Prefix)
	}
	return nil
}
