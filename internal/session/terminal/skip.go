package terminal

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/internal/approval"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// SkipIn asks that sessions in a folder may skip their permissions for a while.
type SkipIn struct {
	Folder  string `json:"folder" jsonschema:"the folder, absolute; sessions opened in it or below"`
	Seconds int64  `json:"seconds,omitempty" jsonschema:"for how long, eight hours when left out, 30 days at most"`
}

// Skip is a grant to skip permissions: whose, where, and until when.
type Skip struct {
	ID        string    `json:"id"`
	Folder    string    `json:"folder"`
	Owner     string    `json:"owner" jsonschema:"who granted it"`
	Asker     string    `json:"asker" jsonschema:"who asked for it"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// SkipsOut lists the grants that stand.
type SkipsOut struct {
	Skips []Skip `json:"skips"`
}

// SkipIDIn names a grant.
type SkipIDIn struct {
	ID string `json:"id" jsonschema:"the grant's id, skp_…"`
}

// How long a grant lasts.
const (
	defaultSkip = 8 * time.Hour
	maxSkip     = 30 * 24 * time.Hour
)

func (d *Driver) skipOps() []op.Op {
	return []op.Op{
		SessionSkip.Effect(op.Spec{Right: "tool.use", Method: "POST", Path: "/terminals-skip", MCP: "-",
			Doc: "Let sessions in a folder skip their permissions for a while. A person has to approve it."},
			func(SkipIn) op.Resource { return op.Resource{Kind: "tool", Path: "/skip-permissions"} }, d.skip, nil),
		SessionSkips.Read(op.Spec{Right: "session.list", Masked: true, Method: "GET", Path: "/terminals-skip", MCP: "-",
			Doc: "List where sessions may skip their permissions, who granted it, and until when."},
			func(LiveIn) op.Resource { return at("") }, d.skipsOp),
		SessionUnskip.State(op.Spec{Right: "session.prompt", Method: "DELETE", Path: "/terminals-skip/{id}", MCP: "-",
			Doc: "Take such a grant back. Sessions that run under it get their permissions back before their next turn."},
			func(SkipIDIn) op.Resource { return at("") }, d.unskip),
	}
}

func (d *Driver) skip(ctx context.Context, in SkipIn) (Skip, error) {
	folder, err := d.Allow.Real(in.Folder)
	if err != nil {
		return Skip{}, err
	}
	lasts := time.Duration(in.Seconds) * time.Second
	if lasts == 0 {
		lasts = defaultSkip
	}
	if in.Seconds < 0 || in.Seconds > int64(maxSkip/time.Second) {
		return Skip{}, fault.New(fault.Invalid, "session.skip", "seconds lie between 1 and %d", int64(maxSkip/time.Second))
	}
	c := op.CallerFrom(ctx)
	s := Skip{ID: id.New("skp"), Folder: folder, Owner: d.grantor(ctx, c), Asker: c.Name}
	s.CreatedAt = d.db.Now().Truncate(time.Microsecond)
	s.ExpiresAt = s.CreatedAt.Add(lasts)
	write := func(tx *db.Tx) error {
		_, err := tx.Exec("INSERT INTO terminal_skip (tenant, id, folder, owner, asker, created_at, expires_at, revoked_at) VALUES "+
			"(?, ?, ?, ?, ?, ?, ?, 0)",
			c.Tenant, s.ID, s.Folder, s.Owner, s.Asker, s.CreatedAt, s.ExpiresAt)
		return err
	}
	op.Row(ctx, s.seal(c.Tenant))
	if !op.Along(ctx, write) { // with the outcome that vouches for it
		err = d.db.Write(ctx, write)
	}
	op.Note(ctx, "skip", s.ID)
	return s, err
}

// grantor is the person who approved the call, or the caller where it needed no approval.
func (d *Driver) grantor(ctx context.Context, c op.Caller) string {
	if c.Kind == op.Person {
		return c.Name
	}
	for _, state := range []string{"approved", "spent"} {
		out, err := op.Do(ctx, d.gate, approval.AskList, approval.ListIn{State: state, Limit: 1000})
		if err != nil {
			continue
		}
		asks := out.Asks
		for i := len(asks) - 1; i >= 0; i-- {
			if asks[i].Op == string(SessionSkip) && asks[i].DecidedBy != "" {
				return asks[i].DecidedBy
			}
		}
	}
	return c.Name
}

// skips are the grants that stand, as far as the journal vouches for them.
func (d *Driver) skips(ctx context.Context, tenant string) ([]Skip, error) {
	rows, err := d.db.Query(ctx, "SELECT "+skipColumns+" FROM terminal_skip WHERE tenant = ? AND revoked_at = 0 AND expires_at > ? "+
		"ORDER BY expires_at DESC", tenant, d.db.Now())
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (Skip, error) { return scanSkip(rows) })
	return slices.DeleteFunc(all, func(s Skip) bool { return !d.room.Vouch.Holds(ctx, s.seal(tenant)) }), err
}

func (d *Driver) skipsOp(ctx context.Context, _ LiveIn) (SkipsOut, error) {
	all, err := d.skips(ctx, op.CallerFrom(ctx).Tenant)
	return SkipsOut{append([]Skip{}, all...)}, err
}

func (d *Driver) unskip(ctx context.Context, tx *db.Tx, in SkipIDIn) (SkipIDIn, error) {
	n, err := tx.Changed("UPDATE terminal_skip SET revoked_at = ? WHERE tenant = ? AND id = ? AND revoked_at = 0", tx.Now(),
		op.CallerFrom(ctx).Tenant, in.ID)
	if tenant := op.CallerFrom(ctx).Tenant; err == nil && n == 0 && !d.room.Vouch.Knows(tenant, skipSubject(in.ID)) {
		err = fault.New(fault.NotFound, "session.unskip", "there is no such grant: %.60s", in.ID).
			WithNext("see what there is: tandem session skip --list")
	}
	if err == nil { // its row may be gone, and the journal's word not
		op.Seal(ctx, skipSubject(in.ID))
	}
	return in, err
}

// maySkip finds the grant that covers a folder now. Where the setting asks for one and there is none, it is asked for once.
func (d *Driver) maySkip(ctx context.Context, tenant, folder string, ask bool) error {
	all, err := d.skips(ctx, tenant)
	if err != nil {
		return err
	}
	for _, s := range all {
		if rel, err := filepath.Rel(s.Folder, folder); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return nil
		}
	}
	if !ask {
		return fault.New(fault.Denied, "session.open", "skipping permissions was not granted for %s", folder).
			WithNext("ask for it, and let a person approve it: tandem session skip %s", folder)
	}
	_, err = op.Do(ctx, d.gate, SessionSkip, SkipIn{Folder: folder, Seconds: int64(defaultSkip / time.Second)})
	return err
}
