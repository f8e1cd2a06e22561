package host

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/repo"
)

// owner is whose a workspace is.
type owner struct {
	workspace    string
	actor, name  string
	created, see int64
	forged       bool // somebody wrote it past tandem
}

// workspaceOf is whose a workspace is, as its row says and the journal vouches for.
func (h *Host) workspaceOf(tx *db.Tx, s *served, name string) (o owner, there bool, err error) {
	o.workspace = name
	err = tx.QueryRow("SELECT actor, actor_name FROM repo_workspace WHERE tenant = ? AND repo = ? AND name = ?", identity.LocalTenant, s.id,
		name).Scan(&o.actor, &o.name)
	if there = err == nil; there {
		o.forged = !h.says.Holds(tx.Context(), o.seal(s.id))
	} else if db.NoRows(err) {
		err, o.forged = nil, h.says.Knows(identity.LocalTenant, o.seal(s.id).Subject)
	}
	return o, there, err
}

// give makes workspaces those of whom they are named with, where they are nobody's yet.
func (h *Host) give(tx *db.Tx, s *served, by op.Caller, to map[string]author) error {
	var come []op.Sealed
	for name, a := range to {
		o, there, err := h.workspaceOf(tx, s, name)
		if err != nil {
			return err
		}
		if there && !o.forged {
			continue
		}
		o.actor, o.name = a.actor, a.name
		if _, err := tx.Exec("INSERT INTO repo_workspace (tenant, repo, name, actor, actor_name, created_at, seen_at) "+
			"VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, repo, name) DO UPDATE "+
			"SET actor = excluded.actor, actor_name = excluded.actor_name",
			identity.LocalTenant, s.id, name, a.actor, a.name, tx.Now(), tx.Now()); err != nil {
			return err
		}
		come = append(come, o.seal(s.id))
	}
	return h.vouch(tx, s, by, come)
}

// owners are the claimed workspaces of a repository.
func (h *Host) owners(ctx context.Context, s *served) (map[string]owner, error) {
	rows, err := h.DB.Query(ctx, "SELECT name, actor, actor_name, created_at, seen_at FROM repo_workspace WHERE tenant = ? AND repo = ?",
		identity.LocalTenant, s.id)
	list, err := db.Collect(rows, err, func(r *sql.Rows) (o owner, err error) {
		err = r.Scan(&o.workspace, &o.actor, &o.name, &o.created, &o.see)
		return o, err
	})
	if err != nil {
		return nil, err
	}
	out := map[string]owner{}
	for _, o := range list {
		o.forged = !h.says.Holds(ctx, o.seal(s.id))
		out[o.workspace] = o
	}
	return out, nil
}

// moveOwners has the journal vouch by the repository's id for workspaces that it vouched for by the repository's name.
func (h *Host) moveOwners(tx *db.Tx, s *served) error {
	rows, err := tx.Query("SELECT name, actor, actor_name FROM repo_workspace WHERE tenant = ? AND repo = ?", identity.LocalTenant, s.name)
	list, err := db.Collect(rows, err, func(r *sql.Rows) (o owner, err error) {
		err = r.Scan(&o.workspace, &o.actor, &o.name)
		return o, err
	})
	var come, gone []op.Sealed
	for _, o := range list {
		if was := o.seal(s.name); h.says.Holds(tx.Context(), was) {
			come, gone = append(come, o.seal(s.id)), append(gone, was)
		}
	}
	if err != nil {
		return err
	}
	return h.vouch(tx, s, op.Caller{}, come, gone...)
}

// keepOwners gives new workspaces to those who made them and forgets those that
// are gone.
func (h *Host) keepOwners(ctx context.Context, s *served, good []*waiting, merged *repo.View) error {
	come := map[string]op.Caller{}
	var gone []string
	for _, w := range good {
		for _, r := range w.loaded {
			for _, name := range union(w.was.Workspaces, r.View.Workspaces) {
				_, before := w.was.Workspaces[name]
				_, after := r.View.Workspaces[name]
				_, still := merged.Workspaces[name]
				switch {
				case after && !before && still:
					come[name] = op.CallerFrom(w.ctx)
				case before && !after && !still:
					gone = append(gone, name)
				}
			}
		}
	}
	if len(come)+len(gone) == 0 {
		return nil
	}
	return h.DB.Write(ctx, func(tx *db.Tx) error {
		for name, me := range come {
			if err := h.give(tx, s, me, map[string]author{name: {actor: me.Actor, name: me.Name}}); err != nil {
				return err
			}
		}
		var ended []op.Sealed
		slices.Sort(gone)
		for _, name := range slices.Compact(gone) {
			n, err := tx.Changed("DELETE FROM repo_workspace WHERE tenant = ? AND repo = ? AND name = ?", identity.LocalTenant, s.id, name)
			if err != nil {
				return err
			}
			if seal := (owner{workspace: name}).seal(s.id); n > 0 || h.says.Knows(seal.Tenant, seal.Subject) {
				ended = append(ended, seal)
			}
		}
		return h.vouch(tx, s, op.CallerFrom(good[0].ctx), nil, ended...)
	})
}

// ClaimIn asks for a workspace.
type ClaimIn struct {
	Repo string `json:"repo" jsonschema:"the repository, by name or id"`
	Name string `json:"name,omitempty" jsonschema:"how it should be called; default when left out. A name that is taken gets a number"`
}

// ClaimOut is the workspace that is yours.
type ClaimOut struct {
	Name string `json:"name"`
}

const maxWorkspaceName = 64

// Check refuses names that no workspace can have.
func (in ClaimIn) Check() error {
	if len(in.Name) > maxWorkspaceName {
		return fault.New(fault.Invalid, "workspace.claim", "a workspace's name has at most %d bytes", maxWorkspaceName)
	}
	for _, c := range in.Name {
		if c < ' ' || c == '@' || c == '/' || c == '\\' || c == 0x7f {
			return fault.New(fault.Invalid, "workspace.claim", "a workspace cannot be called %q", in.Name).WithNext("use letters, digits, - and _")
		}
	}
	return nil
}

// claim reserves a name that nobody has.
func (h *Host) claim(ctx context.Context, tx *db.Tx, in ClaimIn) (ClaimOut, error) {
	s, err := h.find(ctx, in.Repo)
	if err != nil {
		return ClaimOut{}, err
	}
	if s.store.Shallow() {
		return ClaimOut{}, fault.New(fault.Conflict, "workspace.claim",
			"%s is a shallow clone of git: its older commits are not on the server, so nobody else can have a copy of it", s.name).
			WithNext("on the server, bring them: git -C %s fetch --unshallow; then: tandem up --replace", s.root)
	}
	if in.Name == "" {
		in.Name = repo.DefaultWorkspace
	}
	head, _, _ := s.now()
	o, err := s.store.Operation(ctx, head)
	if err != nil {
		return ClaimOut{}, err
	}
	view, err := s.store.View(ctx, o.View)
	if err != nil {
		return ClaimOut{}, err
	}
	me := op.CallerFrom(ctx)
	name := in.Name
	for n := 2; ; n++ {
		_, taken := view.Workspaces[name]
		o := owner{workspace: name, actor: me.Actor, name: me.Name}
		// one whose row is gone is somebody's all the same
		if !taken && name != repo.ServerWorkspace && !h.says.Knows(identity.LocalTenant, o.seal(s.id).Subject) {
			res, err := tx.Exec("INSERT INTO repo_workspace (tenant, repo, name, actor, actor_name, created_at, seen_at) "+
				"VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
				identity.LocalTenant, s.id, name, me.Actor, me.Name, tx.Now(), tx.Now())
			if err != nil {
				return ClaimOut{}, err
			}
			if made, err := res.RowsAffected(); err != nil {
				return ClaimOut{}, err
			} else if made == 1 {
				op.Note(ctx, "workspace", name)
				op.Row(ctx, o.seal(s.id))
				return ClaimOut{Name: name}, nil
			}
		}
		if n > 10000 {
			return ClaimOut{}, fault.New(fault.Exhausted, "workspace.claim", "there are too many workspaces called %q", in.Name)
		}
		name = fmt.Sprintf("%s-%d", in.Name, n)
	}
}
