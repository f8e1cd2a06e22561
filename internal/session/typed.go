package session

import (
	"context"

	"tandem/internal/db"
	"tandem/internal/id"
	"tandem/internal/op"
	"tandem/internal/provider"
)

// This file is for drivers whose sessions begin and move outside of this program: agent programs in terminals.

// Add makes a session for such a driver, in the transaction of whoever opens it. its is how far the session gets; nil is one that tandem
// opens on a stage of its own.
func (r *Room) Add(ctx context.Context, tx *db.Tx, c op.Caller, s *Session, its *Reach) error {
	s.ID, s.Tenant, s.CreatedAt, s.UpdatedAt, s.chain = id.New("ses"), c.Tenant, tx.Now(), tx.Now(), chainOf(c)
	if s.Owner == "" {
		s.Owner = orElse(OpenerOf(c), c.Name)
	}
	if err := s.check(); err != nil {
		return err
	}
	if its != nil {
		if err := r.admit(ctx, tx, c, s, *its); err != nil {
			return err
		}
	}
	if err := tell(tx, s, "", EventSession, s); err != nil {
		return err
	}
	return r.store(tx, s)
}

// Typed makes a turn of a prompt that somebody gave the agent directly. It runs already.
func (r *Room) Typed(ctx context.Context, tenant, session, text, by string) (*Turn, error) {
	var t *Turn
	err := r.db.Write(ctx, func(tx *db.Tx) error {
		_, err := r.change(tx, tenant, session, func(s *Session) error {
			now := tx.Now()
			blocks := []provider.Block{{Kind: provider.Text, Text: text}}
			t = &Turn{ID: id.New("turn"), Tenant: tenant, Session: session, State: Running, Asker: by, CreatedAt: now, StartedAt: &now,
				prompt: blocks}
			if err := saveTurn(tx, t); err != nil {
				return err
			}
			if err := addMessage(tx, s, &Message{ID: id.New("msg"), Turn: t.ID, Role: RoleUser, Blocks: blocks}); err != nil {
				return err
			}
			if err := tell(tx, s, t.ID, EventTurn, t); err != nil {
				return err
			}
			return r.tellTurn(tx, s, EventTurnGiven, t, t.seal())
		})
		return err
	})
	return t, err
}

// Text is the turn's prompt, its images left out.
func (t *Turn) Text() string { return provider.Reply{Blocks: t.prompt}.Text() }

// Said adds what an agent program said to its turn, which goes on: only the program itself tells when a turn is over.
func (r *Room) Said(ctx context.Context, t *Turn, msg, text, model string, used provider.Usage) (*Turn, error) {
	return r.moved(ctx, t, said{msg, text, model, used})
}
