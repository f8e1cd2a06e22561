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

// author is whose a change is: of the one who first pushed it. A change that
// nobody pushed was made in the served folder, and is the server's own.
type author struct {
	actor, name string
	forged      bool // somebody wrote it past tandem
}

type authors struct{ of map[repo.ChangeID]author }

// loadAuthors reads whose the changes of a repository are, once.
func (h *Host) loadAuthors(ctx context.Context, s *served) error {
	if s.authors != nil {
		return nil
	}
	type row struct {
		change string
		author
	}
	rows, err := h.DB.Query(ctx, "SELECT change_id, actor, actor_name FROM repo_change WHERE tenant = ? AND repo = ?", identity.LocalTenant,
		s.id)
	list, err := db.Collect(rows, err, func(r *sql.Rows) (x row, err error) {
		err = r.Scan(&x.change, &x.actor, &x.name)
		return x, err
	})
	if err != nil {
		return err
	}
	a := &authors{of: map[repo.ChangeID]author{}}
	for _, x := range list {
		if id, ok := repo.ParseChangeID(x.change); ok {
			a.of[id] = x.author
		}
	}
	s.authors = a
	if err := h.recall(ctx, s); err != nil {
		s.authors = nil // the next push tries again
		return err
	}
	return nil
}

// keepAuthors gives changes that are new to those who push them.
func (h *Host) keepAuthors(ctx context.Context, s *served, current *repo.Repo, good []*waiting) error {
	fresh := map[repo.ChangeID]author{}
	for _, w := range good {
		me := op.CallerFrom(w.ctx)
		for _, change := range w.quarantine.Changes() {
			if _, known := s.authors.of[change]; known || len(current.Index.ChangePositions(change)) > 0 {
				continue
			}
			if _, taken := fresh[change]; !taken {
				fresh[change] = author{actor: me.Actor, name: me.Name}
			}
		}
	}
	return h.storeAuthors(ctx, s, fresh)
}

// storeAuthors writes down whose changes are.
func (h *Host) storeAuthors(ctx context.Context, s *served, fresh map[repo.ChangeID]author) error {
	if len(fresh) == 0 {
		return nil
	}
	err := h.DB.Write(ctx, func(tx *db.Tx) error {
		rest := make([]repo.ChangeID, 0, len(fresh))
		for change := range fresh {
			rest = append(rest, change)
		}
		for len(rest) > 0 {
			n := min(len(rest), 100)
			var args []any
			for _, change := range rest[:n] {
				args = append(args, identity.LocalTenant, s.id, change.String(), fresh[change].actor, fresh[change].name)
			}
			rest = rest[n:]
			if _, err := tx.Exec("INSERT INTO repo_change (tenant, repo, change_id, actor, actor_name) VALUES "+
				strings.TrimSuffix(strings.Repeat("(?, ?, ?, ?, ?), ", n), ", ")+" ON CONFLICT DO NOTHING", args...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for change, a := range fresh {
		s.authors.of[change] = a
	}
	return nil
}
