package identity

import (
	"context"
	"encoding/json"
	"net"
	"net/url"
	"strings"
	"time"
	"unicode"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// OAuth 2.1 for programs that connect over the network without a secret in a
// URL: they register, a person present consents, and they get tokens of their
// own that expire, rotate and can be revoked.
const (
	codeLife    = time.Minute
	accessLife  = time.Hour
	refreshLife = 30 * 24 * time.Hour
	maxClients  = 500 // that nobody has consented to yet
	maxFrom     = 50  // of them, from one source
	settles     = 10 * time.Minute

	grantCode    = "code"
	grantRefresh = "refresh"
)

// RegisterIn is a program that wants to connect (RFC 7591).
type RegisterIn struct {
	Name      string   `json:"client_name,omitempty"`
	Redirects []string `json:"redirect_uris"`
}

// RegisterOut is its registration.
type RegisterOut struct {
	ID        string   `json:"client_id"`
	Name      string   `json:"client_name"`
	Redirects []string `json:"redirect_uris"`
	IssuedAt  int64    `json:"client_id_issued_at"`
	Auth      string   `json:"token_endpoint_auth_method"`
	Grants    []string `json:"grant_types"`
	Responses []string `json:"response_types"`
}

// ConnectIn is what a program asks a person to consent to.
type ConnectIn struct {
	Client    string `json:"client_id"`
	Redirect  string `json:"redirect_uri"`
	Challenge string `json:"code_challenge"`
}

// ConnectView is that request as a person reads it.
type ConnectView struct {
	Name     string `json:"name"`
	Redirect string `json:"redirect_uri"`
	Host     string `json:"host" jsonschema:"where the answer goes"`
}

// ConsentOut is the code that the program exchanges.
type ConsentOut struct {
	Code string `json:"code"`
}

// ExchangeIn turns a code or a refresh token into tokens.
type ExchangeIn struct {
	Grant    string `json:"grant_type"`
	Client   string `json:"client_id"`
	Code     string `json:"code,omitempty"`
	Redirect string `json:"redirect_uri,omitempty"`
	Verifier string `json:"code_verifier,omitempty"`
	Refresh  string `json:"refresh_token,omitempty"`
}

// ExchangeOut are the tokens.
type ExchangeOut struct {
	Access  string `json:"access_token"`
	Type    string `json:"token_type"`
	Expires int64  `json:"expires_in"`
	Refresh string `json:"refresh_token"`
	Reused  bool   `json:"reused,omitempty" jsonschema:"the code or refresh token was used before: everything of the program is revoked, and there are no tokens"`
}

// ForgetIn revokes a token that its holder no longer needs.
type ForgetIn struct {
	Token string `json:"token"`
}

func (r *Room) oauthOps() []op.Op {
	client := func(id string) op.Resource { return joinAt(id) }
	return []op.Op{
		OAuthRegister.State(op.Spec{Right: "join.use", MCP: "-",
			Doc: "Register a program that wants to connect by OAuth. It has no rights until a person consents."},
			func(RegisterIn) op.Resource { return client("register") }, r.register),
		OAuthLook.Read(op.Spec{Right: "token.read", MCP: "-", People: true, Doc: "Show what a program asks a person to consent to."},
			func(ConnectIn) op.Resource { return tokenAt("oauth") }, r.look),
		OAuthConsent.State(op.Spec{Once: true, Right: "token.mint", MCP: "-", Present: true, People: true,
			Doc: "Consent to a program's connecting. Needs a person present."},
			func(ConnectIn) op.Resource { return tokenAt("oauth") }, r.consent),
		OAuthExchange.State(op.Spec{Once: true, Right: "join.use", MCP: "-",
			Secret: []string{"code", "code_verifier", "refresh_token"}, Doc: "Exchange a code or a refresh token for tokens."},
			func(in ExchangeIn) op.Resource { return client("exchange") }, r.exchange),
		OAuthClear.State(op.Spec{Right: "token.revoke", Method: "DELETE", Path: "/oauth/waiting", MCP: "-", Present: true,
			People: true,
			Doc:    "Forget programs that registered and that nobody has consented to. Needs a person present."},
			func(ClearIn) op.Resource { return tokenAt("oauth") }, r.clearWaiting),
		OAuthForget.State(op.Spec{Once: true, Right: "join.use", MCP: "-", Secret: []string{"token"},
			Doc: "Revoke a token or a refresh token, by its holder."},
			func(ForgetIn) op.Resource { return client("forget") }, r.forget),
	}
}

// Check refuses addresses that an answer must not be sent to.
func (in RegisterIn) Check() error {
	if len(in.Redirects) == 0 || len(in.Redirects) > 10 {
		return fault.New(fault.Invalid, "oauth.register", "redirect_uris should name one to ten addresses")
	}
	for _, u := range in.Redirects {
		if err := checkRedirect(u); err != nil {
			return err
		}
	}
	return nil
}

func checkRedirect(s string) error {
	u, err := url.Parse(s)
	bad := fault.New(fault.Invalid, "oauth.register", "%q cannot be a redirect address", s).
		WithNext("use https, or http on this machine, without a fragment")
	switch {
	case err != nil || len(s) > 2000 || u.Host == "" || u.Fragment != "" || strings.Contains(s, "#") || u.User != nil:
		return bad
	case u.Scheme == "https", u.Scheme == "http" && onLoopback(u):
		return nil
	}
	return bad
}

func onLoopback(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// sameRedirect allows any port on loopback, where a program listens on what is
// free (RFC 8252).
func sameRedirect(registered, given string) bool {
	if registered == given {
		return true
	}
	a, err1 := url.Parse(registered)
	b, err2 := url.Parse(given)
	return err1 == nil && err2 == nil && onLoopback(a) && onLoopback(b) && a.Scheme == b.Scheme && a.Hostname() == b.Hostname() &&
		a.Path == b.Path && a.RawQuery == b.RawQuery && b.User == nil
}

func (r *Room) register(ctx context.Context, tx *db.Tx, in RegisterIn) (RegisterOut, error) {
	c := op.CallerFrom(ctx)
	if _, err := tx.Exec("DELETE FROM oauth_client WHERE tenant = ? AND actor = '' AND created_at < ?", c.Tenant,
		tx.Now().Add(-24*time.Hour)); err != nil {
		return RegisterOut{}, err
	}
	if err := roomForClient(tx, c); err != nil {
		return RegisterOut{}, err
	}
	redirects, err := json.Marshal(in.Redirects)
	if err != nil {
		return RegisterOut{}, err
	}
	out := RegisterOut{ID: id.New("cli"), Name: slug(in.Name), Redirects: in.Redirects, IssuedAt: tx.Now().Unix(), Auth: "none",
		Grants: []string{"authorization_code", "refresh_token"}, Responses: []string{"code"}}
	_, err = tx.Exec("INSERT INTO oauth_client (tenant, id, name, redirects, actor, created_at, source) VALUES (?, ?, ?, ?, '', ?, ?)",
		c.Tenant,
		out.ID, out.Name, string(redirects), tx.Now(), c.Source)
	return out, err
}

// slug makes a program's own name fit to name an actor.
func slug(name string) string {
	s := strings.Map(func(r rune) rune {
		if r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return unicode.ToLower(r)
		}
		return '-'
	}, name)
	for strings.Contains(s, "--") {
		s = strings.ReplaceAll(s, "--", "-")
	}
	if s = strings.Trim(s, "-"); s == "" {
		return "program"
	}
	return s[:min(len(s), 40)]
}
