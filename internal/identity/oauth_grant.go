package identity

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/url"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

type oauthClient struct {
	tenant, id, name, actor string
	redirects               []string
}

func loadClient(row interface{ Scan(...any) error }) (*oauthClient, error) {
	var c oauthClient
	var redirects string
	err := row.Scan(&c.tenant, &c.id, &c.name, &c.actor, &redirects)
	if db.NoRows(err) {
		return nil, fault.New(fault.NotFound, "oauth", "no program has registered under that client_id").
			WithNext("remove the connector and add it again")
	}
	if err != nil {
		return nil, err
	}
	if json.Unmarshal([]byte(redirects), &c.redirects) != nil {
		c.redirects = []string{redirects} // nobody vouches for what cannot be read
	}
	return &c, nil
}

const clientSelect = "tenant, id, name, actor, redirects"

const clientColumns = "SELECT " + clientSelect + " FROM oauth_client WHERE tenant = ? AND id = ?"

func (c *oauthClient) check(in ConnectIn) error {
	ok := false
	for _, u := range c.redirects {
		ok = ok || sameRedirect(u, in.Redirect)
	}
	if !ok {
		return fault.New(fault.Invalid, "oauth.consent", "the program did not register that redirect address")
	}
	if raw, err := base64.RawURLEncoding.DecodeString(in.Challenge); err != nil || len(raw) != sha256.Size {
		return fault.New(fault.Invalid, "oauth.consent", "the code_challenge is not an S256 challenge")
	}
	return nil
}

func (r *Room) look(ctx context.Context, in ConnectIn) (ConnectView, error) {
	c, err := loadClient(r.db.QueryRow(ctx, clientColumns, op.CallerFrom(ctx).Tenant, in.Client))
	if err != nil {
		return ConnectView{}, err
	}
	if err := c.check(in); err != nil {
		return ConnectView{}, err
	}
	u, err := url.Parse(in.Redirect)
	if err != nil {
		return ConnectView{}, fault.New(fault.Invalid, "oauth.look", "the redirect address cannot be read")
	}
	return ConnectView{c.name, in.Redirect, u.Host}, nil
}

func (r *Room) consent(ctx context.Context, tx *db.Tx, in ConnectIn) (ConsentOut, error) {
	who := op.CallerFrom(ctx)
	c, err := loadClient(tx.QueryRow(clientColumns+tx.ForUpdate(), who.Tenant, in.Client))
	if err != nil {
		return ConsentOut{}, err
	}
	if err := c.check(in); err != nil {
		return ConsentOut{}, err
	}
	if c.actor == "" {
		name := c.name
		waits, err := r.waiting(ctx, tx, who.Tenant, op.Service, name)
		if err != nil {
			return ConsentOut{}, err
		}
		if waits != "" { // a program chose its name itself
			name = "program-" + name
		}
		a, err := freshActor(ctx, tx, who.Tenant, op.Service, name, who.Actor)
		if err == nil {
			err = r.mayReceive(ctx, tx, a)
		}
		if err != nil {
			return ConsentOut{}, err
		}
		if _, err := tx.Exec("UPDATE oauth_client SET actor = ? WHERE tenant = ? AND id = ?", a.ID, who.Tenant, c.id); err != nil {
			return ConsentOut{}, err
		}
		op.Note(ctx, "actor", a.Name)
		c.actor = a.ID
	} else if !r.Vouch.Holds(ctx, c.Seal()) {
		return ConsentOut{}, forged("oauth.consent", c.Seal().What)
	} else if live, err := r.liveIn(ctx, tx, who.Tenant, c.actor); err != nil {
		return ConsentOut{}, err
	} else if !live {
		return ConsentOut{}, fault.New(fault.Denied, "oauth.consent", "%s was let in before, and is disabled", c.name).
			WithNext("if it may come back, remove the connector there and add it again")
	}
	op.Row(ctx, c.Seal())
	code := newSecret("tdo_")
	return ConsentOut{code}, putGrant(ctx, tx, grantRow{tenant: who.Tenant, client: c.id, kind: grantCode, redirect: in.Redirect,
		challenge: in.Challenge,
		hash:      hashOf(grantCode + code), expires: tx.Now().Add(codeLife).UnixMicro()})
}

func putGrant(ctx context.Context, tx *db.Tx, g grantRow) error {
	op.Row(ctx, g.Seal())
	_, err := tx.Exec("INSERT INTO oauth_grant ("+oauthColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		g.tenant, g.client, g.kind, g.redirect, g.challenge, g.hash, g.expires, g.used)
	return err
}

var badGrant = fault.New(fault.Denied, "oauth.exchange", "the code or refresh token is not known, was used already or is too old").
	WithNext("connect again")

func (r *Room) exchange(ctx context.Context, tx *db.Tx, in ExchangeIn) (ExchangeOut, error) {
	who := op.CallerFrom(ctx)
	var kind, secret string
	switch in.Grant {
	case "authorization_code":
		kind, secret = grantCode, in.Code
	case "refresh_token":
		kind, secret = grantRefresh, in.Refresh
	default:
		return ExchangeOut{}, fault.New(fault.Invalid, "oauth.exchange", "grant_type should be authorization_code or refresh_token")
	}
	c, err := loadClient(tx.QueryRow(clientColumns+tx.ForUpdate(), who.Tenant, in.Client))
	if err != nil {
		return ExchangeOut{}, err
	}
	g, err := scanGrant(tx.QueryRow("SELECT "+oauthColumns+" FROM oauth_grant WHERE hash = ? AND tenant = ? AND client = ? AND kind = ?"+
		tx.ForUpdate(),
		hashOf(kind+secret), who.Tenant, c.id, kind))
	if db.NoRows(err) {
		return ExchangeOut{}, badGrant
	}
	if err != nil {
		return ExchangeOut{}, err
	}
	spent := g
	spent.used = 1
	again := r.Vouch.Asks() && r.Vouch.Holds(ctx, spent.Seal()) // used, whatever its row says
	if !again && !(r.Vouch.Holds(ctx, g.Seal()) && r.Vouch.Holds(ctx, c.Seal())) {
		return ExchangeOut{}, badGrant
	}
	if g.used != 0 || again { // somebody has a copy: nothing of this program's is trusted any more
		op.Note(ctx, "reused", true)
		return ExchangeOut{Reused: true}, burn(ctx, tx, who.Tenant, c)
	}
	if !tx.Now().Before(db.Time(g.expires)) {
		return ExchangeOut{}, badGrant
	}
	if kind == grantCode {
		sum := sha256.Sum256([]byte(in.Verifier))
		proof := base64.RawURLEncoding.EncodeToString(sum[:])
		if g.redirect != in.Redirect || subtle.ConstantTimeCompare([]byte(proof), []byte(g.challenge)) != 1 {
			return ExchangeOut{}, badGrant
		}
	}
	if live, err := r.liveIn(ctx, tx, who.Tenant, c.actor); err != nil || !live {
		if err == nil {
			err = badGrant
		}
		return ExchangeOut{}, err
	}
	if _, err := tx.Exec("UPDATE oauth_grant SET used_at = ? WHERE hash = ?", tx.Now(), hashOf(kind+secret)); err != nil {
		return ExchangeOut{}, err
	}
	op.Row(ctx, spent.Seal())
	return r.issue(ctx, tx, who, c)
}

// ErrReused is the answer to an exchange whose code or refresh token was used
// before. The exchange itself succeeds: what it revokes is there to stay.
var ErrReused = fault.New(fault.Denied, "oauth.exchange",
	"this code or refresh token was used before; everything of this program is revoked").WithNext("connect again")

func (r *Room) issue(ctx context.Context, tx *db.Tx, who op.Caller, c *oauthClient) (ExchangeOut, error) {
	out := ExchangeOut{Access: newSecret("tdm_"), Type: "Bearer", Expires: int64(accessLife.Seconds()), Refresh: newSecret("tdr_")}
	// A program comes back every hour, for years: what has ended goes. The journal keeps that it was there.
	rows, err := tx.Query("DELETE FROM token WHERE tenant = ? AND actor = ? AND label = 'oauth' AND expires_at > 0 AND "+
		"expires_at <= ? RETURNING "+tokenColumns,
		who.Tenant, c.actor, tx.Now())
	gone, err := collectSealed(rows, err, scanToken)
	for _, s := range gone {
		op.Seal(ctx, s.Subject)
	}
	if err != nil {
		return out, err
	}
	if err := endGrants(ctx, tx, "tenant = ? AND client = ? AND expires_at <= ?", who.Tenant, c.id, tx.Now()); err != nil {
		return out, err
	}
	tokenID := id.New("tok")
	if _, err := tx.Exec(`INSERT INTO token (tenant, id, actor, hash, label, decides, created_at, created_by, expires_at, revoked_at, used_at)
		VALUES (?, ?, ?, ?, 'oauth', 0, ?, ?, ?, 0, 0)`, who.Tenant, tokenID, c.actor, hashOf(out.Access), tx.Now(), who.Actor,
		tx.Now().Add(accessLife)); err != nil {
		return out, err
	}
	if err := sealToken(ctx, tx, who.Tenant, tokenID); err != nil {
		return out, err
	}
	return out, putGrant(ctx, tx, grantRow{tenant: who.Tenant, client: c.id, kind: grantRefresh, hash: hashOf(grantRefresh + out.Refresh),
		expires: tx.Now().Add(refreshLife).UnixMicro()})
}

// clientOfToken is the program that a token was issued to; nil for a token that somebody minted.
func clientOfToken(tx *db.Tx, tenant, tokenID string) (*oauthClient, error) {
	c, err := loadClient(tx.QueryRow(`SELECT c.tenant, c.id, c.name, c.actor, c.redirects FROM oauth_client c JOIN token t
		ON t.tenant = c.tenant AND t.actor = c.actor
		WHERE t.tenant = ? AND t.id = ? AND t.label = 'oauth'`, tenant, tokenID))
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return c, err
}

// burn revokes everything of a program: one whose code or refresh token was used
// twice, or that a person took back.
func burn(ctx context.Context, tx *db.Tx, tenant string, c *oauthClient) error {
	if err := revokeTokens(ctx, tx, "tenant = ? AND actor = ? AND label = 'oauth' AND revoked_at = 0", tenant, c.actor); err != nil {
		return err
	}
	return endGrants(ctx, tx, "tenant = ? AND client = ? AND used_at = 0", tenant, c.id)
}

// revokeTokens takes tokens back, in their rows and in the journal.
func revokeTokens(ctx context.Context, tx *db.Tx, where string, args ...any) error {
	rows, err := tx.Query("UPDATE token SET revoked_at = ? WHERE "+where+" RETURNING "+tokenColumns, append([]any{tx.Now()}, args...)...)
	gone, err := collectSealed(rows, err, scanToken)
	for _, s := range gone {
		op.Row(ctx, s)
	}
	return err
}

func (r *Room) forget(ctx context.Context, tx *db.Tx, in ForgetIn) (OK, error) {
	tenant := op.CallerFrom(ctx).Tenant
	if err := revokeTokens(ctx, tx, "tenant = ? AND hash = ? AND label = 'oauth' AND revoked_at = 0", tenant, hashOf(in.Token)); err != nil {
		return OK{}, err
	}
	return OK{true}, endGrants(ctx, tx, "tenant = ? AND hash = ?", tenant, hashOf(grantRefresh+in.Token))
}
