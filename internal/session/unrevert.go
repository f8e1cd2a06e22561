package session

import (
	"bytes"
	"context"
	"database/sql"
	"slices"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/tool"
)

// undone is a file that was taken back: what it held before that, and what taking back left there.
type undone struct {
	path      string
	was, left held
}

// held is what is at a place: a content, or no file.
type held struct {
	existed bool
	content []byte
}

func (h held) same(o held) bool { return h.existed == o.existed && bytes.Equal(h.content, o.content) }

// largestUndone is how much of a file is kept to bring it back; tools read and write no larger ones.
const largestUndone = 64 << 20

func heldAt(p tool.Place) (held, error) {
	content, err := p.ReadFile(largestUndone)
	switch {
	case fault.Is(err, fault.NotFound):
		return held{content: []byte{}}, nil
	case err != nil:
		return held{}, err
	}
	return held{true, content}, nil
}

// keepUndone remembers, before files are taken back, what they hold and what they will hold: the oldest content of each path, as files
// come with the newest change first. What an earlier taking back has kept stays; bringing back brings all of it.
func (r *Room) keepUndone(ctx context.Context, s *Session, files []keptFile, places []tool.Place) error {
	var all []undone
	for i, f := range files {
		left := held{f.existed, f.content}
		if !f.existed {
			left.content = []byte{}
		}
		if at := slices.IndexFunc(all, func(u undone) bool { return u.path == f.path }); at >= 0 {
			all[at].left = left
			continue
		}
		was, err := heldAt(places[i])
		if err != nil {
			return err
		}
		all = append(all, undone{f.path, was, left})
	}
	return r.db.Write(ctx, func(tx *db.Tx) error {
		if s.Reverted == "" { // of one that broke off, or that the conversation went on from
			if err := dropUndone(tx, s); err != nil {
				return err
			}
		}
		for _, u := range all {
			if _, err := tx.Exec(`INSERT INTO session_undone (tenant, session, path, existed, content, left_existed, left_content)
				VALUES (?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT (tenant, session, path) DO UPDATE SET left_existed = excluded.left_existed, left_content = excluded.left_content`,
				s.Tenant, s.ID, u.path, u.was.existed, u.was.content, u.left.existed, u.left.content); err != nil {
				return err
			}
		}
		return nil
	})
}

func dropUndone(tx *db.Tx, s *Session) error {
	_, err := tx.Exec("DELETE FROM session_undone WHERE tenant = ? AND session = ?", s.Tenant, s.ID)
	return err
}

func (r *Room) undone(ctx context.Context, s *Session) ([]undone, error) {
	rows, err := r.db.Query(ctx, "SELECT path, existed, content, left_existed, left_content FROM session_undone WHERE tenant = ? AND "+
		"session = ? ORDER BY path", s.Tenant, s.ID)
	return db.Collect(rows, err, func(rows *sql.Rows) (u undone, err error) {
		var was, left int64
		err = rows.Scan(&u.path, &was, &u.was.content, &left, &u.left.content)
		u.was.existed, u.left.existed = was != 0, left != 0
		return u, err
	})
}

// unrevertOp brings back what was taken back: the files, then the messages. A file that somebody changed meanwhile stays as it is, and
// is named.
func (r *Room) unrevertOp(ctx context.Context, in IDIn) (RevertOut, error) {
	out := RevertOut{Reverted: Reverted{Files: []string{}}}
	caller := op.CallerFrom(ctx)
	s, err := r.Get(ctx, caller.Tenant, in.ID)
	if err != nil {
		return out, err
	}
	if err := s.DrivenBy(caller); err != nil {
		return out, err
	}
	if s.Reverted == "" {
		return out, fault.New(fault.Conflict, "session.unrevert", "nothing was taken back")
	}
	files, err := r.undone(ctx, s)
	if err != nil {
		return out, err
	}
	places, err := r.placesOf(ctx, s, files)
	if err != nil {
		return out, err
	}
	for i, u := range files {
		now, err := heldAt(places[i])
		if err != nil {
			return out, err
		}
		switch {
		case now.same(u.was): // it is there already
		case !now.same(u.left):
			out.Left = append(out.Left, u.path)
			continue
		default:
			if err := (keptFile{existed: u.was.existed, content: u.was.content}).restore(places[i]); err != nil {
				return out, err
			}
		}
		out.Files = append(out.Files, u.path)
	}
	err = r.db.Write(ctx, func(tx *db.Tx) error {
		_, err := r.change(tx, caller.Tenant, in.ID, func(s *Session) error {
			if s.Reverted == "" {
				return fault.New(fault.Conflict, "session.unrevert", "the conversation went on meanwhile").
					WithNext("look at it: tandem session show %s", s.ID)
			}
			if err := r.unrevert(tx, s, true); err != nil {
				return err
			}
			return tell(tx, s, "", EventReverted, Reverted{Files: out.Files})
		})
		return err
	})
	out.OK = err == nil
	return out, err
}

// placesOf finds where files go, as the caller may see and change them.
func (r *Room) placesOf(ctx context.Context, s *Session, files []undone) ([]tool.Place, error) {
	scope, err := r.Scope(ctx, s)
	if err != nil {
		return nil, err
	}
	if scope, err = r.seeing(ctx, scope, ""); err != nil {
		return nil, err
	}
	paths := make([]keptFile, len(files))
	for i, u := range files {
		paths[i].path = u.path
	}
	return restorable(scope, s.Directory, paths)
}
