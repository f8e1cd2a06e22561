// Package oauth is the door by which programs connect without a secret in a
// URL: the metadata that tells them where to go (RFC 8414, RFC 9728), dynamic
// registration (RFC 7591), the token endpoint with PKCE and rotating refresh
// tokens, and revocation (RFC 7009). The page that asks a person is the panel's.
// It translates; registering, consenting and
// exchanging are operations, and consenting needs a person present.
package oauth

import (
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/gate"
	"tandem/internal/identity"
	"tandem/internal/op"
)

// Door serves the OAuth routes.
type Door struct {
	Gate     *gate.Gate
	Identity *identity.Room
	Allow    func(source string, now time.Time) bool // bounds strangers
	Log      *slog.Logger
}

// Mounts are its routes.
func (d *Door) Mounts() map[string]http.Handler {
	resource, server := http.HandlerFunc(d.resource), http.HandlerFunc(d.server)
	return map[string]http.Handler{
		"GET /.well-known/oauth-protected-resource":       resource,
		"GET /.well-known/oauth-protected-resource/mcp":   resource,
		"GET /.well-known/oauth-authorization-server":     server,
		"GET /.well-known/oauth-authorization-server/mcp": server,
		"POST /oauth/register":                            http.HandlerFunc(d.register),
		"POST /oauth/token":                               http.HandlerFunc(d.token),
		"POST /oauth/revoke":                              http.HandlerFunc(d.revoke),
	}
}

// Base is the address that a request was sent to, as its sender knows it. A
// name that is not this machine's came through a tunnel or a proxy that ends
// TLS.
func Base(r *http.Request) string {
	host := r.Host
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	if r.TLS == nil && (name == "localhost" || strings.HasSuffix(name, ".localhost") || ip != nil && ip.IsLoopback()) {
		return "http://" + host
	}
	return "https://" + host
}

func (d *Door) resource(w http.ResponseWriter, r *http.Request) {
	base := Base(r)
	write(w, http.StatusOK, map[string]any{"resource": base + "/mcp", "authorization_servers": []string{base},
		"bearer_methods_supported": []string{"header"}, "resource_name": "tandem"})
}

func (d *Door) server(w http.ResponseWriter, r *http.Request) {
	base := Base(r)
	write(w, http.StatusOK, map[string]any{
		"issuer": base, "authorization_endpoint": base + "/oauth/authorize", "token_endpoint": base + "/oauth/token",
		"registration_endpoint": base + "/oauth/register", "revocation_endpoint": base + "/oauth/revoke",
		"response_types_supported": []string{"code"}, "grant_types_supported": []string{"authorization_code", "refresh_token"},
		"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
		"authorization_response_iss_parameter_supported": true,
	})
}

// newcomer is who calls before anybody has consented to anything.
func (d *Door) newcomer(w http.ResponseWriter, r *http.Request) (*http.Request, bool) {
	source := op.CallerFrom(r.Context()).Whence()
	if !d.Allow(source, time.Now()) {
		w.Header().Set("Retry-After", "60")
		write(w, http.StatusTooManyRequests, problem{"temporarily_unavailable", "too many requests; wait a minute"})
		return nil, false
	}
	c, err := d.Identity.Caller(r.Context(), identity.LocalTenant, identity.Newcomer, op.DoorHTTP)
	if err != nil {
		d.fail(w, err)
		return nil, false
	}
	c.Source = source
	return r.WithContext(op.WithCaller(r.Context(), c)), true
}

func (d *Door) register(w http.ResponseWriter, r *http.Request) {
	r, ok := d.newcomer(w, r)
	if !ok {
		return
	}
	var in identity.RegisterIn // foreign clients send more fields than we use
	if err := json.NewDecoder(io.LimitReader(r.Body, 64<<10)).Decode(&in); err != nil {
		write(w, http.StatusBadRequest, problem{"invalid_client_metadata", "the body is not JSON"})
		return
	}
	out, err := op.Do(r.Context(), d.Gate, identity.OAuthRegister, in)
	if err != nil {
		if fault.Is(err, fault.Invalid) {
			write(w, http.StatusBadRequest, problem{"invalid_redirect_uri", err.Error()})
			return
		}
		d.fail(w, err)
		return
	}
	write(w, http.StatusCreated, out)
}

func (d *Door) token(w http.ResponseWriter, r *http.Request) {
	r, ok := d.newcomer(w, r)
	if !ok {
		return
	}
	form := r.PostFormValue
	in := identity.ExchangeIn{Grant: form("grant_type"), Client: form("client_id"), Code: form("code"), Redirect: form("redirect_uri"),
		Verifier: form("code_verifier"), Refresh: form("refresh_token")}
	out, err := op.Do(r.Context(), d.Gate, identity.OAuthExchange, in)
	if err == nil && out.Reused {
		err = identity.ErrReused
	}
	if err != nil {
		d.fail(w, err)
		return
	}
	write(w, http.StatusOK, out)
}

func (d *Door) revoke(w http.ResponseWriter, r *http.Request) {
	r, ok := d.newcomer(w, r)
	if !ok {
		return
	}
	if _, err := op.Do(r.Context(), d.Gate, identity.OAuthForget, identity.ForgetIn{Token: r.PostFormValue("token")}); err != nil {
		d.fail(w, err)
		return
	}
	write(w, http.StatusOK, map[string]any{})
}

// problem is an error in OAuth's words.
type problem struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

func (d *Door) fail(w http.ResponseWriter, err error) {
	f := fault.Public(err)
	status, word := f.Kind.Status(), "invalid_request"
	switch f.Kind {
	case fault.Denied:
		status, word = http.StatusBadRequest, "invalid_grant"
	case fault.NotFound:
		status, word = http.StatusUnauthorized, "invalid_client"
	case fault.Exhausted, fault.Unavailable:
		word = "temporarily_unavailable"
	case fault.Internal:
		word = "server_error"
		d.Log.Error("oauth request failed", "err", err)
	}
	write(w, status, problem{word, f.Msg})
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the peer is gone when this fails
}
