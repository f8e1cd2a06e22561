package identity

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"math"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// Browser is one that is signed in to the panel.
type Browser struct {
	ID        string    `json:"id"`
	Person    string    `json:"person" jsonschema:"who signed in with it"`
	Agent     string    `json:"agent" jsonschema:"what the browser calls itself"`
	SignedIn  time.Time `json:"signed_in_at"`
	ExpiresAt time.Time `json:"expires_at"`
	Here      bool      `json:"here,omitempty" jsonschema:"it is the one that asks"`
}

// BrowsersOut lists browsers.
type BrowsersOut struct {
	Browsers []*Browser `json:"browsers"`
	More     bool       `json:"more,omitempty"`
}

// BrowsersIn asks for a page of browsers, the newest first.
type BrowsersIn struct {
	Person string `json:"person,omitempty" jsonschema:"only those with which this person signed in"`
	After  string `json:"after,omitempty" jsonschema:"only those behind this one: the last of the page before"`
	Limit  int    `json:"limit,omitempty" jsonschema:"at most this many, 500 unless told, 1000 at most"`
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
func browserID(hash []byte) string { return signinPrefix + hex.EncodeToString(hash[:shownHash]) }

const signinPrefix, shownHash = "signin_", 8

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
			func(BrowsersIn) op.Resource { return tokenAt("") }, r.browsers),
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

func (r *Room) browsers(ctx context.Context, in BrowsersIn) (BrowsersOut, error) {
	c, out := op.CallerFrom(ctx), BrowsersOut{Browsers: []*Browser{}}
	limit, err := atMost(string(SigninList), in.Limit)
	if err != nil {
		return out, err
	}
	before := int64(math.MaxInt64)
	var last []byte
	if in.After != "" {
		if last, before, err = r.signedIn(ctx, c.Tenant, in.After); err != nil {
			return out, err
		}
	}
	type row struct {
		*Browser
		hash    []byte
		created int64
	}
	signed := pages[row]{size: limit + 1, place: func(b row) string {
		last, before = b.hash, b.created
		return b.ID
	}, read: func(string) ([]row, error) {
		rows, err := r.db.Query(ctx, `SELECT s.hash, s.browser, s.created_at, s.expires_at, a.name FROM signin s
			JOIN actor a ON a.tenant = s.tenant AND a.id = s.actor WHERE s.tenant = ? AND s.kind = ? AND s.expires_at > ?
			AND (s.created_at < ? OR s.created_at = ? AND s.hash > ?) AND (? = '' OR a.name = ?) ORDER BY s.created_at DESC, s.hash LIMIT ?`,
			c.Tenant, kindCookie, r.db.Now(), before, before, append([]byte{}, last...), in.Person, in.Person, limit+1)
		return db.Collect(rows, err, func(rows *sql.Rows) (row, error) {
			b := row{Browser: &Browser{}}
			var expires int64
			err := rows.Scan(&b.hash, &b.Agent, &b.created, &expires, &b.Person)
			if err == nil {
				b.ID, b.SignedIn, b.ExpiresAt = browserID(b.hash), db.Time(b.created), db.Time(expires)
				b.Here = b.ID == c.Token
			}
			return b, err
		})
	}, seen: func(b row) bool { return b.Here || op.May(ctx, "token.read", tokenAt(b.Person)) }}
	found, more, err := signed.from("", limit)
	for _, b := range found {
		out.Browsers = append(out.Browsers, b.Browser)
	}
	out.More = more
	return out, err
}

// signedIn is where a browser stands in the list.
func (r *Room) signedIn(ctx context.Context, tenant, id string) (hash []byte, created int64, err error) {
	first, err := hex.DecodeString(strings.TrimPrefix(id, signinPrefix))
	if err == nil && len(first) == shownHash {
		err = r.db.QueryRow(ctx, "SELECT hash, created_at FROM signin WHERE tenant = ? AND kind = ? AND hash >= ? AND hash <= ?", tenant,
			kindCookie, first, append(first, bytes.Repeat([]byte{0xff}, 32)...)).Scan(&hash, &created)
	}
	if err != nil || hash == nil {
		return nil, 0, fault.New(fault.NotFound, string(SigninList), "no browser %.40q is signed in, so nothing is behind it", id).
			WithNext("begin with the first page: tandem panel browsers")
	}
	return hash, created, nil
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
