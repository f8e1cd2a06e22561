package source

import (
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/source/wire"
)

// Bounds of what a tenant binds.
const (
	maxBindings = 100
	maxEvery    = 7 * 24 * 60
	maxReason   = 1000
	maxFolder   = 4096
)

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func bad(format string, args ...any) *fault.Error {
	return fault.New(fault.Invalid, "source", format, args...)
}

// at is what policy calls a source.
func at(name string) op.Resource { return op.Resource{Kind: "source", Path: "/" + name} }

func named(in wire.NameIn) op.Resource { return at(in.Name) }

// place is a folder as policy speaks of it, where its links lead.
func place(folder string) op.Resource {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	return op.Resource{Kind: "folder", Path: "/" + strings.Trim(filepath.ToSlash(filepath.Clean(folder)), "/")}
}

func checkFolder(folder string) error {
	if !filepath.IsAbs(folder) || len(folder) > maxFolder || !utf8.ValidString(folder) || strings.ContainsRune(folder, 0) {
		return bad("a folder is an absolute path of this machine, not %.100q", folder)
	}
	return nil
}

// add binds a folder or a repository. It begins paused: what an import would bring is looked at first.
func (r *Room) add(ctx context.Context, tx *db.Tx, in wire.AddIn) (wire.Source, error) {
	c := op.CallerFrom(ctx)
	switch {
	case !nameForm.MatchString(in.Name):
		return wire.Source{}, bad("%.64q is no name for a source", in.Name).
			WithNext("a name has letters, digits, dots, hyphens and underscores, at most 64")
	case in.Every < 0 || in.Every > maxEvery:
		return wire.Source{}, bad("a source is looked at every 1 to %d minutes, or when somebody asks", maxEvery)
	}
	from, err := r.resolve(ctx, in.From)
	if err != nil {
		return wire.Source{}, err
	}
	known, err := load(tx, c.Tenant, in.Name)
	if err != nil {
		return wire.Source{}, err
	}
	if known != nil && known.State != wire.Revoked {
		return wire.Source{}, fault.New(fault.Conflict, "source", "there is a source %s already: %s", in.Name, known.Where()).
			WithNext("choose another name, or revoke it first: tandem source revoke %s", in.Name)
	}
	if known != nil { // what is left of the old one goes first
		return wire.Source{}, fault.New(fault.Conflict, "source", "%s was revoked, and what came from it is still being deleted", in.Name).
			WithNext("choose another name, or try again in a moment")
	}
	var all int
	if err := tx.QueryRow("SELECT count(*) FROM source WHERE tenant = ?", c.Tenant).Scan(&all); err != nil {
		return wire.Source{}, err
	}
	if all >= maxBindings {
		return wire.Source{}, fault.New(fault.Exhausted, "source", "there are %d sources already", all).
			WithNext("revoke one that nobody needs: tandem source list")
	}
	owner, err := json.Marshal(c.Later(op.DoorInside))
	if err != nil {
		return wire.Source{}, err
	}
	s := &binding{tenant: c.Tenant, owner: owner, home: r.Home, repoID: from.RepoID, connectorID: from.ConnectorID, Source: wire.Source{
		Name: in.Name, From: from.From, State: wire.Paused, Owner: c.Name, Every: in.Every, MadeAt: tx.Now()}}
	if s.origin, err = from.text(); err != nil {
		return wire.Source{}, err
	}
	if s.nr, err = number(tx, c.Tenant); err != nil {
		return wire.Source{}, err
	}
	op.Note(ctx, "from", from.Where())
	op.Row(ctx, s.seal(s.State))
	return s.Source, insert(tx, s)
}

// change loads a source that the caller may see, lets do change it, and stores it.
func (r *Room) change(ctx context.Context, tx *db.Tx, name string, do func(*binding) error) (wire.Source, error) {
	s, err := load(tx, op.CallerFrom(ctx).Tenant, name)
	if err != nil {
		return wire.Source{}, err
	}
	if s == nil || s.State == wire.Revoked {
		return wire.Source{}, op.NoSuch("source", name)
	}
	before, sound := s.vouched(ctx, r.Vouch)
	if err := do(s); err != nil {
		return wire.Source{}, err
	}
	switch now := s.seal(s.State); {
	case s.State == wire.Revoked:
		op.Seal(ctx, now.Subject) // from here on nothing vouches for it
	case !sound:
		return wire.Source{}, forged(name)
	case !slices.Equal(before.Says, now.Says):
		op.Row(ctx, now)
	}
	op.Note(ctx, "state", s.State)
	tx.AfterCommit(r.rouse)
	return s.Source, store(tx, s)
}

func (r *Room) pause(ctx context.Context, tx *db.Tx, in wire.NameIn) (wire.Source, error) {
	return r.change(ctx, tx, in.Name, func(s *binding) error {
		if s.State != wire.Active {
			return fault.New(fault.Conflict, "source", "%s is %s", s.Name, s.State).WithNext("see: tandem source show %s", s.Name)
		}
		s.State, s.Waiting = wire.Paused, false
		return nil
	})
}

// resume lets a source be imported, by a person who has looked at it.
func (r *Room) resume(ctx context.Context, tx *db.Tx, in wire.NameIn) (wire.Source, error) {
	if err := r.Reads.Works(); err != nil {
		return wire.Source{}, err
	}
	return r.change(ctx, tx, in.Name, func(s *binding) error {
		if s.State == wire.Active {
			return fault.New(fault.Conflict, "source", "%s is active already", s.Name).WithNext("import what changed: tandem source sync %s", s.Name)
		}
		s.accepted = s.State == wire.Quarantined
		s.State, s.Reason, s.Waiting = wire.Active, "", true
		return nil
	})
}

// sync asks for an import now.
func (r *Room) sync(ctx context.Context, tx *db.Tx, in wire.NameIn) (wire.Source, error) {
	return r.change(ctx, tx, in.Name, func(s *binding) error {
		if s.State != wire.Active {
			return fault.New(fault.Conflict, "source", "%s is %s, and nothing is imported", s.Name, s.State).
				WithNext("a person lets it go on: tandem source resume %s", s.Name)
		}
		s.Waiting = true
		return nil
	})
}

func (r *Room) quarantine(ctx context.Context, tx *db.Tx, in wire.ReasonIn) (wire.Source, error) {
	if len(in.Reason) > maxReason || !utf8.ValidString(in.Reason) {
		return wire.Source{}, bad("a reason has at most %d bytes", maxReason)
	}
	return r.change(ctx, tx, in.Name, func(s *binding) error {
		s.State, s.Waiting = wire.Quarantined, false
		if s.Reason = in.Reason; s.Reason == "" {
			s.Reason = "set by " + op.CallerFrom(ctx).Name
		}
		return nil
	})
}

// revoke takes what came from a source out of search in this very change. The rows go afterwards, some at a time.
func (r *Room) revoke(ctx context.Context, tx *db.Tx, in wire.NameIn) (wire.Source, error) {
	return r.change(ctx, tx, in.Name, func(s *binding) error {
		s.State, s.Waiting, s.Reason = wire.Revoked, false, ""
		return nil
	})
}
