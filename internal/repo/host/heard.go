package host

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"tandem/internal/db"
	"tandem/internal/id"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/repo/exchange"
)

// wordsFor is how long a workspace that is away finds what was said to it.
const wordsFor = 7 * 24 * time.Hour

// tellHolders says to those who lease files what somebody else did with them, or
// wants to. One deed is told once, however often it is tried. That it could not be
// told stops nobody: the journal has it.
func (h *Host) tellHolders(ctx context.Context, s *served, files []CrossFile, workspace, deed string) {
	me := op.CallerFrom(ctx)
	told := false
	err := h.DB.Write(ctx, func(tx *db.Tx) error {
		told = false
		if _, err := tx.Exec("DELETE FROM repo_heard WHERE tenant = ? AND repo = ? AND at < ?", identity.LocalTenant, s.id,
			tx.Now().Add(-wordsFor)); err != nil {
			return err
		}
		for _, f := range files {
			text := fmt.Sprintf("%s, which you lease, is to be changed by %s in the workspace %s: a person is asked", f.Path, me.Name, workspace)
			if deed == "changed" {
				text = fmt.Sprintf("%s, which you lease, was changed by %s in the workspace %s with a person's approval", f.Path, me.Name, workspace)
			}
			n, err := tx.Changed("INSERT INTO repo_heard (tenant, repo, id, workspace, mark, text, at) VALUES (?, ?, ?, ?, ?, ?, ?) "+
				"ON CONFLICT DO NOTHING",
				identity.LocalTenant, s.id, id.New("word"), f.of.Workspace, deed+" "+f.Lease+" "+me.Actor+" "+f.Path+" "+f.Content, text, tx.Now())
			if err != nil {
				return err
			}
			told = told || n > 0
		}
		return nil
	})
	if err != nil {
		h.Log.Error("tell who leases a file", "repo", s.name, "err", err)
	}
	if told {
		s.stir()
	}
}

// stir has those who watch ask again, though the head is where it was: something
// is to be heard.
func (s *served) stir() {
	s.state.Lock()
	defer s.state.Unlock()
	s.bump(s.version + 1)
}

// heard is what was said to a workspace of the caller's after the last word that
// it knows.
func (h *Host) heard(ctx context.Context, s *served, workspace, after string) ([]exchange.Word, error) {
	o := owner{workspace: workspace}
	rows, err := h.DB.Query(ctx, `SELECT h.id, h.text, w.actor, w.actor_name FROM repo_heard h
		JOIN repo_workspace w ON w.tenant = h.tenant AND w.repo = h.repo AND w.name = h.workspace
		WHERE h.tenant = ? AND h.repo = ? AND h.workspace = ? AND h.id > ? AND w.actor = ? ORDER BY h.id LIMIT 50`,
		identity.LocalTenant, s.id, workspace, after, op.CallerFrom(ctx).Actor)
	out, err := db.Collect(rows, err, func(r *sql.Rows) (w exchange.Word, err error) {
		err = r.Scan(&w.ID, &w.Text, &o.actor, &o.name)
		return w, err
	})
	if len(out) > 0 && !h.says.Holds(ctx, o.seal(s.id)) {
		return nil, nil // the row was changed: it is not the caller's
	}
	return out, err
}
