package session

import (
	"context"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
	"tandem/internal/provider"
	"tandem/internal/tool"
)

// maxDepth is how many generations of children a session may have.
const maxDepth = 3

// delegate opens a child session for a call and gives it its prompt. The child acts for its parent, so it may do what both
// may; a call has one child however often it asks. Whoever prompted the parent prompts the child.
func (r *Room) delegate(ctx context.Context, s *Session, from, call string, t tool.Task) (turn string, err error) {
	up, err := r.Lineage(ctx, s)
	if err != nil {
		return "", err
	}
	if len(up) >= maxDepth {
		return "", fault.New(fault.Exhausted, "task", "a task of a task of a task hands nothing on").WithNext("do it yourself")
	}
	var child *Session
	err = r.db.Write(ctx, func(tx *db.Tx) error {
		child = nil
		err := tx.QueryRow("SELECT turn FROM session_child WHERE tenant = ? AND call = ?", s.Tenant, call).Scan(&turn)
		if !db.NoRows(err) {
			return err
		}
		parent, err := loadTurn(inTx{tx}, s.Tenant, from)
		if err != nil {
			return err
		}
		if err := r.turnCounts(tx, parent); err != nil {
			return err
		}
		c := s.At(parent)
		child = &Session{ID: id.New("ses"), Tenant: s.Tenant, Title: t.Title, Directory: s.Directory, Driver: DriverModel, Model: s.Model,
			Parent: s.ID, Mode: s.Mode,
			Config: Config{Temperature: s.Config.Temperature, TopP: s.Config.TopP, MaxTokens: s.Config.MaxTokens, Effort: s.Config.Effort,
				Fallback: s.Config.Fallback, Tools: t.Tools, Narrow: s.Config.Narrow,
				Knowledge: s.Config.Knowledge},
			Owner: s.ID, CreatedAt: tx.Now(), UpdatedAt: tx.Now(), chain: chainOf(c)}
		if len(t.Tools) == 0 {
			child.Config.Tools = s.Config.Tools
		}
		if t.ReadOnly {
			child.Mode = PlanMode
		}
		if err := child.check(); err != nil {
			return err
		}
		if err := tell(tx, child, "", EventSession, child); err != nil {
			return err
		}
		asked, err := r.prompt(tx, child, c, []provider.Block{{Kind: provider.Text, Text: t.Prompt}}, Options{})
		if err != nil {
			return err
		}
		turn = asked.ID
		if err := r.store(tx, child); err != nil {
			return err
		}
		if _, err = tx.Exec("INSERT INTO session_child (tenant, call, parent, session, turn) VALUES (?, ?, ?, ?, ?)", s.Tenant, call, s.ID,
			child.ID, turn); err != nil {
			return err
		}
		return r.Added(tx, c, child, asked.seal())
	})
	if err == nil && child != nil {
		op.Note(ctx, "child", child.ID)
		r.wake(child)
	}
	return turn, err
}

// Lineage lists the sessions that this one was opened by, for a task or otherwise, nearest first. What they may not, it may not.
func (r *Room) Lineage(ctx context.Context, s *Session) ([]*Session, error) {
	var out []*Session
	for _, who := range s.chain {
		name, ok := strings.CutPrefix(who, string(op.Session)+":")
		if !ok {
			continue
		}
		up, err := r.Get(ctx, s.Tenant, name)
		if fault.Is(err, fault.NotFound) {
			return nil, fault.New(fault.Conflict, "session", "the session that opened this one was deleted").WithNext("open a new one")
		}
		if err != nil {
			return nil, err
		}
		out = append(out, up)
	}
	return out, nil
}

// Await parks a turn until the turn of a child has ended.
func (r *Room) Await(ctx context.Context, t *Turn, c *Call, child string) (*Turn, error) {
	return r.moved(ctx, t, delegated{c, child})
}

// Report is what a child brought, once its turn has ended.
func (r *Room) Report(ctx context.Context, tenant, turn string) (*tool.Result, bool, error) {
	t, err := r.Turn(ctx, tenant, turn)
	if fault.Is(err, fault.NotFound) {
		return &tool.Result{Text: "the child session was deleted", Error: true}, true, nil
	}
	if err != nil || !t.State.Ended() {
		return nil, false, err
	}
	meta := map[string]any{"session": t.Session, "turn": t.ID}
	if t.State != Done {
		return &tool.Result{Text: "the task " + string(t.State) + ": " + t.Reason, Error: true, Meta: meta}, true, nil
	}
	ms, err := r.MessagesOf(ctx, tenant, t.Session, turn)
	text := ""
	for _, m := range ms {
		if m.Role == RoleAssistant {
			if said := (provider.Reply{Blocks: m.Blocks}).Text(); said != "" {
				text = said
			}
		}
	}
	return &tool.Result{Text: text, Meta: meta}, true, err
}

// tellParent wakes the session whose task a turn was.
func (r *Room) tellParent(tx *db.Tx, s *Session, t *Turn) error {
	if s.Parent == "" {
		return nil
	}
	var parent string
	err := tx.QueryRow("SELECT parent FROM session_child WHERE tenant = ? AND turn = ?", t.Tenant, t.ID).Scan(&parent)
	if db.NoRows(err) {
		return nil
	}
	if err == nil {
		tx.AfterCommit(func() { r.wake(&Session{Tenant: s.Tenant, ID: parent, Driver: DriverModel}) })
	}
	return err
}

// cancelChild stops the turn of a child whose parent no longer waits for it.
func (r *Room) cancelChild(tx *db.Tx, tenant, turn string) error {
	var child string
	err := tx.QueryRow("SELECT session FROM session_child WHERE tenant = ? AND turn = ?", tenant, turn).Scan(&child)
	if db.NoRows(err) {
		return nil
	}
	if err != nil {
		return err
	}
	s, err := r.change(tx, tenant, child, func(s *Session) error {
		open, err := turnsWhere(inTx{tx}, "tenant = ? AND id = ? AND ended_at = 0", tenant, turn)
		if err != nil {
			return err
		}
		over, err := r.cancelTurns(tx, s, open)
		if err != nil || len(over) == 0 {
			return err
		}
		return r.tellTurn(tx, s, EventTurnGone, open[0], over[0])
	})
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err == nil {
		tx.AfterCommit(func() { r.wake(s) })
	}
	return err
}
