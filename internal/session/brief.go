package session

import (
	"context"
	"path/filepath"
	"strings"

	"tandem/internal/db"
	"tandem/internal/op"
	"tandem/internal/provider"
)

// Brief is what a conversation is told at its beginning of what the team remembers, and which records that is.
type Brief struct {
	Text string
	IDs  []string
}

// briefed asks for the brief of a conversation that begins with this turn; none where it began already, or begins with a command of the
// agent program. A prompt whose answer must cite says so at any time. That nothing can be told is no reason not to work.
func (r *Room) briefed(ctx context.Context, t *Turn) (Brief, error) {
	first, err := r.awaitsBrief(outside{ctx, r.db}, t)
	tells := first || t.Options.Cite && t.StartedAt == nil && !command(t.Text())
	if err != nil || !tells {
		return Brief{}, err
	}
	s, err := loadSession(outside{ctx, r.db}, t.Tenant, t.Session, "")
	if err != nil {
		return Brief{}, err
	}
	var b Brief
	if first && !s.Config.Narrow {
		b = r.Brief(op.WithCaller(ctx, s.At(t)), t.Text(), r.origin(ctx, s))
	}
	if reads := s.reading(t); reads != "" {
		b.Text = reads + "\n\n" + b.Text
	}
	return b, nil
}

// origin is the folder that a session is about: of one that works in a checkout of its own, the same place in the repository.
func (r *Room) origin(ctx context.Context, s *Session) string {
	made, err := r.checkouts(ctx, outside{ctx, r.db}, s.Tenant)
	if err != nil {
		return s.Directory // it is told less
	}
	for _, c := range made {
		if rel, err := filepath.Rel(c.Path, s.Directory); s.Directory != "" && err == nil && filepath.IsLocal(rel) {
			return filepath.Join(c.Repo, rel)
		}
	}
	return s.Directory
}

// awaitsBrief reports whether a conversation begins with this turn.
func (r *Room) awaitsBrief(q reader, t *Turn) (bool, error) {
	if r.Brief == nil || t.StartedAt != nil || command(t.Text()) {
		return false, nil
	}
	before, err := turnsWhere(q, "tenant = ? AND session = ? AND started_at > 0 ORDER BY id LIMIT 5", t.Tenant, t.Session)
	for _, b := range before {
		if !command(b.Text()) {
			return false, err
		}
	}
	return true, err
}

func command(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), "/") }

// tellBrief puts the brief before the turn's prompt, and notes what was told in the same change.
func (r *Room) tellBrief(tx *db.Tx, s *Session, t *Turn, b Brief) error {
	if b.Text == "" {
		return nil
	}
	t.prompt = append([]provider.Block{{Kind: provider.Text, Text: b.Text}}, t.prompt...)
	t.words.prompt = encode(t.prompt)
	if _, err := tx.Exec("UPDATE session_turn SET prompt = ? WHERE tenant = ? AND id = ?", t.words.prompt, t.Tenant, t.ID); err != nil {
		return err
	}
	if err := r.Briefed(tx, t.Tenant, t.Session, b.IDs); err != nil {
		return err
	}
	return r.tellTurn(tx, s, EventTurnGiven, t, t.seal())
}
