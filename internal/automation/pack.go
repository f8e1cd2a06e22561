package automation

import (
	"context"
	"errors"

	"tandem/internal/automation/spec"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// Shown is a definition as a person sees it before switching it on. It is not stored.
func (r *Room) Shown(ctx context.Context, text string) (*wire.Version, error) {
	a, err := spec.Read([]byte(text))
	if err != nil {
		var all spec.Problems
		if errors.As(err, &all) {
			err = fault.New(fault.Invalid, string(wire.Add), "this is no definition of an automation:\n%s", all.Error())
		}
		return nil, err
	}
	ungranted, err := r.ungranted(ctx, op.CallerFrom(ctx).Tenant, a)
	if err != nil {
		return nil, err
	}
	out := &wire.Version{Digest: a.Digest(), Text: text, May: may(a), Unbuilt: r.cannot(a), Ungranted: ungranted}
	out.Name, out.Title, out.Triggers = a.Name, a.Title, begins(a)
	return out, nil
}

// Has says whether there is an automation of this name.
func Has(tx *db.Tx, tenant, name string) (bool, error) {
	s, err := find(tx, tenant, name)
	return s != nil, err
}

// PutOn stores a definition of this name and switches it on, in the change of whoever installs it.
func (r *Room) PutOn(ctx context.Context, tx *db.Tx, name, text string) error {
	a, err := r.add(ctx, tx, wire.AddIn{Text: text})
	if err == nil && a.Name != name { // rights were asked for by that name
		return fault.New(fault.Invalid, string(wire.Add), "the definition says that its name is %s, and not %s", a.Name, name)
	}
	if err == nil && a.Live != a.Latest {
		_, err = r.on(ctx, tx, wire.OnIn{Name: a.Name, Digest: a.Latest})
	}
	return err
}

// PutOff switches an automation off, in the change of whoever takes it away.
func (r *Room) PutOff(ctx context.Context, tx *db.Tx, name string) error {
	_, err := r.off(ctx, tx, wire.NameIn{Name: name})
	return err
}

// TakeAway removes an automation that is switched off and has no open runs.
func (r *Room) TakeAway(ctx context.Context, tx *db.Tx, name string) error {
	_, err := r.remove(ctx, tx, wire.NameIn{Name: name})
	return err
}
