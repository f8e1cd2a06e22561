package daemon

import (
	"context"
	"net/http"
	"os"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/notify"
	"tandem/internal/tunnel"
)

// buildTunnel makes the room that gives the bridge a public address.
func (d *Daemon) buildTunnel() {
	self, err := os.Executable()
	if err != nil {
		self = "tandem"
	}
	d.rooms.tunnel = tunnel.New(tunnel.Config{DB: d.db, Log: d.Log, Env: os.Environ(), Folder: d.data, Self: self, Tenant: identity.LocalTenant, Patience: 45 * time.Second,
		Port: func() string { return d.port },
		Token: func(ctx context.Context, tenant string) (token string, err error) {
			if err := d.keepTokens(ctx); err != nil { // a revoked one is replaced
				return "", err
			}
			if revoked, err := d.identity.Revoked(ctx, tenant, "tok_connector"); err != nil {
				return "", err
			} else if revoked {
				return "", fault.New(fault.Conflict, "tunnel", "the connector's token is revoked, and TANDEM_TOKEN still names it").WithNext("change or remove TANDEM_TOKEN, restart, and share again")
			}
			err = d.rooms.secret.Lend(ctx, tenant, "token/"+identity.Connector, func(v []byte) error { token = string(v); return nil })
			return token, err
		},
		Told: func(s tunnel.Status) {
			d.rooms.notify.Tell(identity.LocalTenant, notify.Notice{Event: notify.Event{TS: d.db.Now(), Type: "tunnel", Status: string(s.State), ID: string(s.Mode), Summary: s.URL, Reason: s.Reason},
				Next: "Share again: tandem share", Push: notify.Urgent, Page: "/panel/system"})
		}})
}

// bridgeOnly serves through a tunnel what chat apps and members of spaces need, and nothing else: no panel, no API, nobody who decides. Requests
// that come through it look as if they came from this machine, so they are known by the name they were sent to.
func (d *Daemon) bridgeOnly(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.rooms.tunnel.Public(r.Host) && !bridgePath(r) {
			d.web.Fail(w, r, fault.New(fault.NotFound, "bridge", "only the bridge is served here"))
			return
		}
		h.ServeHTTP(w, r)
	})
}

func bridgePath(r *http.Request) bool {
	switch p := r.URL.Path; p {
	case "/space/remote", "/space/knock", "/space/knock/next":
		return r.Method == http.MethodPost
	case "/mcp", "/oauth/register", "/oauth/token", "/oauth/revoke":
		return true
	case "/health", "/global/health", "/favicon.ico", "/icon.png", "/oauth/authorize":
		return r.Method == http.MethodGet || r.Method == http.MethodHead
	default:
		return r.Method == http.MethodGet && (strings.HasPrefix(p, "/.well-known/oauth-") || strings.HasPrefix(p, "/panel/static/"))
	}
}

// named adds the tunnel's name to those that the listener behind it answers to.
func (d *Daemon) named(l door, names func(string) bool) func(string) bool {
	if !l.local {
		return names
	}
	return func(hostport string) bool { return names(hostport) || d.rooms.tunnel.Public(hostport) }
}
