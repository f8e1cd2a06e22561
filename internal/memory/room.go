package memory

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
)

// Room is the service behind the operations of memory.
type Room struct {
	db      *db.DB
	meaning *meaning
	engines *engines
	pointer chan struct{} // there may be something for a model to see
	// Models makes vectors by models that people choose.
	Models Models
	// Rooms is through which the documents of sources are searched, as who asks; nil for none.
	Rooms op.Invoker
	// Forgot is told that something was forgotten, so that it goes from the file as well.
	Forgot func()
}

// New makes the room over an open database.
func New(d *db.DB) *Room {
	return &Room{db: d, meaning: newMeaning(), engines: newEngines(), pointer: make(chan struct{}, 1)}
}

func (r *Room) outside(ctx context.Context) outside { return outside{ctx, r.db} }

// seen is the record of an id as its caller may see it, for who changes it.
func seen(ctx context.Context, tx *db.Tx, id string) (*row, error) {
	rec, err := load(tx, op.CallerFrom(ctx).Tenant, id)
	if err == nil && (rec == nil || !sees(ctx, rec)) {
		err = op.NoSuch("memory", id)
	}
	return rec, err
}

// trusted is the least trust of the records among the sources. One that was forgotten vouches for nothing.
func trusted(ctx context.Context, tx *db.Tx, trust wire.Trust, sources []wire.Source) (wire.Trust, error) {
	for _, s := range sources {
		if s.Kind != wire.FromMemory {
			continue
		}
		if s.Ref == imported {
			trust = wire.Untrusted
			continue
		}
		rec, err := find(tx, op.CallerFrom(ctx).Tenant, s.Ref, "")
		if err != nil {
			return trust, err
		}
		if rec == nil || !sees(ctx, rec) {
			return trust, op.NoSuch("memory", s.Ref)
		}
		if rec.State == wire.Forgotten {
			trust = wire.Untrusted
		}
		trust = least(trust, rec.Trust)
	}
	return trust, nil
}

func changed(ctx context.Context, r *row) wire.Changed {
	op.Note(ctx, "id", r.ID)
	op.Note(ctx, "version", r.Version)
	return wire.Changed{ID: r.ID, State: r.State, Tier: r.Tier, Of: r.Of, Trust: r.Trust, Version: r.Version}
}

func conflict(format string, args ...any) *fault.Error {
	return fault.New(fault.Conflict, "memory", format, args...)
}

// atVersion refuses a change of what was changed since somebody read it.
func atVersion(r *row, version int64) error {
	if version != 0 && version != r.Version {
		return conflict("%s is at version %d, not %d", r.ID, r.Version, version).WithNext("read it again: tandem memory show %s", r.ID)
	}
	return nil
}
