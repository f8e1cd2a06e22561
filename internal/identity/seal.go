package identity

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"tandem/internal/db"
	"tandem/internal/op"
)

// What a row says once what it gave was taken back. The row stays, and so does the word about it.
const takenBack = "taken back"

// builtIn are the actors that the house's own tenant has from the start: the program itself vouches for them, until one is disabled.
var builtIn = []Actor{{Kind: op.Person, Name: Owner}, {Kind: op.Local, Name: LocalUser, For: Owner},
	{Kind: op.Service, Name: API, For: Owner},
	{Kind: op.Service, Name: Connector, For: Owner}, {Kind: op.Service, Name: System}, {Kind: op.Service, Name: Newcomer},
	{Kind: op.Agent, Name: MCP, For: LocalUser}}

// Lives are the rows of this room that end by themselves, with how long one of them lasts at most.
var Lives = map[string]time.Duration{"signin": max(linkLife, cookieLife, maxInvite),
	"oauth":  max(codeLife, refreshLife),
	"invite": maxInvite}

// Seal is an actor: what it is, its name, for whom it acts, and whether it still does.
func (a *Actor) Seal() op.Sealed {
	s := op.Sealed{Tenant: a.Tenant, Subject: "actor:" + a.ID, Says: []string{a.ID, string(a.Kind), a.Name, a.For},
		What: "the " + string(a.Kind) + " " + a.Name + " (" + a.ID + ")"}
	if a.DisabledAt != nil {
		s.Says = append(s.Says, takenBack)
		s.What += ", disabled"
	}
	return s
}

// inborn reports whether an actor is one of those that are there from the start, as the program knows it.
func (a *Actor) inborn() bool {
	for _, b := range builtIn {
		named := a.Name == b.Name || b.Name == MCP && strings.HasPrefix(a.Name, MCP+"-") // somebody had that name before
		if a.Tenant == LocalTenant && a.ID == WellKnown(b.Name) && a.Kind == b.Kind && named && a.For == WellKnown(b.For) && a.DisabledAt == nil {
			return true
		}
	}
	return false
}

// counts reports whether an actor is who its row says.
func (r *Room) counts(ctx context.Context, a *Actor) bool {
	s := a.Seal()
	return r.Vouch.Holds(ctx, s) || a.inborn() && !r.Vouch.Knows(a.Tenant, s.Subject)
}

// tokenRow is a token as its row has it.
type tokenRow struct {
	tenant, id, actor string
	hash              []byte
	decides           int
	expires, revoked  int64
}

const tokenColumns = "tenant, id, actor, hash, decides, expires_at, revoked_at"

func scanToken(row interface{ Scan(...any) error }) (t tokenRow, err error) {
	return t, row.Scan(&t.tenant, &t.id, &t.actor, &t.hash, &t.decides, &t.expires, &t.revoked)
}

func tokenSubject(id string) string { return "token:" + id }

// Seal is a token: for whom it speaks, what opens it, whether it may decide, and until when.
func (t tokenRow) Seal() op.Sealed {
	s := op.Sealed{Tenant: t.tenant, Subject: tokenSubject(t.id), What: "the token " + t.id + " of " + t.actor,
		Says: []string{t.id, t.actor, hex.EncodeToString(t.hash), strconv.Itoa(t.decides), strconv.FormatInt(t.expires, 10)}}
	if t.revoked != 0 {
		s.Says = []string{t.id, takenBack}
		s.What += ", revoked"
	}
	return s
}

// sealToken vouches for a token as its row is now.
func sealToken(ctx context.Context, tx *db.Tx, tenant, id string) error {
	t, err := scanToken(tx.QueryRow("SELECT "+tokenColumns+" FROM token WHERE tenant = ? AND id = ?", tenant, id))
	if err == nil {
		op.Row(ctx, t.Seal())
	}
	return err
}

func pinSeal(tenant, actor, hash string, set int64) op.Sealed {
	return op.Sealed{Tenant: tenant, Subject: "pin:" + actor, Says: []string{actor, hash, strconv.FormatInt(set, 10)},
		What: "the PIN of " + actor}
}

// passkeySeal leaves out what a device counts up with every use.
func passkeySeal(tenant, id, actor, host string, k *webauthn.Credential) op.Sealed {
	return op.Sealed{Tenant: tenant, Subject: "passkey:" + id, What: "the passkey " + id + " of " + actor + " under " + host,
		Says: []string{id, actor, host, hex.EncodeToString(k.ID), hex.EncodeToString(k.PublicKey)}}
}

// signinRow is a link, an invitation or a browser's cookie.
type signinRow struct {
	tenant, actor, kind string
	hash                []byte
	expires             int64
	key                 string // of a browser: what signs whatever it does
}

const signinColumns = "tenant, actor, kind, hash, expires_at, public_key"

func scanSignin(row interface{ Scan(...any) error }) (s signinRow, err error) {
	return s, row.Scan(&s.tenant, &s.actor, &s.kind, &s.hash, &s.expires, &s.key)
}

func (s signinRow) Seal() op.Sealed {
	out := op.Sealed{Tenant: s.tenant, Subject: "signin:" + hex.EncodeToString(s.hash),
		Says: []string{s.kind, s.actor, strconv.FormatInt(s.expires, 10)},
		What: "the sign-in " + browserID(s.hash) + " (" + s.kind + ") of " + s.actor}
	if s.key != "" {
		out.Says = append(out.Says, s.key)
	}
	return out
}

// Seal is a program that a person consented to.
func (c *oauthClient) Seal() op.Sealed {
	return op.Sealed{Tenant: c.tenant, Subject: "program:" + c.id, Says: append([]string{c.id, c.name, c.actor}, c.redirects...),
		What: "the program " + c.name + " (" + c.id + ")"}
}

// grantRow is a code or a refresh token of a program.
type grantRow struct {
	tenant, client, kind, redirect, challenge string
	hash                                      []byte
	expires, used                             int64
}

const oauthColumns = "tenant, client, kind, redirect, challenge, hash, expires_at, used_at"

func scanGrant(row interface{ Scan(...any) error }) (g grantRow, err error) {
	return g, row.Scan(&g.tenant, &g.client, &g.kind, &g.redirect, &g.challenge, &g.hash, &g.expires, &g.used)
}

func (g grantRow) Seal() op.Sealed {
	s := op.Sealed{Tenant: g.tenant, Subject: "oauth:" + hex.EncodeToString(g.hash), What: "a " + g.kind + " token of the program " + g.client,
		Says: []string{g.client, g.kind, g.redirect, g.challenge, strconv.FormatInt(g.expires, 10)}}
	if g.used != 0 {
		s.Says = append(s.Says, takenBack)
	}
	return s
}

// collect reads rows of this room that confer authority.
func collectSealed[T interface{ Seal() op.Sealed }](rows *sql.Rows, err error,
	scan func(interface{ Scan(...any) error }) (T, error)) ([]op.Sealed, error) {
	return db.Collect(rows, err, func(rows *sql.Rows) (op.Sealed, error) {
		x, err := scan(rows)
		if err != nil {
			return op.Sealed{}, err
		}
		return x.Seal(), nil
	})
}

// Rows lists everything of this room that confers authority, or says that it was taken back.
func (r *Room) Rows(ctx context.Context) (out []op.Sealed, err error) {
	actors, err := collectActors(r.db.Query(ctx, "SELECT "+actorColumns+" FROM actor"))
	if err != nil {
		return nil, err
	}
	for _, a := range actors {
		if s := a.Seal(); !a.inborn() || r.Vouch.Knows(a.Tenant, s.Subject) {
			out = append(out, s)
		}
	}
	add := func(more []op.Sealed, err2 error) {
		out = append(out, more...)
		if err == nil {
			err = err2
		}
	}
	tenants, err2 := r.tenantRows(ctx)
	add(tenants, err2)
	read := func(query string, args ...any) (*sql.Rows, error) { return r.db.Query(ctx, query, args...) }
	rows, err2 := read("SELECT " + tokenColumns + " FROM token")
	add(collectSealed(rows, err2, scanToken))
	add(r.signinRows(ctx))
	rows, err2 = read("SELECT " + clientSelect + " FROM oauth_client WHERE actor <> ''")
	add(collectSealed(rows, err2, loadClient))
	rows, err2 = read("SELECT " + oauthColumns + " FROM oauth_grant")
	add(collectSealed(rows, err2, scanGrant))
	rows, err2 = read("SELECT " + inviteColumns + " FROM invite")
	add(collectSealed(rows, err2, scanInvite))
	rows, err2 = read("SELECT " + codeColumns + " FROM recovery_code")
	add(collectSealed(rows, err2, scanCode))
	rows, err2 = read("SELECT " + recoveryColumns + " FROM recovery")
	add(collectSealed(rows, err2, scanRecovery))
	rows, err2 = read("SELECT " + deviceColumns + " FROM device")
	add(collectSealed(rows, err2, scanDevice))
	rows, err2 = read("SELECT " + signerColumns + " FROM assertion_key")
	add(collectSealed(rows, err2, scanSigner))
	rows, err2 = read("SELECT tenant, actor, hash, set_at FROM pin")
	add(db.Collect(rows, err2, func(rows *sql.Rows) (op.Sealed, error) {
		var tenant, actor, hash string
		var set int64
		err := rows.Scan(&tenant, &actor, &hash, &set)
		return pinSeal(tenant, actor, hash, set), err
	}))
	rows, err2 = read("SELECT tenant, id, actor, host, credential FROM passkey")
	add(db.Collect(rows, err2, func(rows *sql.Rows) (op.Sealed, error) {
		var tenant, id, actor, host, text string
		var k webauthn.Credential
		if err := rows.Scan(&tenant, &id, &actor, &host, &text); err != nil {
			return op.Sealed{}, err
		}
		_ = json.Unmarshal([]byte(text), &k) // one that cannot be read is no key, and nobody vouches for it
		return passkeySeal(tenant, id, actor, host, &k), nil
	}))
	return out, err
}

// signinRows lists the sign-ins that can be used, and those that ran out and wait to be swept, as far as the journal knows them: an
// entry about one of these would otherwise look like one whose row was taken away. One that it does not know confers nothing.
func (r *Room) signinRows(ctx context.Context) ([]op.Sealed, error) {
	rows, err := r.db.Query(ctx, "SELECT "+signinColumns+" FROM signin")
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (signinRow, error) { return scanSignin(rows) })
	known, now := map[string]map[string]bool{}, r.db.Now().UnixMicro()
	var out []op.Sealed
	for _, s := range all {
		if known[s.tenant] == nil {
			known[s.tenant] = r.known(s.tenant, "signin")
		}
		if row := s.Seal(); s.expires > now || known[s.tenant][row.Subject] {
			out = append(out, row)
		}
	}
	return out, err
}

// known are the subjects of a kind that the journal vouches for now.
func (r *Room) known(tenant, kind string) map[string]bool {
	out := map[string]bool{}
	if r.Vouch.Asks() {
		for _, subject := range r.Vouch.Stand(tenant, kind) {
			out[subject] = true
		}
	}
	return out
}

// endSignins and endGrants let go of what ran out: an entry that vouches for a row that went by itself would look like one that
// somebody took away.
func endSignins(ctx context.Context, tx *db.Tx, where string, args ...any) error {
	rows, err := tx.Query("DELETE FROM signin WHERE "+where+" RETURNING "+signinColumns, args...)
	gone, err := collectSealed(rows, err, scanSignin)
	for _, s := range gone {
		op.Seal(ctx, s.Subject)
	}
	return err
}

func endGrants(ctx context.Context, tx *db.Tx, where string, args ...any) error {
	rows, err := tx.Query("DELETE FROM oauth_grant WHERE "+where+" RETURNING "+oauthColumns, args...)
	gone, err := collectSealed(rows, err, scanGrant)
	for _, s := range gone {
		op.Seal(ctx, s.Subject)
	}
	return err
}
