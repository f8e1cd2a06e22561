package host

import (
	"context"
	"database/sql"
	"strings"

	"tandem/internal/db"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/repo"
)

// refKey is a bookmark or a tag.
type refKey struct{ kind, name string }

// refKinds are the refs of a view that people move.
func refKinds(v *repo.View) map[string]map[string]repo.RefTarget {
	return map[string]map[string]repo.RefTarget{"bookmark": v.Bookmarks, "tag": v.Tags}
}

// refOwners says whose bookmarks and tags are, as far as somebody pushed them.
func (h *Host) refOwners(ctx context.Context, s *served) (map[refKey]author, error) {
	type row struct {
		refKey
		author
	}
	rows, err := h.DB.Query(ctx, "SELECT kind, name, actor, actor_name FROM repo_ref WHERE tenant = ? AND repo = ?", identity.LocalTenant,
		s.id)
	list, err := db.Collect(rows, err, func(r *sql.Rows) (x row, err error) {
		err = r.Scan(&x.kind, &x.refKey.name, &x.actor, &x.author.name)
		return x, err
	})
	if err != nil {
		return nil, err
	}
	out := map[refKey]author{}
	for _, x := range list {
		x.author.forged = !h.says.Holds(ctx, x.author.seal(s.id, x.refKey))
		out[x.refKey] = x.author
	}
	return out, nil
}

// keepRefs gives new bookmarks and tags to those who made them, and forgets those
// that are gone.
func (h *Host) keepRefs(ctx context.Context, s *served, good []*waiting, merged *repo.View) error {
	come, gone := map[refKey]author{}, map[refKey]bool{}
	for _, w := range good {
		me := op.CallerFrom(w.ctx)
		for _, r := range w.loaded {
			for kind, was := range refKinds(w.was) {
				now, still := refKinds(r.View)[kind], refKinds(merged)[kind]
				for _, name := range union(was, now) {
					_, before := was[name]
					_, after := now[name]
					_, there := still[name]
					switch key := (refKey{kind, name}); {
					case after && !before && there:
						come[key] = author{actor: me.Actor, name: me.Name}
					case before && !after && !there:
						gone[key] = true
					}
				}
			}
		}
	}
	if len(come)+len(gone) == 0 {
		return nil
	}
	return h.DB.Write(ctx, func(tx *db.Tx) error {
		var rows, ended []op.Sealed
		for key := range gone {
			n, err := tx.Changed("DELETE FROM repo_ref WHERE tenant = ? AND repo = ? AND kind = ? AND name = ?", identity.LocalTenant, s.id,
				key.kind, key.name)
			if err != nil {
				return err
			}
			if seal := (author{}).seal(s.id, key); n > 0 || h.says.Knows(seal.Tenant, seal.Subject) {
				ended = append(ended, seal)
			}
		}
		for key, a := range come {
			if _, err := tx.Exec("INSERT INTO repo_ref (tenant, repo, kind, name, actor, actor_name) VALUES (?, ?, ?, ?, ?, ?) "+
				"ON CONFLICT (tenant, repo, kind, name) DO UPDATE SET actor = excluded.actor, actor_name = excluded.actor_name",
				identity.LocalTenant, s.id, key.kind, key.name, a.actor, a.name); err != nil {
				return err
			}
			rows = append(rows, a.seal(s.id, key))
		}
		return h.vouch(tx, s, op.CallerFrom(good[0].ctx), rows, ended...)
	})
}

// refOwner is whose a bookmark or tag is. One from before this was written down
// is of whoever made the change it stands on.
func (j *judgement) refOwner(key refKey, at repo.RefTarget) (a author, known bool, err error) {
	all, err := j.refsOf()
	if err != nil {
		return a, false, err
	}
	if a, known = all[key]; known || len(at) != 1 {
		return a, known, nil
	}
	if j.says.Knows(identity.LocalTenant, a.seal(j.s.id, key).Subject) { // its row is gone
		return author{forged: true}, true, nil
	}
	p, ok := j.r.Index.Pos(at[0])
	if !ok {
		return a, false, nil
	}
	a, known = j.s.authors.of[j.r.Index.ChangeID(p)]
	return a, known, nil
}

// mine says whether something is the caller's. What is the server's own, whoever
// works on its machine can change in its folder anyway.
func (j *judgement) mine(a author, known bool) bool {
	me := op.CallerFrom(j.ctx)
	if !known {
		return me.Here()
	}
	return a.actor == me.Actor && !a.forged
}

func whose(a author, known bool) string {
	if !known {
		return "the server's own"
	}
	if a.forged {
		return forged
	}
	return a.name + "'s"
}

// forged is whose something is that somebody gave away past tandem.
const forged = "nobody's now: whose it is was changed in the database, and not by tandem (see: tandem audit verify)"

// Bookmark is the commit at which a bookmark of a repository is as the caller of ctx may read it, "" where there is none. One in conflict
// is at all of its commits.
func (h *Host) Bookmark(ctx context.Context, name, bookmark string) (string, error) {
	s, err := h.find(ctx, name)
	if err != nil {
		return "", err
	}
	if !op.Allowed(ctx, "repo.read", repoAt(s.name)) {
		return "", op.NoSuch("repository", name)
	}
	v, _, _, err := s.view(ctx)
	if err != nil {
		return "", err
	}
	var at []string
	for _, id := range repo.TargetIDs(v.Bookmarks[bookmark]) {
		at = append(at, id.Hex())
	}
	return strings.Join(at, " "), nil
}
