package aside

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/session/wire"
	"tandem/internal/tool/box"
)

// Ops are the rows of what was set aside.
func (r *Room) Ops() []op.Op {
	whose := func(o op.Op) op.Op {
		return op.Placing(o, func(ctx context.Context, in wire.AsideIn) op.Resource { return at(r.sessionOf(ctx, in.ID)) })
	}
	return []op.Op{
		wire.AsideList.Read(op.Spec{Right: "session.read", Masked: true, Method: "GET", Path: "/aside", MCP: "-",
			Doc: "List the files that were taken out of folders because version control would have run them outside of an agent's sandbox later."},
			func(wire.AsideListIn) op.Resource { return at("") }, r.list),
		whose(wire.AsideGet.Read(op.Spec{Right: "session.read", Method: "GET", Path: "/aside/{id}", MCP: "-",
			Doc: "Read a file that was set aside."}, nil, r.get)),
		whose(wire.AsideKeep.Effect(op.Spec{Right: "session.grant", Method: "POST", Path: "/aside/{id}/keep", MCP: "-",
			Present: true, People: true, Doc: "Put a file that was set aside back where it was.\nVersion control will run it, or follow it, " +
				"when somebody uses it there."}, nil, r.keep, nil)),
		whose(wire.AsideDiscard.Effect(op.Spec{Right: "session.write", Method: "POST", Path: "/aside/{id}/discard", MCP: "-",
			Doc: "Discard a file that was set aside."}, nil, r.discard, nil)),
	}
}

// sessionOf finds in whose turn it was found, so that whoever may read the session may read it.
func (r *Room) sessionOf(ctx context.Context, id string) string {
	var s string
	tenant := op.CallerFrom(ctx).Tenant
	if err := r.db.QueryRow(ctx, "SELECT session FROM session_aside WHERE tenant = ? AND id = ?", tenant, id).Scan(&s); err != nil {
		return ""
	}
	return s
}

const columns = "id, session, turn, folder, path, what, mode, size, held, state, created_at, decided_by, decided_at"

func insert(tx *db.Tx, tenant string, a *wire.Aside, p box.Part) error {
	_, err := tx.Exec("INSERT INTO session_aside (tenant, sum, "+columns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		tenant, p.Sum, a.ID, a.Session, a.Turn, a.Folder, a.Path, a.What, int64(p.Mode), a.Size, a.File != "", a.State, a.CreatedAt, "", 0)
	return err
}

func (r *Room) scan(row interface{ Scan(...any) error }) (*wire.Aside, fs.FileMode, error) {
	var a wire.Aside
	var mode, held, created, decided int64
	err := row.Scan(&a.ID, &a.Session, &a.Turn, &a.Folder, &a.Path, &a.What, &mode, &a.Size, &held, &a.State, &created, &a.DecidedBy, &decided)
	a.CreatedAt, a.DecidedAt = db.Time(created), later(decided)
	if held > 0 && a.State == wire.AsidePending {
		a.File = filepath.Join(r.home.Folder, a.ID)
	}
	return &a, fs.FileMode(mode), err
}

func (r *Room) where(ctx context.Context, where string, args ...any) ([]*wire.Aside, error) {
	rows, err := r.db.Query(ctx, "SELECT "+columns+" FROM session_aside WHERE "+where+" ORDER BY id DESC LIMIT 1000", args...)
	return db.Collect(rows, err, func(rows *sql.Rows) (*wire.Aside, error) {
		a, _, err := r.scan(rows)
		return a, err
	})
}

// Waits are those of a session about which nobody has decided.
func (r *Room) Waits(ctx context.Context, tenant, session string) ([]*wire.Aside, error) {
	return r.where(ctx, "tenant = ? AND session = ? AND state = ?", tenant, session, wire.AsidePending)
}

func (r *Room) list(ctx context.Context, in wire.AsideListIn) (wire.AsideListOut, error) {
	cond, args := "tenant = ?", []any{op.CallerFrom(ctx).Tenant}
	if in.Session != "" {
		cond, args = cond+" AND session = ?", append(args, in.Session)
	}
	if !in.All {
		cond, args = cond+" AND state = ?", append(args, wire.AsidePending)
	}
	all, err := r.where(ctx, cond, args...)
	out := wire.AsideListOut{Aside: []*wire.Aside{}}
	for _, a := range all {
		if op.May(ctx, "session.read", at(a.Session)) && op.Sees(ctx, filepath.Join(a.Folder, a.Path)) {
			out.Aside = append(out.Aside, a)
		}
	}
	return out, err
}

func (r *Room) one(ctx context.Context, id string) (*wire.Aside, fs.FileMode, error) {
	a, mode, err := r.scan(r.db.QueryRow(ctx, "SELECT "+columns+" FROM session_aside WHERE tenant = ? AND id = ?",
		op.CallerFrom(ctx).Tenant, id))
	if db.NoRows(err) {
		return nil, 0, unknown(id)
	}
	return a, mode, err
}

func unknown(id string) error {
	return fault.New(fault.NotFound, "aside", "nothing with the id %.60s was set aside", id).
		WithNext("list what was: tandem session set-aside list")
}

func (r *Room) get(ctx context.Context, in wire.AsideIn) (*wire.Aside, error) {
	a, _, err := r.one(ctx, in.ID)
	if err == nil && !op.Sees(ctx, filepath.Join(a.Folder, a.Path)) {
		return nil, unknown(in.ID)
	}
	if err != nil || a.File == "" {
		return a, err
	}
	data, err := os.ReadFile(a.File)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	a.Text = strings.ToValidUTF8(string(data), "�")
	return a, err
}

// keep puts a file back, and lets everybody who works there know it.
func (r *Room) keep(ctx context.Context, in wire.AsideIn) (*wire.Aside, error) {
	a, mode, err := r.waiting(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if a.Path == "." { // a note that there was too much to look through
		return r.decide(ctx, a, wire.AsideKept)
	}
	if a.File == "" {
		return nil, fault.New(fault.Conflict, "aside.keep", "%s was too large to be kept (%d bytes)", a.Path, a.Size).
			WithNext("make it again yourself, and discard this: tandem session set-aside discard %s", a.ID)
	}
	data, err := os.ReadFile(a.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.Conflict, "aside.keep", "what was set aside of %s is not in the data folder any more", a.Path).
			WithNext("discard it: tandem session set-aside discard %s", a.ID)
	}
	if err != nil {
		return nil, err
	}
	if err := box.PutBack(a.Folder, a.Path, box.Part{Mode: mode, Data: data}); err != nil {
		return nil, fault.New(fault.Conflict, "aside.keep", "%s could not be put back into %s: %w", a.Path, a.Folder, err).
			WithNext("look at what is there, and try again")
	}
	if err := r.know(ctx, a); err != nil {
		return nil, err
	}
	return r.decide(ctx, a, wire.AsideKept)
}

// know makes a kept file one that was there before, for work that goes on in its folder.
func (r *Room) know(ctx context.Context, a *wire.Aside) error {
	now, err := box.Look(a.Folder, r.home.Person, r.home.Hidden...)
	if err != nil && !errors.Is(err, box.ErrTooMuch) {
		return err
	}
	looks, err := r.looks(ctx, "folder = ?", a.Folder)
	for _, l := range looks {
		if part, ok := now.Parts[a.Path]; ok && l.known.Parts != nil {
			l.known.Parts[a.Path] = part
		}
		err = errors.Join(err, r.db.Write(ctx, func(tx *db.Tx) error {
			_, err := tx.Exec("UPDATE session_look SET known = ? WHERE tenant = ? AND work = ? AND folder = ?", encode(l.known), l.tenant, l.work,
				l.folder)
			return err
		}))
	}
	return err
}

func (r *Room) discard(ctx context.Context, in wire.AsideIn) (*wire.Aside, error) {
	if k := op.CallerFrom(ctx).Kind; k == op.Session || k == op.Agent {
		return nil, fault.New(fault.Denied, "aside.discard", "an agent does not decide about what agents left").WithNext("a person does")
	}
	a, _, err := r.waiting(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return r.decide(ctx, a, wire.AsideDiscarded)
}

// waiting is one that nobody decided about yet.
func (r *Room) waiting(ctx context.Context, id string) (*wire.Aside, fs.FileMode, error) {
	a, mode, err := r.one(ctx, id)
	if err == nil && a.State != wire.AsidePending {
		err = fault.New(fault.Conflict, "aside", "%s was %s already", a.ID, a.State)
	}
	return a, mode, err
}

// decide writes the decision down, and then lets the content go.
func (r *Room) decide(ctx context.Context, a *wire.Aside, state string) (*wire.Aside, error) {
	c := op.CallerFrom(ctx)
	err := r.db.Write(ctx, func(tx *db.Tx) error {
		now := tx.Now()
		n, err := tx.Changed("UPDATE session_aside SET state = ?, decided_by = ?, decided_at = ? WHERE tenant = ? AND id = ? AND state = ?",
			state, c.Name, now, c.Tenant, a.ID, wire.AsidePending)
		if err == nil && n == 0 {
			err = fault.New(fault.Conflict, "aside", "somebody else has decided about %s", a.ID)
		}
		a.State, a.DecidedBy, a.DecidedAt = state, c.Name, &now
		return err
	})
	if err != nil {
		return nil, err
	}
	if a.File != "" {
		os.Remove(a.File) //nolint:errcheck // what stays is swept with the data folder
		a.File = ""
	}
	return a, nil
}
