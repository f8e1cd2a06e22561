package session

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/op"
	"tandem/internal/session/since"
	"tandem/internal/tool"
)

// apart are the files that are never looked at for a session's changes: those that may hold keys, and tandem's own.
func (r *Room) apart(path string) bool {
	return tool.Sensitive(path) || slices.ContainsFunc(r.Hidden, func(h string) bool { return within(h, path) })
}

// Begun remembers what a session's folder holds before the session changes anything, once. A session that moved to another folder begins
// anew there.
func (r *Room) Begun(ctx context.Context, s *Session) error {
	if s.Directory == "" {
		return nil
	}
	var folder string
	err := r.db.QueryRow(ctx, "SELECT folder FROM session_base WHERE tenant = ? AND session = ?", s.Tenant, s.ID).Scan(&folder)
	if err == nil && folder == s.Directory || err != nil && !db.NoRows(err) {
		return err
	}
	if s.Driver == DriverModel { // without a granted folder it changes nothing
		if all, err := r.granted(ctx, outside{ctx, r.db}, s.Tenant); err != nil || len(holding(all, s.Directory)) == 0 {
			return err
		}
	}
	base, err := since.Look(ctx, s.Directory, nil, r.apart)
	if err != nil {
		return err
	}
	kept, err := base.Kept(ctx)
	if err != nil {
		return err
	}
	var body bytes.Buffer
	z, err := flate.NewWriter(&body, flate.BestSpeed)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(z).Encode(base); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return r.db.Write(ctx, func(tx *db.Tx) error {
		if err := dropBase(tx, s.Tenant, s.ID); err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO session_base (tenant, session, folder, body, at) VALUES (?, ?, ?, ?, ?)", s.Tenant, s.ID, s.Directory,
			body.Bytes(), tx.Now()); err != nil {
			return err
		}
		for hash, content := range kept {
			if content == nil {
				content = []byte{}
			}
			if _, err := tx.Exec("INSERT INTO session_base_file (tenant, session, hash, content) VALUES (?, ?, ?, ?)", s.Tenant, s.ID, hash,
				content); err != nil {
				return err
			}
		}
		return nil
	})
}

// Mark notes how a folder stands, for telling at the end of a turn what changed in it.
func (r *Room) Mark(ctx context.Context, folder string) (*since.Marks, error) {
	return since.Mark(ctx, folder, r.apart)
}

func dropBase(tx *db.Tx, tenant, session string) error {
	for _, table := range []string{"session_base", "session_base_file"} {
		if _, err := tx.Exec("DELETE FROM "+table+" WHERE tenant = ? AND session = ?", tenant, session); err != nil {
			return err
		}
	}
	return nil
}

// base is what a session's folder held when it began; nil for a session that never did.
func (r *Room) base(ctx context.Context, s *Session) (*since.Base, error) {
	var body []byte
	err := r.db.QueryRow(ctx, "SELECT body FROM session_base WHERE tenant = ? AND session = ?", s.Tenant, s.ID).Scan(&body)
	if db.NoRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var b since.Base
	return &b, json.NewDecoder(io.LimitReader(flate.NewReader(bytes.NewReader(body)), 64<<20)).Decode(&b)
}

// diff is what changed in a session's folder since it began, whoever changed it, and what its tools changed elsewhere.
func (r *Room) diff(ctx context.Context, in IDIn) (DiffOut, error) {
	out := DiffOut{Files: []string{}}
	s, err := r.get(ctx, in)
	if err != nil {
		return out, err
	}
	sees := func(path string) bool { return op.Sees(ctx, path) }
	base, err := r.base(ctx, s)
	if err != nil {
		return out, err
	}
	folder := ""
	if base == nil && s.messages > 0 {
		all, err := r.granted(ctx, outside{ctx, r.db}, s.Tenant)
		if err != nil {
			return out, err
		}
		if len(holding(all, s.Directory)) > 0 {
			out.Note = "how " + s.Directory + " stood when the session began is not known: what commands changed there cannot be told"
		}
	}
	if base != nil {
		folder = base.Folder
		if err := r.changed(ctx, s, base, sees, &out); err != nil {
			return out, err
		}
	}
	return out, r.calledDiff(ctx, s, folder, sees, &out)
}

// changed adds what the folder holds now and did not before.
func (r *Room) changed(ctx context.Context, s *Session, base *since.Base, sees func(string) bool, out *DiffOut) error {
	now, err := since.Look(ctx, base.Folder, base, r.apart)
	if err != nil {
		out.Note = "the folder " + base.Folder + " cannot be read any more"
		return nil
	}
	kept := func(hash string) ([]byte, bool) {
		var content []byte
		err := r.db.QueryRow(ctx, "SELECT content FROM session_base_file WHERE tenant = ? AND session = ? AND hash = ?", s.Tenant, s.ID, hash).
			Scan(&content)
		return content, err == nil
	}
	if out.Note = orElse(base.Partly, now.Partly); out.Note != "" {
		out.Note = "not all of the folder is known: " + out.Note
	}
	var all strings.Builder
	for _, name := range base.Changed(now) {
		path := filepath.Join(base.Folder, filepath.FromSlash(name))
		if !sees(path) {
			continue
		}
		patch, err := base.Patch(ctx, now, name, kept)
		if err != nil {
			return err
		}
		all.WriteString(patch)
		out.Files = append(out.Files, path)
	}
	out.Diff = all.String()
	return nil
}

// calledDiff adds what calls of tools changed outside of a folder, call by call; without one, whatever they changed.
func (r *Room) calledDiff(ctx context.Context, s *Session, folder string, sees func(string) bool, out *DiffOut) error {
	rows, err := r.db.Query(ctx, "SELECT "+callColumns+
		" FROM session_call WHERE tenant = ? AND session = ? AND state = ? ORDER BY created_at, position", s.Tenant, s.ID, string(CallDone))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		c, err := scanCall(rows)
		if err != nil {
			return err
		}
		if c.Result == nil {
			continue
		}
		changed := c.Result.Changed()
		inside := func(p string) bool { return folder != "" && within(folder, p) }
		if slices.ContainsFunc(changed, func(p string) bool { return !sees(p) || inside(p) }) {
			continue
		}
		if d, ok := c.Result.Meta["diff"].(string); ok {
			out.Diff += d
		}
		for _, p := range changed {
			if !slices.Contains(out.Files, p) {
				out.Files = append(out.Files, p)
			}
		}
	}
	return rows.Err()
}
