package session

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/tool"
)

// Unconfined is a person's word that the commands of one session may run where there is no sandbox. It ends with the session.
type Unconfined struct {
	Session   string    `json:"session"`
	GrantedBy string    `json:"granted_by"`
	CreatedAt time.Time `json:"created_at"`
}

// UnconfinedOut lists the sessions whose commands may run without a sandbox.
type UnconfinedOut struct {
	Sandbox  string       `json:"sandbox" jsonschema:"what confines commands on this machine: bwrap, landlock, seatbelt or none"`
	Sessions []Unconfined `json:"sessions"`
}

// confinedNot is what a session shows whose commands run without a sandbox.
const confinedNot = "unconfined"

func (r *Room) confineOps() []op.Op {
	return []op.Op{
		SessionUnconfine.State(op.Spec{Right: "session.grant", Method: "POST", Path: "/sessions/{id}/unconfined", MCP: "-",
			Present: true, People: true,
			Doc: "Let the commands of one session run without a sandbox, on a machine that has none.\nEach command still asks as policy says. " +
				"It ends with the session."}, one, r.unconfine),
		SessionConfine.State(op.Spec{Right: "session.write", Method: "DELETE", Path: "/sessions/{id}/unconfined", MCP: "-",
			Doc: "Take back that a session's commands may run without a sandbox."}, one, r.confine),
		SessionUnconfined.Read(op.Spec{Right: "session.list", Masked: true, Method: "GET", Path: "/sessions-unconfined", MCP: "-",
			Doc: "Say what confines commands here, and list the sessions whose commands may run without it."},
			func(Nothing) op.Resource { return at("") }, r.listUnconfined),
	}
}

func (r *Room) unconfine(ctx context.Context, tx *db.Tx, in IDIn) (Unconfined, error) {
	c := op.CallerFrom(ctx)
	if r.sandbox.Works() {
		return Unconfined{}, fault.New(fault.Conflict, "session.unconfine", "commands are confined here (%s), so nothing has to be granted",
			r.sandbox.Kind)
	}
	s, err := loadSession(inTx{tx}, c.Tenant, in.ID, tx.ForUpdate())
	if err != nil {
		return Unconfined{}, err
	}
	if s.Driver != DriverModel {
		return Unconfined{}, fault.New(fault.Invalid, "session.unconfine", "%s is an agent program in a terminal, which this does not confine",
			s.ID).WithNext("see how it is confined: tandem session show %s", s.ID)
	}
	u := Unconfined{Session: s.ID, GrantedBy: c.Name, CreatedAt: tx.Now()}
	_, err = tx.Exec(`INSERT INTO session_unconfined (tenant, session, granted_by, created_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (tenant, session) DO UPDATE SET granted_by = excluded.granted_by, created_at = excluded.created_at`, c.Tenant, u.Session,
		u.GrantedBy, u.CreatedAt)
	op.Row(ctx, u.seal(c.Tenant))
	return u, err
}

func (r *Room) confine(ctx context.Context, tx *db.Tx, in IDIn) (OK, error) {
	n, err := reconfine(ctx, tx, op.CallerFrom(ctx).Tenant, in.ID)
	if err == nil && n == 0 {
		err = fault.New(fault.NotFound, "session.confine", "nothing was granted to %.60s", in.ID).
			WithNext("list what was: tandem grant unconfined")
	}
	return OK{err == nil}, err
}

func reconfine(ctx context.Context, tx *db.Tx, tenant, id string) (int64, error) {
	n, err := tx.Changed("DELETE FROM session_unconfined WHERE tenant = ? AND session = ?", tenant, id)
	if n > 0 {
		op.Seal(ctx, unconfinedSubject(id))
	}
	return n, err
}

func (r *Room) listUnconfined(ctx context.Context, _ Nothing) (UnconfinedOut, error) {
	all, err := r.loose(ctx, outside{ctx, r.db}, op.CallerFrom(ctx).Tenant)
	out := UnconfinedOut{Sandbox: string(r.sandbox.Kind), Sessions: []Unconfined{}}
	for _, u := range all {
		if op.May(ctx, "session.list", at(u.Session)) {
			out.Sessions = append(out.Sessions, u)
		}
	}
	return out, err
}

// loose are the sessions whose commands a person let run without a sandbox, as far as the journal vouches for that.
func (r *Room) loose(ctx context.Context, q reader, tenant string) ([]Unconfined, error) {
	rows, err := q.rows("SELECT "+unconfinedColumns+" FROM session_unconfined WHERE tenant = ? ORDER BY session", tenant)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (Unconfined, error) { return scanUnconfined(rows) })
	return slices.DeleteFunc(all, func(u Unconfined) bool { return !r.Vouch.Holds(ctx, u.seal(tenant)) }), err
}

// unconfined says whether a person let the session's commands run without a sandbox. A child's are not its parent's.
func (r *Room) unconfined(ctx context.Context, q reader, s *Session) (bool, error) {
	if r.sandbox.Works() {
		return false, nil
	}
	all, err := r.loose(ctx, q, s.Tenant)
	return slices.ContainsFunc(all, func(u Unconfined) bool { return u.Session == s.ID }), err
}

// OpenSockets is what a session says where the kernel does not keep what has the network from abstract sockets.
const OpenSockets = "this kernel (before 6.12) does not keep it from abstract sockets of other programs"

// confinement says how the commands of a session with a model are confined, and what is open to them all the same.
func (r *Room) confinement(ctx context.Context, s *Session) (confined, boundary string, err error) {
	if s.Driver != DriverModel {
		return "", "", nil // its driver says it
	}
	free, err := r.unconfined(ctx, outside{ctx, r.db}, s)
	switch {
	case free:
		confined = confinedNot
	default:
		confined = string(r.sandbox.Kind)
		if r.sandbox.Works() && !r.sandbox.KeepsAbstract() {
			boundary = "where a command has the network, " + OpenSockets
		}
	}
	return confined, boundary, err
}

// Sandbox is what confines commands here.
func (r *Room) Sandbox() *tool.Sandbox { return r.sandbox }
