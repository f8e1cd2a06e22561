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
	id, name, actor string
	redirects       []string
}

func loadClient(row interface{ Scan(...any) error }) (*oauthClient, error) {
	var c oauthClient
	var redirects string
	err := row.Scan(&c.id, &c.name, &c.actor, &redirects)
	if db.NoRows(err) {
		return nil, fault.New(fault.NotFound, "oauth", "no program has registered under that client_id").WithNext("remove the connector and add it again")
	}
	if err != nil {
		return nil, err
	}
	return &c, json.Unmarshal([]byte(redirects), &c.redirects)
}

const clientColumns = "SELECT id, name, actor, redirects FROM oauth_client WHERE tenant = ? AND id = ?"

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
		a, err := freshActor(tx, who.Tenant, op.Service, c.name, who.Actor)
		if err != nil {
			return ConsentOut{}, err
		}
		if _, err := tx.Exec("UPDATE oauth_client SET actor = ? WHERE tenant = ? AND id = ?", a.ID, who.Tenant, c.id); err != nil {
			return ConsentOut{}, err
		}
		op.Note(ctx, "actor", a.Name)
	}
	code := newSecret("tdo_")
	_, err = tx.Exec("INSERT INTO oauth_grant (hash, tenant, client, kind, redirect, challenge, expires_at, used_at) VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
		hashOf(grantCode+code), who.Tenant, c.id, grantCode, in.Redirect, in.Challenge, tx.Now().Add(codeLife))
	return ConsentOut{code}, err
}

var badGrant = fault.New(fault.Denied, "oauth.exchange", "the code or refresh token is not known, was used already or is too old").WithNext("connect again")

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
	var redirect, challenge string
	var expires, used int64
	err = tx.QueryRow("SELECT redirect, challenge, expires_at, used_at FROM oauth_grant WHERE hash = ? AND tenant = ? AND client = ? AND kind = ?"+tx.ForUpdate(),
		hashOf(kind+secret), who.Tenant, c.id, kind).Scan(&redirect, &challenge, &expires, &used)
	if db.NoRows(err) {
		return ExchangeOut{}, badGrant
	}
	if err != nil {
		return ExchangeOut{}, err
	}
	if used != 0 { // somebody has a copy: nothing of this program's is trusted any more
		op.Note(ctx, "reused", true)
		return ExchangeOut{Reused: true}, burn(tx, who.Tenant, c)
	}
	if !tx.Now().Before(db.Time(expires)) {
		return ExchangeOut{}, badGrant
	}
	if kind == grantCode {
		sum := sha256.Sum256([]byte(in.Verifier))
		proof := base64.RawURLEncoding.EncodeToString(sum[:])
		if redirect != in.Redirect || subtle.ConstantTimeCompare([]byte(proof), []byte(challenge)) != 1 {
			return ExchangeOut{}, badGrant
		}
	}
	if _, err := tx.Exec("UPDATE oauth_grant SET used_at = ? WHERE hash = ?", tx.Now(), hashOf(kind+secret)); err != nil {
		return ExchangeOut{}, err
	}
	return r.issue(tx, who, c)
}

// ErrReused is the answer to an exchange whose code or refresh token was used
// before. The exchange itself succeeds: what it revokes is there to stay.
var ErrReused = fault.New(fault.Denied, "oauth.exchange", "this code or refresh token was used before; everything of this program is revoked").WithNext("connect again")

func (r *Room) issue(tx *db.Tx, who op.Caller, c *oauthClient) (ExchangeOut, error) {
	out := ExchangeOut{Access: newSecret("tdm_"), Type: "Bearer", Expires: int64(accessLife.Seconds()), Refresh: newSecret("tdr_")}
	// A program comes back every hour, for years: what has ended goes. The journal keeps that it was there.
	if _, err := tx.Exec("DELETE FROM token WHERE tenant = ? AND actor = ? AND label = 'oauth' AND expires_at > 0 AND expires_at <= ?", who.Tenant, c.actor, tx.Now()); err != nil {
		return out, err
	}
	if _, err := tx.Exec("DELETE FROM oauth_grant WHERE tenant = ? AND client = ? AND expires_at <= ?", who.Tenant, c.id, tx.Now()); err != nil {
		return out, err
	}
	if _, err := tx.Exec(`INSERT INTO token (tenant, id, actor, hash, label, decides, created_at, created_by, expires_at, revoked_at, used_at)
		VALUES (?, ?, ?, ?, 'oauth', 0, ?, ?, ?, 0, 0)`, who.Tenant, id.New("tok"), c.actor, hashOf(out.Access), tx.Now(), who.Actor, tx.Now().Add(accessLife)); err != nil {
		return out, err
	}
	_, err := tx.Exec("INSERT INTO oauth_grant (hash, tenant, client, kind, redirect, challenge, expires_at, used_at) VALUES (?, ?, ?, ?, '', '', ?, 0)",
		hashOf(grantRefresh+out.Refresh), who.Tenant, c.id, grantRefresh, tx.Now().Add(refreshLife))
	return out, err
}

// clientOfToken is the program that a token was issued to; nil for a token that somebody minted.
func clientOfToken(tx *db.Tx, tenant, tokenID string) (*oauthClient, error) {
	c, err := loadClient(tx.QueryRow(`SELECT c.id, c.name, c.actor, c.redirects FROM oauth_client c JOIN token t ON t.tenant = c.tenant AND t.actor = c.actor
		WHERE t.tenant = ? AND t.id = ? AND t.label = 'oauth'`, tenant, tokenID))
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return c, err
}

// burn revokes everything of a program: one whose code or refresh token was used
// twice, or that a person took back.
func burn(tx *db.Tx, tenant string, c *oauthClient) error {
	if _, err := tx.Exec("UPDATE token SET revoked_at = ? WHERE tenant = ? AND actor = ? AND label = 'oauth' AND revoked_at = 0", tx.Now(), tenant, c.actor); err != nil {
		return err
	}
	_, err := tx.Exec("DELETE FROM oauth_grant WHERE tenant = ? AND client = ? AND used_at = 0", tenant, c.id)
	return err
}

func (r *Room) forget(ctx context.Context, tx *db.Tx, in ForgetIn) (OK, error) {
	tenant := op.CallerFrom(ctx).Tenant
	if _, err := tx.Exec("UPDATE token SET revoked_at = ? WHERE tenant = ? AND hash = ? AND label = 'oauth' AND revoked_at = 0", tx.Now(), tenant, hashOf(in.Token)); err != nil {
		return OK{}, err
	}
	_, err := tx.Exec("DELETE FROM oauth_grant WHERE tenant = ? AND hash = ?", tenant, hashOf(grantRefresh+in.Token))
	return OK{true}, err
}
