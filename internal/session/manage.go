package session

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/models"
	"tandem/internal/op"
)

func (r *Room) create(ctx context.Context, tx *db.Tx, in CreateIn) (*Session, error) {
	c := op.CallerFrom(ctx)
	s := &Session{ID: id.New("ses"), Tenant: c.Tenant, Title: in.Title, Directory: in.Directory, Driver: DriverModel, Model: in.Model,
		Parent: in.Parent, Mode: in.Mode,
		Config: in.Config, Owner: orElse(OpenerOf(c), c.Name), CreatedAt: tx.Now(), UpdatedAt: tx.Now(), chain: chainOf(c)}
	if s.Model == "" {
		var err error
		if s.Model, err = models.Chosen(tx, r.Vouch, c.Tenant); err != nil {
			return nil, err
		}
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := knownModels(tx, s); err != nil {
		return nil, err
	}
	if err := r.admit(ctx, tx, c, s, Reach{Program: DriverModel}); err != nil {
		return nil, err
	}
	if s.Parent != "" {
		if _, err := loadSession(inTx{tx}, c.Tenant, s.Parent, ""); err != nil {
			return nil, err
		}
	}
	if err := tell(tx, s, "", EventSession, s); err != nil {
		return nil, err
	}
	op.Note(ctx, "session", s.ID)
	op.Row(ctx, s.seal())
	return s, r.store(tx, s)
}

// store keeps a session that is new, while there is room for it.
func (r *Room) store(tx *db.Tx, s *Session) error {
	full, err := r.Sessions.Full(tx, s.Tenant)
	if err != nil {
		return err
	}
	if full {
		return fault.New(fault.Exhausted, "session.create", "there are %d sessions already, as many as are kept", r.Sessions.Most).
			WithNext("delete some that nobody needs: tandem session list (and --archived), then tandem session delete SESSION")
	}
	if err := r.Budgets.roomFor(tx, s.Tenant); err != nil {
		return err
	}
	return saveSession(tx, s)
}

func (r *Room) list(ctx context.Context, in ListIn) (ListOut, error) {
	out := ListOut{Sessions: []*Session{}}
	if in.Limit < 0 || in.Limit > 500 {
		return out, fault.New(fault.Invalid, "session.list", "limit lies between 1 and 500")
	}
	if in.Limit == 0 {
		in.Limit = 50
	}
	before := in.Before
	for {
		where, args := "tenant = ? AND archived = ?", []any{op.CallerFrom(ctx).Tenant, in.Archived}
		if before != "" {
			where, args = where+" AND id < ?", append(args, before)
		}
		if in.Parent != "" {
			where, args = where+" AND parent = ?", append(args, in.Parent)
		}
		if in.Title != "" {
			where, args = where+" AND title = ?", append(args, in.Title)
		}
		if in.Query != "" {
			like := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(strings.ToLower(in.Query)) + "%"
			where += ` AND (lower(title) LIKE ? ESCAPE '\' OR EXISTS (SELECT 1 FROM session_message m WHERE m.tenant = session.tenant AND ` +
				`m.session = session.id AND lower(m.blocks) LIKE ? ESCAPE '\'))`
			args = append(args, like, like)
		}
		rows, err := r.db.Query(ctx, "SELECT "+sessionColumns+", "+newestTurn+" FROM session WHERE "+where+" ORDER BY id DESC LIMIT 200", args...)
		page, err := db.Collect(rows, err, func(rows *sql.Rows) (*Session, error) {
			var state string
			s, err := scanSession(rows, &state)
			if err == nil {
				s.State = state
			}
			return s, err
		})
		if err != nil {
			return out, err
		}
		for _, s := range page {
			before = s.ID
			if !op.May(ctx, "session.list", at(s.ID)) {
				continue
			}
			if len(out.Sessions) == in.Limit {
				out.More = true
				return out, nil
			}
			out.Sessions = append(out.Sessions, s)
		}
		if len(page) < 200 {
			return out, nil
		}
	}
}

func (r *Room) get(ctx context.Context, in IDIn) (*Session, error) {
	s, err := loadSession(outside{ctx, r.db}, op.CallerFrom(ctx).Tenant, in.ID, "") // shown as it stands; audit verify says whether it counts
	if err != nil {
		return nil, err
	}
	if s.Confined, s.Boundary, err = r.confinement(ctx, s); err != nil {
		return nil, err
	}
	s.Aside, err = r.Aside.Waits(ctx, s.Tenant, s.ID)
	return s, err
}

func (r *Room) update(ctx context.Context, tx *db.Tx, in UpdateIn) (*Session, error) {
	return r.change(tx, op.CallerFrom(ctx).Tenant, in.ID, func(s *Session) error {
		if err := s.DrivenBy(op.CallerFrom(ctx)); err != nil {
			return err
		}
		if err := r.counts(tx, s); err != nil {
			return err
		}
		set(&s.Title, in.Title)
		set(&s.Archived, in.Archived)
		set(&s.Directory, in.Directory)
		set(&s.Model, in.Model)
		set(&s.Mode, in.Mode)
		if in.Config != nil {
			now, err := rebound(s.Config, *in.Config)
			if err != nil {
				return err
			}
			s.Config = now
		}
		if s.Archived { // what was allowed for it ends with it
			if _, err := reconfine(ctx, tx, s.Tenant, s.ID); err != nil {
				return err
			}
		}
		if err := s.check(); err != nil {
			return err
		}
		if in.Model != nil || in.Config != nil {
			if err := knownModels(tx, s); err != nil {
				return err
			}
		}
		if err := r.readmit(ctx, tx, s); err != nil {
			return err
		}
		if OpenerOf(op.CallerFrom(ctx)) == "" && in.Config != nil {
			if err := r.bind(ctx, tx, nil, s); err != nil {
				return err
			}
		}
		op.Row(ctx, s.seal())
		return tell(tx, s, "", EventSession, s)
	})
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

func (r *Room) delete(ctx context.Context, tx *db.Tx, in IDIn) (OK, error) {
	tenant := op.CallerFrom(ctx).Tenant
	s, err := loadSession(inTx{tx}, tenant, in.ID, tx.ForUpdate())
	if err != nil {
		return OK{}, err
	}
	if err := r.guard(ctx, tx, s); err != nil {
		return OK{}, err
	}
	open, err := turnsWhere(inTx{tx}, "tenant = ? AND session = ? AND ended_at = 0", tenant, in.ID)
	if err != nil {
		return OK{}, err
	}
	if len(open) > 0 {
		return OK{}, fault.New(fault.Conflict, "session.delete", "the session has %d open turns", len(open)).
			WithNext("stop them first: tandem session cancel %s", in.ID)
	}
	if err := r.carry(tx, s); err != nil {
		return OK{}, err
	}
	if _, err := reconfine(ctx, tx, tenant, in.ID); err != nil {
		return OK{}, err
	}
	op.Seal(ctx, sessionSubject(in.ID))
	return OK{true}, r.Forget(tx, tenant, in.ID)
}

// Forget removes a session that has no open turns, and all that belongs to it.
func (r *Room) Forget(tx *db.Tx, tenant, session string) error {
	for _, table := range []string{"session_turn", "session_message", "session_call", "session_event", "session_part", "session_question",
		"session_file", "session_undone", "session_child", "session_unconfined", "session_spent", "session_look",
		"session_base", "session_base_file"} {
		if _, err := tx.Exec("DELETE FROM "+table+" WHERE tenant = ? AND session = ?", tenant, session); err != nil {
			return err
		}
	}
	tx.AfterCommit(func() { r.hub.advance(tenant, session, 0) })
	_, err := tx.Exec("DELETE FROM session WHERE tenant = ? AND id = ?", tenant, session)
	return err
}

func (r *Room) fork(ctx context.Context, tx *db.Tx, in ForkIn) (*Session, error) {
	c := op.CallerFrom(ctx)
	from, err := r.load(tx, c.Tenant, in.ID, "")
	if err != nil {
		return nil, err
	}
	s := *from
	s.ID, s.Parent, s.Owner, s.chain, s.CreatedAt, s.UpdatedAt = id.New("ses"), from.ID, orElse(OpenerOf(c), c.Name), chainOf(c), tx.Now(),
		tx.Now()
	s.Events, s.messages, s.Archived, s.Reverted, s.stored = 0, 0, false, "", stored{}
	if in.Title != "" {
		s.Title = in.Title
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := r.admit(ctx, tx, c, &s, Reach{Program: DriverModel}); err != nil {
		return nil, err
	}
	ms, err := loadMessages(inTx{tx}, c.Tenant, from.ID)
	if err != nil {
		return nil, err
	}
	if err := tell(tx, &s, "", EventSession, &s); err != nil {
		return nil, err
	}
	found := in.Message == ""
	for _, m := range ms {
		if m.ID == in.Message {
			found = true
			break
		}
		m.ID, m.Turn = id.New("msg"), ""
		if err := addMessage(tx, &s, m); err != nil {
			return nil, err
		}
	}
	if !found {
		return nil, fault.New(fault.NotFound, "session.fork", "there is no message %.60s in this session", in.Message)
	}
	used, err := r.used(inTx{tx}, from)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(used)
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec("INSERT INTO session_spent (tenant, session, used) VALUES (?, ?, ?)", s.Tenant, s.ID, string(text)); err != nil {
		return nil, err
	}
	op.Note(ctx, "session", s.ID)
	op.Row(ctx, s.seal())
	return &s, r.store(tx, &s)
}

// knownModels refuses a session whose models nobody offers.
func knownModels(tx *db.Tx, s *Session) error {
	if s.Driver != DriverModel {
		return nil
	}
	return models.Known(tx, s.Tenant, append([]string{s.Model}, s.Config.Fallback...)...)
}
