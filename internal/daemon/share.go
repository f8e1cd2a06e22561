package daemon

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"tandem/internal/automation"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/notify"
	"tandem/internal/tunnel"
	tunnelwire "tandem/internal/tunnel/wire"
)

// buildTunnel makes the room that gives the bridge a public address.
func (d *Daemon) buildTunnel() {
	self, err := os.Executable()
	if err != nil {
		self = "tandem"
	}
	d.rooms.tunnel = tunnel.New(tunnel.Config{DB: d.db, Log: d.Log, Env: os.Environ(), Folder: d.data, Self: self,
		Tenant: identity.LocalTenant, Patience: 45 * time.Second,
		Listen: d.listenTunnel,
		Token: func(ctx context.Context, tenant string) (token string, err error) {
			if err := d.keepTokens(ctx); err != nil { // a revoked one is replaced
				return "", err
			}
			if revoked, err := d.identity.Revoked(ctx, tenant, "tok_connector"); err != nil {
				return "", err
			} else if revoked {
				return "", fault.New(fault.Conflict, "tunnel", "the connector's token is revoked, and TANDEM_TOKEN still names it").
					WithNext("change or remove TANDEM_TOKEN, restart, and share again")
			}
			err = d.rooms.secret.Lend(ctx, tenant, "token/"+identity.Connector, func(v []byte) error { token = string(v); return nil })
			return token, err
		},
		Told: func(s tunnelwire.Status) {
			// A tunnel that ends because the server does is told, too.
			d.rooms.notify.Tell(context.Background(), identity.LocalTenant, notify.Notice{Event: notify.Event{TS: d.db.Now(), Type: "tunnel",
				Status: string(s.State), ID: string(s.Mode), Summary: s.URL, Reason: s.Reason},
				Next: "Share again: tandem share", Push: notify.Urgent, Page: "/panel/system"})
		}})
}

// tunnelPort is where a tunnel leads unless that is taken: beside the port that everybody knows.
const tunnelPort = "39732"

// listenTunnel opens the listener that a tunnel leads to, at a port that it had before or at a free one. It is one of its own:
// what comes through a tunnel looks as if it came from this machine, and says itself to which name it was sent.
func (d *Daemon) listenTunnel(port string) (net.Listener, error) {
	if d.OnDemand {
		return nil, fault.New(fault.Conflict, "tunnel", "this server was started on demand and listens on no port").WithNext("tandem up")
	}
	given := port != ""
	if !given {
		port = tunnelPort
	}
	l, _, err := listenFree("127.0.0.1", port, given)
	if err != nil {
		return nil, err
	}
	go func() {
		if err := d.shared.Serve(d.pools.tunnelled.listen(l, "")); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			d.Log.Error("the tunnel's listener failed", "address", l.Addr().String(), "err", err)
		}
	}()
	return l, nil
}

// bridgeOnly serves through a tunnel what chat apps and members of spaces need, and nothing else: no panel, no API, nobody who
// decides. Who sent it is not known: it is counted as the tunnel's and is near nothing.
func (d *Daemon) bridgeOnly(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !bridgePath(r) {
			d.web.Fail(w, r, fault.New(fault.NotFound, "bridge", "only the bridge is served here"))
			return
		}
		r.RemoteAddr = "tunnel:0"
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
		if strings.HasPrefix(p, automation.HookPath) {
			return r.Method == http.MethodPost
		}
		return r.Method == http.MethodGet && (strings.HasPrefix(p, "/.well-known/oauth-") || strings.HasPrefix(p, "/panel/static/"))
	}
}
