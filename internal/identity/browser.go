package identity

import (
	"context"
	"database/sql"
	"encoding/hex"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// Browser is one that is signed in to the panel.
type Browser struct {
	ID        string    `json:"id"`
	Agent     string    `json:"agent" jsonschema:"what the browser calls itself"`
	SignedIn  time.Time `json:"signed_in_at"`
	ExpiresAt time.Time `json:"expires_at"`
	Here      bool      `json:"here,omitempty" jsonschema:"it is the one that asks"`
}

// BrowsersOut lists browsers.
type BrowsersOut struct {
	Browsers []*Browser `json:"browsers"`
}

// StartIn spends a sign-in link.
type StartIn struct {
	Code  string `json:"code" jsonschema:"of the link, tds_…"`
	Agent string `json:"agent,omitempty" jsonschema:"what the browser calls itself"`
	Key   string `json:"key,omitempty" jsonschema:"the public key with which the browser signs what it does"`
}

// KeyIn is the public key of the browser that asks.
type KeyIn struct {
	Key string `json:"key" jsonschema:"the public key with which the browser signs what it does"`
}

// StartOut is what the browser keeps.
type StartOut struct {
	Cookie   string `json:"cookie"`
	LifeSecs int    `json:"life_secs"`
}

// BrowserIn names a signed-in browser.
type BrowserIn struct {
	ID string `json:"id" jsonschema:"the browser's id, signin_…"`
}

// browserID names the browser that holds a cookie, without telling the cookie.
func browserID(hash []byte) string { return "signin_" + hex.EncodeToString(hash[:8]) }

func (r *Room) browserOps() []op.Op {
	return []op.Op{
		SigninStart.State(op.Spec{Once: true, Right: "join.use", MCP: "-", Secret: []string{"code"},
			Doc: "Sign a browser in to the panel with the code of a link, which works once."},
			func(StartIn) op.Resource { return joinAt("panel") }, r.start),
		SigninLeave.State(op.Spec{Right: "server.view", MCP: "-",
			Doc: "Sign out of the panel, in the browser that asks."},
			func(Nothing) op.Resource { return op.Resource{Kind: "server", Path: "/"} }, r.leave),
		SigninKey.State(op.Spec{Right: "server.view", Present: true, People: true, MCP: "-",
			Doc: "Keep the public key of a browser that signed in before it had one. From then on whatever it does is signed."},
			func(KeyIn) op.Resource { return op.Resource{Kind: "server", Path: "/"} }, r.keepKey),
		SigninList.Read(op.Spec{Right: "token.read", Masked: true, Method: "GET", Path: "/signin/browsers", MCP: "-",
			Doc: "List the browsers that are signed in to the panel."},
			func(Nothing) op.Resource { return tokenAt("") }, r.browsers),
		SigninEnd.State(op.Spec{Right: "token.revoke", Method: "DELETE", Path: "/signin/browsers/{id}", Present: true, People: true,
			MCP: "-",
			Doc: "Sign a browser out of the panel: its next page asks for a new link."},
			func(in BrowserIn) op.Resource { return tokenAt(in.ID) }, r.endBrowser),
	}
}

func (r *Room) start(ctx context.Context, tx *db.Tx, in StartIn) (StartOut, error) {
	link, err := r.takeSignin(ctx, tx, kindLink, in.Code)
	if db.NoRows(err) {
		return StartOut{}, fault.New(fault.Unauthenticated, "signin", "this sign-in link was used already or is too old").
			WithNext("make a new one: tandem panel open")
	}
	if err != nil {
		return StartOut{}, err
	}
	out := StartOut{Cookie: newSecret("tdc_"), LifeSecs: int(cookieLife.Seconds())}
	if err := putSignin(ctx, tx, kindCookie, link.tenant, link.actor, out.Cookie, in.Key, cookieLife); err != nil {
		return StartOut{}, err
	}
	hash := hashOf(kindCookie + out.Cookie)
	_, err = tx.Exec("UPDATE signin SET browser = ? WHERE hash = ?", shorten(in.Agent), hash)
	op.Note(ctx, "browser", browserID(hash))
	return out, err
}

func (r *Room) leave(ctx context.Context, tx *db.Tx, _ Nothing) (OK, error) {
	c := op.CallerFrom(ctx)
	if c.Door != op.DoorPanel {
		return OK{}, fault.New(fault.Invalid, "signin.leave", "only a browser signs out").WithNext("end another one: tandem panel signout ID")
	}
	return r.endBrowser(ctx, tx, BrowserIn{ID: c.Token})
}

// keepKey takes a browser's key once. One that has a key keeps it: another is another browser.
func (r *Room) keepKey(ctx context.Context, tx *db.Tx, in KeyIn) (OK, error) {
	c := op.CallerFrom(ctx)
	rows, err := tx.Query("SELECT "+signinColumns+" FROM signin WHERE tenant = ? AND kind = ? AND public_key = ''", c.Tenant, kindCookie)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (signinRow, error) { return scanSignin(rows) })
	if err != nil {
		return OK{}, err
	}
	for _, s := range all {
		if c.Door != op.DoorPanel || browserID(s.hash) != c.Token {
			continue
		}
		s.key = in.Key
		op.Row(ctx, s.Seal())
		op.Note(ctx, "browser", c.Token)
		_, err := tx.Exec("UPDATE signin SET public_key = ? WHERE hash = ?", in.Key, s.hash)
		return OK{err == nil}, err
	}
	return OK{}, fault.New(fault.Conflict, "signin.key", "only a browser that is signed in and has no key yet shows one").
		WithNext("sign in again: tandem panel open")
}

func (r *Room) browsers(ctx context.Context, _ Nothing) (BrowsersOut, error) {
	c := op.CallerFrom(ctx)
	rows, err := r.db.Query(ctx,
		"SELECT hash, browser, created_at, expires_at FROM signin WHERE tenant = ? AND kind = ? AND expires_at > ? ORDER BY created_at DESC",
		c.Tenant, kindCookie, r.db.Now())
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (*Browser, error) {
		var b Browser
		var hash []byte
		var created, expires int64
		err := rows.Scan(&hash, &b.Agent, &created, &expires)
		if err == nil {
			b.ID, b.SignedIn, b.ExpiresAt = browserID(hash), db.Time(created), db.Time(expires)
			b.Here = b.ID == c.Token
		}
		return &b, err
	})
	if all == nil {
		all = []*Browser{}
	}
	return BrowsersOut{all}, err
}

func (r *Room) endBrowser(ctx context.Context, tx *db.Tx, in BrowserIn) (OK, error) {
	rows, err := tx.Query("SELECT hash FROM signin WHERE tenant = ? AND kind = ?", op.CallerFrom(ctx).Tenant, kindCookie)
	hashes, err := db.Collect(rows, err, func(rows *sql.Rows) (hash []byte, err error) { return hash, rows.Scan(&hash) })
	if err != nil {
		return OK{}, err
	}
	for _, hash := range hashes {
		if browserID(hash) == in.ID {
			err := endSignins(ctx, tx, "hash = ?", hash)
			return OK{err == nil}, err
		}
	}
	return OK{}, fault.New(fault.NotFound, "signin.end", "no browser %s is signed in", in.ID).WithNext("list them: tandem panel browsers")
}
