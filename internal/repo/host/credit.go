package host

import (
	"context"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/repo"
)

// who is the actor behind an operation that was acknowledged: the one it names, which
// was compared when it first came, else the owner of its workspace.
func (b *returned) who(ctx context.Context, o *repo.Operation) (author, bool, error) {
	name := o.Meta.Attributes["tandem.actor"]
	if name == "" {
		if of, ok := b.owners[o.Meta.Workspace]; ok && !of.forged {
			return author{actor: of.actor, name: of.name}, true, nil
		}
		a, ok := b.places[o.Meta.Workspace]
		return a, ok, nil
	}
	if strings.Contains(name, ",") {
		return author{}, false, nil // a merge of several: what it rebased is somebody's already
	}
	if a, ok := b.by[name]; ok {
		return a, true, nil
	}
	a := author{name: name}
	var err error
	if a.actor, err = b.h.Actor(ctx, name); fault.Is(err, fault.NotFound) {
		// Made after the copy that this server was restored from. Its work is nobody
		// else's; a person may give it to whom they let in anew.
		a.actor, err = "gone:"+name, nil
	}
	b.by[name] = a
	return a, true, err
}

// credit gives the changes and workspaces that come back to those who made them.
func (b *returned) credit(ctx context.Context) error {
	if err := b.h.loadAuthors(ctx, b.s); err != nil {
		return err
	}
	b.out.Operations = len(b.ops)
	fresh := map[repo.ChangeID]author{}
	for _, o := range b.ops {
		a, ok, err := b.who(ctx, o)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if o.Meta.Username != serverUser {
			b.out.Of[a.name]++
		}
		if _, owned := b.owners[o.Meta.Workspace]; !owned && o.Meta.Workspace != "" && len(o.Parents) == 1 && o.Meta.Username != serverUser {
			if _, known := b.places[o.Meta.Workspace]; !known {
				b.places[o.Meta.Workspace] = a
			}
		}
		for id := range o.Predecessors {
			c, err := b.r.Store.Commit(ctx, id)
			if err != nil {
				return err
			}
			if _, known := b.s.authors.of[c.ChangeID]; known || len(b.current.Index.ChangePositions(c.ChangeID)) > 0 {
				continue
			}
			if _, taken := fresh[c.ChangeID]; !taken {
				fresh[c.ChangeID] = a
			}
		}
	}
	if err := b.h.storeAuthors(ctx, b.s, fresh); err != nil {
		return err
	}
	return b.h.DB.Write(ctx, func(tx *db.Tx) error {
		return b.h.give(tx, b.s, op.CallerFrom(ctx), b.placesIn(b.r.View))
	})
}

// placesIn are the workspaces of a view that come back, and whose they are.
func (b *returned) placesIn(v *repo.View) map[string]author {
	out := map[string]author{}
	for name, a := range b.places {
		if _, there := v.Workspaces[name]; there && name != repo.ServerWorkspace {
			out[name] = a
		}
	}
	return out
}

// keepRefs gives bookmarks and tags that came back to those who made them.
func (b *returned) keepRefs(ctx context.Context, merged *repo.View) error {
	older, now := refKinds(b.current.View), refKinds(merged)
	missing := map[refKey]bool{}
	for kind, refs := range now {
		for name := range refs {
			if _, there := older[kind][name]; !there {
				missing[refKey{kind, name}] = true
			}
		}
	}
	come := map[refKey]author{}
	for _, o := range b.ops {
		if len(come) == len(missing) {
			break
		}
		a, ok, err := b.who(ctx, o)
		if err != nil || !ok || o.Meta.Username == serverUser {
			if err != nil {
				return err
			}
			continue
		}
		v, err := b.s.store.View(ctx, o.View)
		if err != nil {
			return err
		}
		for key := range missing {
			if _, has := refKinds(v)[key.kind][key.name]; has {
				if _, known := come[key]; !known {
					come[key] = a
				}
			}
		}
	}
	if len(come) == 0 {
		return nil
	}
	return b.h.DB.Write(ctx, func(tx *db.Tx) error {
		var rows []op.Sealed
		for key, a := range come {
			n, err := tx.Changed("INSERT INTO repo_ref (tenant, repo, kind, name, actor, actor_name) "+
				"VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
				identity.LocalTenant, b.s.id, key.kind, key.name, a.actor, a.name)
			if err != nil {
				return err
			}
			if n > 0 {
				rows = append(rows, a.seal(b.s.id, key))
			}
		}
		return b.h.vouch(tx, b.s, op.CallerFrom(ctx), rows)
	})
}
