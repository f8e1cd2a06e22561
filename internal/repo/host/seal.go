package host

import (
	"context"
	"database/sql"
	"encoding/hex"
	"slices"
	"strconv"

	"tandem/internal/db"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/op"
)

// Whose a workspace or a bookmark is, who has leased a path, and what a person let past a lease is what rows say. So each counts only
// while the journal vouches for it. Workspaces and bookmarks last, and are asked about with every push that moves one; leases and what was
// let past them come and go, and are looked up.

// EventOwned is the event of workspaces and bookmarks that came with what was pushed, or went.
const EventOwned = "repo.owned"

func sealed(repo, kind, name, what string, says ...string) op.Sealed {
	return op.Sealed{Tenant: identity.LocalTenant, Subject: kind + ":" + repo + "/" + name, Says: says, What: what + " of " + repo}
}

func (o owner) seal(repo string) op.Sealed {
	return sealed(repo, "workspace", o.workspace, "that "+o.name+" has the workspace "+o.workspace, o.actor, o.name)
}

func (a author) seal(repo string, key refKey) op.Sealed {
	return sealed(repo, key.kind, key.name, "that "+a.name+" has the "+key.kind+" "+key.name, a.actor, a.name)
}

func (l Lease) seal(repo string) op.Sealed {
	return sealed(repo, "lease", l.ID, "the lease of "+l.Path+" by "+l.Holder,
		l.Path, l.Workspace, l.actor, l.Holder, strconv.FormatInt(db.Micros(l.Until), 10), strconv.FormatBool(l.Shared))
}

// passed is what a person let past a lease.
type passed struct{ lease, actor, path, content string }

func (p passed) seal(repo string) op.Sealed {
	digest := journal.Digest(p.actor, p.path, p.content)
	return sealed(repo, "crossing", p.lease+"/"+hex.EncodeToString(digest[:]),
		"that a change to "+p.path+" passes the lease "+p.lease, p.lease, p.actor, p.path, p.content)
}

// vouch tells of rows that are a caller's from now on, or nobody's any more, in the transaction that writes them.
func (h *Host) vouch(tx *db.Tx, s *served, by op.Caller, come []op.Sealed, gone ...op.Sealed) error {
	if h.Journal == nil || len(come)+len(gone) == 0 {
		return nil
	}
	said := map[string]any{}
	for word, rows := range map[string][]op.Sealed{"come": come, "gone": gone} {
		if len(rows) > 0 {
			said[word] = len(rows)
		}
	}
	for i := range gone {
		gone[i].Says = nil
	}
	if by.Name == "" {
		by.Name = identity.System
	}
	return h.Journal.Tell(tx, journal.Event{Tenant: identity.LocalTenant, Type: EventOwned, Phase: journal.Done, Actor: by.Name,
		For: by.For, Resource: repoAt(s.name).String()}, said, slices.Concat(come, gone)...)
}

// kept leaves out those rows for which no entry vouches, with one look-up for all.
func kept[T any](h *Host, tx *db.Tx, list []T, seal func(T) op.Sealed) ([]T, error) {
	if h.Journal == nil || len(list) == 0 {
		return list, nil
	}
	rows := make([]op.Sealed, len(list))
	for i, x := range list {
		rows[i] = seal(x)
	}
	held, err := h.Journal.KeptOf(tx, rows)
	if err != nil {
		return nil, err
	}
	out := list[:0]
	for i, x := range list {
		if held[i] {
			out = append(out, x)
		}
	}
	return out, nil
}

// view is one look at rows and at what the journal says of them.
func (h *Host) view(ctx context.Context, fn func(tx *db.Tx) error) error {
	if h.Journal == nil {
		return h.DB.Read(ctx, fn)
	}
	return h.Journal.View(ctx, fn)
}

// Rows are what the journal vouches for of repositories.
func Rows(ctx context.Context, d *db.DB) (out []op.Sealed, err error) {
	for _, of := range []struct {
		query string
		scan  func(r *sql.Rows) (op.Sealed, error)
	}{
		{"SELECT repo, name, actor, actor_name FROM repo_workspace", func(r *sql.Rows) (op.Sealed, error) {
			var repo string
			var o owner
			err := r.Scan(&repo, &o.workspace, &o.actor, &o.name)
			return o.seal(repo), err
		}},
		{"SELECT repo, kind, name, actor, actor_name FROM repo_ref", func(r *sql.Rows) (op.Sealed, error) {
			var repo string
			var key refKey
			var a author
			err := r.Scan(&repo, &key.kind, &key.name, &a.actor, &a.name)
			return a.seal(repo, key), err
		}},
		{"SELECT " + leaseColumns + ", repo FROM repo_lease", func(r *sql.Rows) (op.Sealed, error) {
			var repo string
			l, err := scanLeaseOf(r, &repo)
			return l.seal(repo), err
		}},
		{"SELECT repo, lease, actor, path, content FROM repo_crossing", func(r *sql.Rows) (op.Sealed, error) {
			var repo string
			var p passed
			err := r.Scan(&repo, &p.lease, &p.actor, &p.path, &p.content)
			return p.seal(repo), err
		}},
	} {
		rows, err := d.Query(ctx, of.query+" WHERE tenant = ?", identity.LocalTenant)
		some, err := db.Collect(rows, err, of.scan)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}
