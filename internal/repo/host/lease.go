package host

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/identity"
	"tandem/internal/lease"
	"tandem/internal/op"
	"tandem/internal/repo"
)

// Lease is a path that a workspace has for itself for a while.
type Lease struct {
	ID        string    `json:"id"`
	Path      string    `json:"path"`
	Workspace string    `json:"workspace"`
	Holder    string    `json:"holder" jsonschema:"the actor whose workspace it is"`
	Until     time.Time `json:"until"`
	Shared    bool      `json:"shared,omitempty" jsonschema:"others may have a shared lease on it, too"`

	actor string
}

// String says whose it is and how long.
func (l Lease) String() string {
	how := "leased to"
	if l.Shared {
		how = "leased, shared, to"
	}
	return fmt.Sprintf("%s %s (workspace %s) until %s", how, l.Holder, l.Workspace, l.Until.Format("15:04 MST"))
}

// held says whether a caller's push out of a workspace is the holder's own. The
// name of a workspace alone proves nothing: it must be the caller's.
func (l Lease) held(me op.Caller, workspace string) bool {
	return l.Workspace == workspace && l.actor == me.Actor
}

// How long a lease may last.
const (
	defaultLease = time.Hour
	maxLease     = 8 * time.Hour
)

// LeaseIn leases a path to a workspace, or renews its lease.
type LeaseIn struct {
	Repo      string `json:"repo" jsonschema:"the repository, by name or id"`
	Workspace string `json:"workspace" jsonschema:"the workspace that is to have it: one of your own"`
	Path      string `json:"path" jsonschema:"a file or folder of the repository; * and ** stand for names and folders"`
	Minutes   int64  `json:"minutes,omitempty" jsonschema:"how long, 60 when left out, 480 at most"`
	Shared    bool   `json:"shared,omitempty" jsonschema:"others may lease it too, likewise shared; whoever has no lease on it stays off"`
}

// ReleaseIn gives a leased path free.
type ReleaseIn struct {
	Repo      string `json:"repo" jsonschema:"the repository, by name or id"`
	Workspace string `json:"workspace,omitempty" jsonschema:"the workspace that has it; whoever administers the repository may leave it out"`
	Path      string `json:"path" jsonschema:"the leased path"`
}

// LeasesOut are the leases of a repository.
type LeasesOut struct {
	Items []Lease `json:"items"`
}

// leases are the leases of a repository that have not run out.
func (h *Host) leases(ctx context.Context, s *served) ([]Lease, error) {
	const query = "SELECT " + leaseColumns + " FROM repo_lease WHERE tenant = ? AND repo = ? AND until > ? ORDER BY path, id"
	rows, err := h.DB.Query(ctx, query, identity.LocalTenant, s.id, h.DB.Now())
	out, err := db.Collect(rows, err, scanLease)
	if err != nil || len(out) == 0 { // most pushes meet none, and need no look at the journal
		return nil, err
	}
	err = h.view(ctx, func(tx *db.Tx) error {
		rows, err := tx.Query(query, identity.LocalTenant, s.id, h.DB.Now())
		if out, err = db.Collect(rows, err, scanLease); err == nil {
			out, err = kept(h, tx, out, func(l Lease) op.Sealed { return l.seal(s.id) })
		}
		return err
	})
	return out, err
}

const leaseColumns = "id, path, workspace, actor, actor_name, until, shared"

func scanLease(r *sql.Rows) (Lease, error) { return scanLeaseOf(r) }

func scanLeaseOf(r *sql.Rows, more ...any) (l Lease, err error) {
	var until, shared int64
	err = r.Scan(append([]any{&l.ID, &l.Path, &l.Workspace, &l.actor, &l.Holder, &until, &shared}, more...)...)
	l.Until, l.Shared = db.Time(until), shared != 0
	return l, err
}

func (h *Host) listLeases(ctx context.Context, in RepoIn) (LeasesOut, error) {
	s, err := h.find(ctx, in.Repo)
	if err != nil {
		return LeasesOut{}, err
	}
	list, err := h.leases(ctx, s)
	list = slices.DeleteFunc(list, func(l Lease) bool { return !s.tells(ctx, l.Path) })
	return LeasesOut{Items: append([]Lease{}, list...)}, err
}

// lease gives a workspace a path that nobody else has, nor a folder above or a
// file below it; a shared one, unless somebody else has it alone.
func (h *Host) lease(ctx context.Context, tx *db.Tx, in LeaseIn) (Lease, error) {
	s, err := h.find(ctx, in.Repo)
	if err != nil {
		return Lease{}, err
	}
	p, err := lease.Clean(in.Path)
	if err != nil {
		return Lease{}, err
	}
	life := time.Duration(in.Minutes) * time.Minute
	if in.Minutes == 0 {
		life = defaultLease
	}
	if life < 0 || life > maxLease {
		return Lease{}, fault.New(fault.Invalid, "repo.lease", "a lease lasts between a minute and %d hours", int(maxLease.Hours()))
	}
	if !s.takes(ctx, p) {
		return Lease{}, fault.New(fault.NotFound, "repo.lease", "there is no %s in %s for you to have to yourself", clip(p), s.name).
			WithNext("lease a file or folder by its name, of those that you see whole; or ask the server's owner for the right")
	}
	me := op.CallerFrom(ctx)
	l := Lease{ID: id.New("lease"), Path: p, Workspace: in.Workspace, Holder: me.Name, Until: tx.Now().Add(life), Shared: in.Shared,
		actor: me.Actor}
	if err := h.mayHold(ctx, tx, s, in.Workspace); err != nil {
		return Lease{}, err
	}
	if _, err := tx.Exec("DELETE FROM repo_lease WHERE tenant = ? AND repo = ? AND until <= ?", identity.LocalTenant, s.id,
		tx.Ended()); err != nil {
		return Lease{}, err
	}
	if _, err := tx.Exec("DELETE FROM repo_crossing WHERE tenant = ? AND repo = ? AND lease NOT IN "+
		"(SELECT id FROM repo_lease WHERE tenant = ? AND repo = ?)", identity.LocalTenant, s.id, identity.LocalTenant, s.id); err != nil {
		return Lease{}, err
	}
	rows, err := tx.Query("SELECT "+leaseColumns+" FROM repo_lease WHERE tenant = ? AND repo = ?"+tx.ForUpdate(),
		identity.LocalTenant, s.id)
	list, err := db.Collect(rows, err, scanLease)
	if err != nil {
		return Lease{}, err
	}
	list, err = kept(h, tx, list, func(l Lease) op.Sealed { return l.seal(s.id) })
	if err != nil {
		return Lease{}, err
	}
	for _, o := range list {
		if !o.held(me, in.Workspace) {
			// What lies in a place that is kept from the caller is not told, not even by being in the way (see ground).
			if !(o.Shared && in.Shared) && lease.Overlap(o.Path, p) && s.within(ctx, o.Path) {
				if !s.tells(ctx, o.Path) {
					return Lease{}, fault.New(fault.Conflict, "repo.lease", "part of %s is %s", p, o).With("holder", o.Holder).
						WithNext("lease less of it, or wait until then")
				}
				return Lease{}, fault.New(fault.Conflict, "repo.lease", "%s is %s", o.Path, o).With("holder", o.Holder).
					WithNext("ask %s to release it (tandem repo release %s), or work on something else meanwhile", o.Holder, o.Path)
			}
		} else if o.Path == p {
			l.ID = o.ID
		}
	}
	shared := 0
	if l.Shared {
		shared = 1
	}
	op.Row(ctx, l.seal(s.id))
	_, err = tx.Exec(`INSERT INTO repo_lease (tenant, repo, id, path, workspace, actor, actor_name, until, shared)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, repo, id) DO UPDATE SET until = excluded.until, shared = excluded.shared`,
		identity.LocalTenant, s.id, l.ID, l.Path, l.Workspace, l.actor, l.Holder, db.Micros(l.Until), shared)
	return l, err
}

// mayHold refuses a workspace that is not the caller's: the lease would be its
// owner's.
func (h *Host) mayHold(ctx context.Context, tx *db.Tx, s *served, workspace string) error {
	o, there, err := h.workspaceOf(tx, s, workspace)
	switch {
	case err != nil:
		return err
	case o.forged:
		return fault.New(fault.Denied, "repo.lease", "the workspace %q is %s", clip(workspace), forged).
			WithNext("make another one: tandem init")
	case !there && workspace == repo.ServerWorkspace && op.May(ctx, "repo.admin", repoAt(s.name)):
		return nil
	case !there:
		return fault.New(fault.NotFound, "repo.lease", "there is no workspace %q of yours in %s", clip(workspace), s.name).
			WithNext("make one: tandem init; who works where: tandem repo workspaces")
	case o.actor != op.CallerFrom(ctx).Actor:
		return fault.New(fault.Denied, "repo.lease", "the workspace %q is %s's", clip(workspace), o.name).
			WithNext("lease it from a workspace of your own: tandem repo lease PATH")
	}
	return nil
}

func (h *Host) release(ctx context.Context, tx *db.Tx, in ReleaseIn) (Lease, error) {
	s, err := h.find(ctx, in.Repo)
	if err != nil {
		return Lease{}, err
	}
	p, err := lease.Clean(in.Path)
	if err != nil {
		return Lease{}, err
	}
	rows, err := tx.Query("SELECT "+leaseColumns+" FROM repo_lease WHERE tenant = ? AND repo = ? AND path = ? AND until > ?",
		identity.LocalTenant, s.id, p, tx.Now())
	list, err := db.Collect(rows, err, scanLease)
	if err != nil {
		return Lease{}, err
	}
	i := slices.IndexFunc(list, func(l Lease) bool {
		return l.held(op.CallerFrom(ctx), in.Workspace) || in.Workspace == "" && op.May(ctx, "repo.admin", repoAt(s.name))
	})
	if i < 0 {
		list = slices.DeleteFunc(list, func(l Lease) bool { return !s.tells(ctx, l.Path) })
		held := "nobody has leased it"
		if len(list) > 0 {
			held = "it is " + list[0].String()
		}
		if len(list) > 0 && in.Workspace == "" {
			return Lease{}, fault.New(fault.Denied, "repo.release", "%s is %s: ending another's lease needs a person who is present", p, list[0]).
				With("presence", "required").WithNext("ask a person to do it: on a terminal with the PIN, or in the panel with a passkey")
		}
		return Lease{}, fault.New(fault.NotFound, "repo.release", "you hold no lease on %s: %s", p, held).
			WithNext("see who does: tandem repo lease")
	}
	ended := list[i : i+1]
	if in.Workspace == "" {
		ended = list // of a shared one, all that share in it
	}
	for _, l := range ended {
		op.Seal(ctx, l.seal(s.id).Subject)
		for _, table := range []string{"repo_lease WHERE id", "repo_crossing WHERE lease"} {
			if _, err := tx.Exec("DELETE FROM "+table+" = ? AND tenant = ? AND repo = ?", l.ID, identity.LocalTenant, s.id); err != nil {
				return Lease{}, err
			}
		}
	}
	return list[i], nil
}

// ground are the leases that a push meets: those of its own workspace, and those that it must not cross. It matches what is leased to
// others; where a folder may hold some of it, it is looked into.
type ground struct{ own, others []Lease }

// crossed are the leases of others that a path falls under. Who shares in it is not held up, and who has leased something in a place that
// the other one does not see, so that it was not in the way, works on it as before.
func (g ground) crossed(p repo.Path) []Lease {
	var out []Lease
	for _, l := range g.others {
		mine := func(own Lease) bool {
			return lease.Covers(own.Path, string(p)) && (own.Shared && l.Shared || lease.Covers(l.Path, own.Path))
		}
		if lease.Covers(l.Path, string(p)) && !slices.ContainsFunc(g.own, mine) {
			out = append(out, l)
		}
	}
	return out
}

// Match says whether a change to a file would cross a lease.
func (g ground) Match(p repo.Path) bool { return len(g.crossed(p)) > 0 }

// Visit says whether a folder may hold something that is leased.
func (g ground) Visit(dir repo.Path) bool {
	folder := strings.TrimSuffix(string(dir), "/")
	return folder == "" || slices.ContainsFunc(g.others, func(l Lease) bool { return lease.Overlap(l.Path, folder) })
}
