package session

import (
	"context"
	"database/sql"
	"slices"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/tool"
)

// Reverted tells what was taken back.
type Reverted struct {
	Message string   `json:"message" jsonschema:"the first message that was taken back; empty when it was brought back"`
	Files   []string `json:"files"`
}

// unrevert brings hidden messages back, or, when the conversation goes on from the place it was taken back to, drops them.
func (r *Room) unrevert(tx *db.Tx, s *Session, bring bool) error {
	if s.Reverted == "" {
		return nil
	}
	s.Reverted = ""
	hidden := 2 // gone for good, kept for the record
	if bring {
		hidden = 0
	}
	if err := dropUndone(tx, s); err != nil {
		return err
	}
	_, err := tx.Exec("UPDATE session_message SET hidden = ? WHERE tenant = ? AND session = ? AND hidden = 1", hidden, s.Tenant, s.ID)
	return err
}

// hideFrom hides a message and all behind it.
func hideFrom(tx *db.Tx, s *Session, message string) error {
	var seq int64
	err := tx.QueryRow("SELECT seq FROM session_message WHERE tenant = ? AND session = ? AND id = ? AND hidden = 0", s.Tenant, s.ID, message).
		Scan(&seq)
	if db.NoRows(err) {
		return fault.New(fault.NotFound, "session.revert", "there is no message %.60s in this session", message)
	}
	if err != nil {
		return err
	}
	s.Reverted = message
	_, err = tx.Exec("UPDATE session_message SET hidden = 1 WHERE tenant = ? AND session = ? AND seq >= ? AND hidden = 0", s.Tenant, s.ID, seq)
	return err
}

// keptFile is the content of a file before a call changed it.
type keptFile struct {
	call, path string
	existed    bool
	content    []byte
}

// keptSince lists what files held before the turns of hidden messages, the newest change first.
func keptSince(r reader, tenant, session, message string) ([]keptFile, error) {
	rows, err := r.rows(`SELECT f.call, f.path, f.existed, f.content FROM session_file f WHERE f.tenant = ? AND f.session = ? AND f.turn IN
		(SELECT m.turn FROM session_message m WHERE m.tenant = f.tenant AND m.session = f.session AND m.seq >=
			(SELECT seq FROM session_message x WHERE x.tenant = f.tenant AND x.session = f.session AND x.id = ?)) ORDER BY f.at DESC, f.call DESC`,
		tenant, session, message)
	return db.Collect(rows, err, func(rows *sql.Rows) (k keptFile, err error) {
		var existed int64
		err = rows.Scan(&k.call, &k.path, &existed, &k.content)
		k.existed = existed != 0
		return k, err
	})
}

// keepFile remembers what a file held before a call changes it. The first answer of a call counts: after a crash the call
// may be completed, and must not take its own result for the old content.
func (r *Room) keepFile(ctx context.Context, s *Session, turn, call, path string, content []byte, existed bool) error {
	if content == nil {
		content = []byte{}
	}
	return r.db.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(`INSERT INTO session_file (tenant, session, turn, call, path, existed, content, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (tenant, call, path) DO NOTHING`, s.Tenant, s.ID, turn, call, path, existed, content, tx.Now())
		return err
	})
}

// kept is what a file held before a call changed it; known is false when the call did not.
func (r *Room) kept(ctx context.Context, s *Session, call, path string) (content []byte, existed, known bool, err error) {
	var was int64
	err = r.db.QueryRow(ctx, "SELECT existed, content FROM session_file WHERE tenant = ? AND call = ? AND path = ?", s.Tenant, call, path).
		Scan(&was, &content)
	if db.NoRows(err) {
		return nil, false, false, nil
	}
	return content, was != 0, err == nil, err
}

// RevertIn takes a session back.
type RevertIn struct {
	ID      string `json:"id"`
	Message string `json:"message,omitempty" jsonschema:"take back this message and all behind it; the newest prompt when left out"`
}

// RevertOut says what was taken back or brought back.
type RevertOut struct {
	OK bool `json:"ok"`
	Reverted
	Left []string `json:"left,omitempty" jsonschema:"files that were changed since they were taken back, so that bringing back left them alone"`
}

func (r *Room) revertOps() []op.Op {
	return []op.Op{
		SessionRevert.Effect(op.Spec{Right: "session.write", Method: "POST", Path: "/sessions/{id}/revert",
			Doc: "Take back a prompt and all that followed: the messages, and the files that its tools changed."},
			func(in RevertIn) op.Resource { return at(in.ID) }, r.revert, nil),
		SessionUnrevert.Effect(op.Spec{Right: "session.write", Method: "POST", Path: "/sessions/{id}/unrevert",
			Doc: "Bring back what was taken back: the messages and the files. A file that was changed since then stays as it is, and is named."},
			one, r.unrevertOp, nil),
	}
}

func (r *Room) revert(ctx context.Context, in RevertIn) (RevertOut, error) {
	tenant := op.CallerFrom(ctx).Tenant
	s, err := r.Get(ctx, tenant, in.ID)
	if err != nil {
		return RevertOut{}, err
	}
	if err := s.DrivenBy(op.CallerFrom(ctx)); err != nil {
		return RevertOut{}, err
	}
	if in.Message == "" {
		ms, err := r.Messages(ctx, tenant, s.ID)
		if err != nil {
			return RevertOut{}, err
		}
		for _, m := range ms {
			if m.Role == RoleUser {
				in.Message = m.ID
			}
		}
		if in.Message == "" {
			return RevertOut{}, fault.New(fault.Conflict, "session.revert", "there is nothing to take back")
		}
	}
	if t, err := r.Next(ctx, tenant, s.ID); err != nil || t != nil {
		if err == nil {
			err = fault.New(fault.Conflict, "session.revert", "a turn is open").WithNext("stop it first: tandem session cancel %s", s.ID)
		}
		return RevertOut{}, err
	}
	out := RevertOut{OK: true, Reverted: Reverted{Message: in.Message, Files: []string{}}}
	files, err := keptSince(outside{ctx, r.db}, tenant, s.ID, in.Message)
	if err != nil {
		return out, err
	}
	scope, err := r.Scope(ctx, s)
	if err != nil {
		return out, err
	}
	if scope, err = r.seeing(ctx, scope, ""); err != nil {
		return out, err
	}
	places, err := restorable(scope, s.Directory, files)
	if err != nil {
		return out, err
	}
	if err := r.keepUndone(ctx, s, files, places); err != nil {
		return out, err
	}
	for i, f := range files { // newest first, so the oldest content is what remains
		if err := f.restore(places[i]); err != nil {
			return out, err
		}
		if !slices.Contains(out.Files, f.path) {
			out.Files = append(out.Files, f.path)
		}
	}
	err = r.db.Write(ctx, func(tx *db.Tx) error {
		_, err := r.change(tx, tenant, s.ID, func(s *Session) error {
			if err := hideFrom(tx, s, in.Message); err != nil {
				return err
			}
			return tell(tx, s, "", EventReverted, out.Reverted)
		})
		return err
	})
	return out, err
}

// restorable finds where files go back to. One that the caller may not see or change keeps all of them as they are.
func restorable(scope *tool.Scope, dir string, files []keptFile) ([]tool.Place, error) {
	out := make([]tool.Place, len(files))
	for i, f := range files {
		p, err := scope.Locate(dir, f.path, true)
		if err == nil {
			err = p.Hidden()
		}
		if err == nil {
			err = p.Fixed()
		}
		if err != nil {
			return nil, err
		}
		out[i] = p
	}
	return out, nil
}

func (f keptFile) restore(p tool.Place) error {
	if f.existed {
		return p.WriteFile(f.content)
	}
	return p.Remove()
}
