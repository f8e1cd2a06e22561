package forge

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"tandem/internal/db"
	"tandem/internal/egress"
	"tandem/internal/fault"
	"tandem/internal/forge/wire"
	jobs "tandem/internal/job/wire"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/secret"
	"tandem/internal/session/checkout"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are this room's tables.
var Migrations = db.Migrations{Room: "forge", FS: schema}

// Secrets are the names that forges' tokens have.
var Secrets = []secret.Owned{{Prefix: "forge/", Kind: "forge"}}

func secretName(name string) string { return "forge/" + name }

// Keys keeps forges' tokens.
type Keys struct {
	Lend func(ctx context.Context, tenant, name string, fn func(value []byte) error) error
	Put  func(tx *db.Tx, tenant, name, value, by string) error
	Drop func(tx *db.Tx, tenant, name string) error
}

// Room keeps forges and the pull requests of jobs there. The functions are what it does not own.
type Room struct {
	DB      *db.DB
	Keys    Keys
	Journal *journal.Journal
	Log     *slog.Logger
	Rooms   op.Invoker
	Tools   checkout.Tools
	Vouch   op.Vouch // asks the journal where forges are: their tokens go there
	Home    string   // which of a cluster's servers this is
	Every   time.Duration

	// Work is a job in review whose commit the caller looked at, whole. Where it is to be merged it is refused as a merge would be.
	Work func(ctx context.Context, operation, id, commit string, merges bool) (*jobs.Job, error)
	// Landed tells a job that its pull request was merged at the forge; why it does not end is said.
	Landed func(ctx context.Context, tenant, id string, p *wire.Pull) (why string, err error)

	rests rests // forges that refused requests for their rate
}

func at(name string) op.Resource { return op.Resource{Kind: "forge", Path: "/" + name} }

const columns = "name, kind, url, repo, inside, secret, by_name, at"

func scan(row interface{ Scan(...any) error }) (*wire.Forge, error) {
	var f wire.Forge
	var inside, when int64
	err := row.Scan(&f.Name, &f.Kind, &f.URL, &f.Repo, &inside, &f.Secret, &f.By, &when)
	f.Inside, f.At = inside != 0, db.Time(when)
	return &f, err
}

func seal(tenant string, f *wire.Forge) op.Sealed {
	return op.Sealed{Tenant: tenant, Subject: "forge:" + f.Name, What: "the forge " + f.Name + " at " + f.URL,
		Says: []string{f.Name, string(f.Kind), f.URL, f.Repo, strconv.FormatBool(f.Inside), f.Secret}}
}

// Rows lists where forges are and what was posted there, for the journal to vouch for.
func Rows(ctx context.Context, d *db.DB) ([]op.Sealed, error) {
	rows, err := d.Query(ctx, "SELECT tenant, "+columns+" FROM forge")
	out, err := db.Collect(rows, err, func(rows *sql.Rows) (op.Sealed, error) {
		var f wire.Forge
		var tenant string
		var inside, when int64
		err := rows.Scan(&tenant, &f.Name, &f.Kind, &f.URL, &f.Repo, &inside, &f.Secret, &f.By, &when)
		f.Inside = inside != 0
		return seal(tenant, &f), err
	})
	if err != nil {
		return nil, err
	}
	posted, err := pullRows(ctx, d)
	return append(out, posted...), err
}

func (r *Room) all(ctx context.Context, tenant string) ([]*wire.Forge, error) {
	rows, err := r.DB.Query(ctx, "SELECT "+columns+" FROM forge WHERE tenant = ? ORDER BY name", tenant)
	return db.Collect(rows, err, func(rows *sql.Rows) (*wire.Forge, error) { return scan(rows) })
}

// load is a forge as far as the journal vouches for it: its token goes where its row says.
func (r *Room) load(ctx context.Context, tenant, name string) (*wire.Forge, error) {
	f, err := scan(r.DB.QueryRow(ctx, "SELECT "+columns+" FROM forge WHERE tenant = ? AND name = ?", tenant, name))
	if db.NoRows(err) {
		return nil, op.NoSuch("forge", name)
	}
	if err == nil && !r.Vouch.Holds(ctx, seal(tenant, f)) {
		err = fault.New(fault.Denied, "forge", "the forge %s is in the database and not as it was added", name).
			WithNext("see what was changed: tandem audit verify; then remove it and add it anew: tandem forge remove %s", name)
	}
	return f, err
}

func scanPull(row interface{ Scan(...any) error }) (*pull, error) {
	var body string
	if err := row.Scan(&body); err != nil {
		return nil, err
	}
	var p pull
	return &p, json.Unmarshal([]byte(body), &p)
}

// pullOf is the pull request of a job; nil where it has none.
func (r *Room) pullOf(ctx context.Context, tenant, job string) (*pull, error) {
	p, err := scanPull(r.DB.QueryRow(ctx, "SELECT body FROM forge_pull WHERE tenant = ? AND job = ?", tenant, job))
	if db.NoRows(err) {
		return nil, nil
	}
	if err == nil {
		p.forged = p.Job != job || !r.Vouch.Holds(ctx, p.seal(tenant))
	}
	return p, err
}

// pulls are those that the journal vouches for.
func (r *Room) pulls(ctx context.Context, tenant, where string, args ...any) ([]*pull, error) {
	rows, err := r.DB.Query(ctx, "SELECT body FROM forge_pull WHERE tenant = ? AND "+where, append([]any{tenant}, args...)...)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (*pull, error) { return scanPull(rows) })
	return slices.DeleteFunc(all, func(p *pull) bool { return !r.Vouch.Holds(ctx, p.seal(tenant)) }), err
}

func (r *Room) save(tx *db.Tx, tenant string, p *pull) error {
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO forge_pull (tenant, job, forge, state, home, body, looked_at) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, job) DO UPDATE SET forge = excluded.forge, state = excluded.state, body = excluded.body,
		looked_at = excluded.looked_at`, tenant, p.Job, p.Forge, p.stage(), r.Home, string(body), p.turn())
	return err
}

// Forget takes what is known of a job's pull request away, with what people wrote there.
func (r *Room) Forget(ctx context.Context, tx *db.Tx, tenant, job string) error {
	op.Seal(ctx, subject(job))
	_, err := tx.Exec("DELETE FROM forge_pull WHERE tenant = ? AND job = ?", tenant, job)
	return err
}

// Of is the pull request of a job, for who may see the job; nil where it has none.
func (r *Room) Of(ctx context.Context, tenant, job string) *wire.Pull {
	p, err := r.pullOf(ctx, tenant, job)
	if err != nil {
		r.Log.Error("read a pull request", "job", job, "err", err)
	}
	if p == nil {
		return nil
	}
	if p.forged {
		p.Problem = rewritten
	}
	return &p.Pull
}

// lent is a forge with its token, for one visit.
type lent struct {
	forged
	remote *remote
}

// visit lends a forge's token to fn. It is sent to the forge's own origin alone: no redirect is followed.
func (r *Room) visit(ctx context.Context, tenant string, f *wire.Forge, fn func(*lent) error) error {
	if err := r.rests.over(tenant, f, r.DB.Now()); err != nil {
		return err
	}
	lends := false
	err := r.Keys.Lend(ctx, tenant, f.Secret, func(v []byte) error {
		lends = true
		return fn(visitor(f, string(v)))
	})
	r.rests.heard(tenant, f, r.DB.Now(), err)
	if !lends && fault.Is(err, fault.NotFound) {
		return fault.New(fault.Conflict, "forge", "no token is sealed as %s", f.Secret).
			WithNext("seal it: tandem secret set %s", f.Secret)
	}
	return err
}

func visitor(f *wire.Forge, token string) *lent {
	guard := &egress.Guard{}
	if f.Inside {
		guard.Origins = []string{f.URL}
	}
	client := &http.Client{Transport: guard.Transport(), CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	api := &rest{client: client, repo: f.Repo, name: f.Name, left: maxVisit, lent: secret.NewRedactor()}
	api.lent.Learn([]byte(token))
	l := &lent{remote: &remote{client: client, url: f.URL + "/" + f.Repo + ".git", token: token, name: f.Name}}
	switch f.Kind {
	case wire.GitHub:
		if api.root = f.URL + "/api/v3"; f.URL == "https://github.com" {
			api.root = "https://api.github.com"
		}
		api.head = func(h http.Header) {
			h.Set("Authorization", "Bearer "+token)
			h.Set("Accept", "application/vnd.github+json")
			h.Set("X-GitHub-Api-Version", "2022-11-28")
		}
		l.forged = github{api, map[int64][]githubReview{}}
	default:
		api.root = f.URL + "/api/v1"
		api.head = func(h http.Header) { h.Set("Authorization", "token "+token) }
		l.forged = gitea{api, map[int64][]giteaReview{}}
	}
	return l
}
