package aside

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
	"tandem/internal/session/wire"
	"tandem/internal/tool/box"
)

// Work is something that an agent does in folders, and that may leave there what version control would run outside of its box later.
type Work struct {
	Tenant, Session, Turn string
	ID                    string // of the call, or of the session for as long as its program runs
}

// key tells a work from all others, for as long as this program runs.
func (w Work) key() string { return w.Tenant + "/" + w.ID }

// maxAside is how many files of one look are set aside each by itself. What is more is taken out all the same, and is gone.
const maxAside = 500

// Look notes what version control would run in folders before the work begins. box says what the program cannot change; nil is nothing.
// Work that was noted before keeps its first note.
func (r *Room) Look(ctx context.Context, w Work, folders []string, b *box.Box) error {
	r.begun.Store(w.key(), true)
	if b != nil { // a worktree's own part of a repository elsewhere is written, too: a rebase under way stands there
		folders = append(slices.Clone(folders), b.Parts()...)
	}
	for _, folder := range outermost(folders) {
		known, err := box.Look(folder, r.home.Person, r.home.Hidden...)
		if err != nil && !errors.Is(err, box.ErrTooMuch) {
			return fault.New(fault.Unavailable, "session", "%s cannot be looked through for what version control would run: %w", folder, err)
		}
		if b != nil {
			known.Holding(folder, *b)
		}
		if err := r.db.Write(ctx, func(tx *db.Tx) error {
			_, err := tx.Exec(`INSERT INTO session_look (tenant, work, session, folder, known, home) VALUES (?, ?, ?, ?, ?, ?)
				ON CONFLICT (tenant, work, folder) DO NOTHING`,
				w.Tenant, w.ID, w.Session, folder, encode(known), r.home.Server)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// outermost are the folders that lie in none of the others.
func outermost(folders []string) []string {
	var out []string
	for _, f := range folders {
		if !slices.ContainsFunc(folders, func(o string) bool { return o != f && box.Below(o, f) }) && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// Settle looks again, takes out of the folders what appeared since and would run later, and says what that was. The work goes on with
// what is there now, or is over.
func (r *Room) Settle(ctx context.Context, w Work, over bool) ([]*wire.Aside, error) {
	looks, err := r.looks(ctx, "tenant = ? AND work = ?", w.Tenant, w.ID)
	var out []*wire.Aside
	for _, l := range looks {
		list, again := r.settle(ctx, w, l, over)
		out, err = append(out, list...), errors.Join(err, again)
	}
	if over {
		r.begun.Delete(w.key())
	}
	return out, err
}

// SettleLeft settles calls that a crash cut off. Programs in terminals run on, and so do calls that began since.
func (r *Room) SettleLeft(ctx context.Context) error {
	looks, err := r.looks(ctx, "work <> session AND home = ?", r.home.Server)
	for _, l := range looks {
		w := Work{Tenant: l.tenant, Session: l.session, ID: l.work}
		if _, runs := r.begun.Load(w.key()); runs {
			continue
		}
		_, again := r.settle(ctx, w, l, true)
		err = errors.Join(err, again)
	}
	return err
}

type look struct {
	tenant, work, session, folder string
	known                         box.Known
}

func (r *Room) looks(ctx context.Context, where string, args ...any) ([]look, error) {
	rows, err := r.db.Query(ctx, "SELECT tenant, work, session, folder, known FROM session_look WHERE "+where+" ORDER BY folder", args...)
	return db.Collect(rows, err, func(rows *sql.Rows) (l look, err error) {
		var known string
		if err = rows.Scan(&l.tenant, &l.work, &l.session, &l.folder, &known); err == nil {
			err = decode(known, &l.known)
		}
		return l, err
	})
}

func (r *Room) settle(ctx context.Context, w Work, l look, over bool) ([]*wire.Aside, error) {
	now, err := box.Look(l.folder, r.home.Person, r.home.Hidden...)
	var left []box.Left
	switch {
	case errors.Is(err, fs.ErrNotExist): // the folder is gone, and what was in it
		over = true
	case err != nil && !errors.Is(err, box.ErrTooMuch):
		return nil, err
	default:
		left = now.Since(&l.known, l.folder)
	}
	out, stored := r.setAside(ctx, w, l, left)
	if stored != nil {
		return nil, stored
	}
	if errors.Is(err, box.ErrTooMuch) {
		note, stored := r.setAside(ctx, w, l, []box.Left{{Path: ".",
			What: "more files than can be looked through: look at hooks and configuration of repositories here before you use git",
			Part: box.Part{Sum: "much"}}})
		if stored != nil {
			return nil, stored
		}
		out = append(out, note...)
	}
	if err := box.SetAside(l.folder, left); err != nil {
		return out, fault.New(fault.Unavailable, "session", "what version control would run later could not be taken out of %s: %w", l.folder,
			err).
			WithNext("look at it before you use git there: tandem session set-aside list")
	}
	forget := func(tx *db.Tx) error {
		_, err := tx.Exec("DELETE FROM session_look WHERE tenant = ? AND work = ? AND folder = ?", l.tenant, l.work, l.folder)
		return err
	}
	if !over || op.Along(ctx, forget) {
		return out, nil
	}
	return out, r.db.Write(ctx, forget)
}

// setAside stores what was found before it is taken out: its content in a file of the data folder, what is known of it in a row and an
// event.
func (r *Room) setAside(ctx context.Context, w Work, l look, left []box.Left) ([]*wire.Aside, error) {
	if len(left) == 0 {
		return nil, nil
	}
	if err := os.MkdirAll(r.home.Folder, 0o700); err != nil {
		return nil, err
	}
	var out []*wire.Aside
	err := r.db.Write(ctx, func(tx *db.Tx) error {
		out = nil
		var told []map[string]string
		for i, f := range left {
			told = append(told, map[string]string{"path": f.Path, "what": f.What})
			if i >= maxAside {
				continue
			}
			var known int
			if err := tx.QueryRow("SELECT count(*) FROM session_aside WHERE tenant = ? AND folder = ? AND path = ? AND sum = ? AND state = ?",
				w.Tenant, l.folder, f.Path, f.Part.Sum, wire.AsidePending).Scan(&known); err != nil {
				return err
			}
			if known > 0 {
				continue // a crash came between storing it and taking it out
			}
			a := &wire.Aside{ID: id.New("asd"), Session: w.Session, Turn: w.Turn, Folder: l.folder, Path: f.Path, What: f.What,
				State: wire.AsidePending, Size: f.Part.Size, CreatedAt: tx.Now()}
			if f.Part.Data != nil {
				a.File = filepath.Join(r.home.Folder, a.ID)
				if err := os.WriteFile(a.File, f.Part.Data, 0o600); err != nil {
					return err
				}
			}
			if err := insert(tx, w.Tenant, a, f.Part); err != nil {
				return err
			}
			out = append(out, a)
		}
		payload := map[string]any{"folder": l.folder, "files": told[:min(len(told), maxAside)], "turn": w.Turn}
		if len(told) > maxAside {
			payload["more"] = len(told) - maxAside
		}
		return r.tell(tx, w, out, payload)
	})
	return out, err
}
