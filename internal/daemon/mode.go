package daemon

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/httpapi"
	"tandem/internal/identity"
	"tandem/internal/identity/assertion"
	"tandem/internal/op"
	"tandem/internal/policy"
)

// authMode says whom requests are for.
type authMode string

// In the first mode this machine's user has everyday rights by its control socket. In the others every request names somebody: by a
// sign-in, by a token of an actor, or by a signed assertion.
const (
	localSingleTenant  authMode = "local_single_tenant"
	hostedSingleTenant authMode = "hosted_single_tenant"
	enterpriseRequired authMode = "enterprise_required"
)

// names reports whether every request names somebody.
func (m authMode) names() bool { return m != localSingleTenant }

// unnamed refuses a request that does not.
func (m authMode) unnamed(where string) *fault.Error {
	return fault.New(fault.Unauthenticated, where, "this server is in the mode %s: every request says whom it is for", m).
		With("reason", "unnamed")
}

// settleMode reads the mode and which assertions are taken. What cannot be read ends the start: no mode stands in for another one.
func (d *Daemon) settleMode() error {
	for _, key := range []string{"auth_mode", "assertion.replay_mode", "assertion.max_future_skew_ms", "assertion.max_lifetime_ms"} {
		if err := d.Settings.Fits(key); err != nil {
			return err
		}
	}
	d.mode = authMode(d.Settings.Get("auth_mode"))
	if err := d.lower(); err != nil {
		return err
	}
	text := d.Settings.Get("assertion.public_keys")
	if file := d.Settings.Get("assertion.public_keys_file"); file != "" {
		if text != "" {
			return fault.New(fault.Invalid, "settings", "assertion.public_keys and assertion.public_keys_file are both set").
				WithNext("leave one of them")
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return fault.New(fault.Invalid, "settings", "the key ring of assertion.public_keys_file cannot be read: %w", err)
		}
		text = string(data)
	}
	ring, err := assertion.ParseRing(text, identity.LocalTenant)
	if err != nil {
		return fault.New(fault.Invalid, "settings", "%w", err)
	}
	if text != "" {
		d.ring = fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
	}
	d.identity.Takes = identity.Taking{Ring: ring, Replay: identity.Replay(d.Settings.Get("assertion.replay_mode")),
		Rules: assertion.Rules{Issuer: d.Settings.Get("assertion.issuer"), Audience: d.Settings.Get("assertion.audience"),
			Skew:      time.Duration(d.Settings.Int("assertion.max_future_skew_ms")) * time.Millisecond,
			Lifetime:  time.Duration(d.Settings.Int("assertion.max_lifetime_ms")) * time.Millisecond,
			Organized: d.mode == enterpriseRequired,
			Narrow:    narrow,
			Right:     func(s string) error { return (&policy.Ceiling{Rights: []string{s}}).CheckRights() }}}
	return nil
}

// modeParts refuses to start where the mode needs something that is not there, and says all of it at once.
func (d *Daemon) modeParts(ctx context.Context) error {
	if !d.mode.names() {
		return nil
	}
	var lacks []string
	provable, err := d.identity.Provable(ctx, identity.LocalTenant)
	if err != nil {
		return err
	}
	if !provable {
		lacks = append(lacks, "no owner can prove to be here: set a PIN in the mode local_single_tenant (tandem pin set), or bring the first "+
			"one with TANDEM_PIN_HASH (tandem pin hash)")
	}
	if d.mode == enterpriseRequired {
		signs, err := d.identity.Signs(ctx)
		if err != nil {
			return err
		}
		if !signs {
			lacks = append(lacks, "no key signs assertions for an organization: enrol one in the mode local_single_tenant (tandem assertion key "+
				"add KID FILE --organization ORG), or name a key ring with TANDEM_CONTEXT_ASSERTION_PUBLIC_KEYS_FILE")
		}
		if d.identity.Takes.Replay == identity.Off {
			lacks = append(lacks, "assertions are not remembered: set assertion.replay_mode to bound or one_shot")
		}
		if d.Settings.Get("metrics") == "open" {
			lacks = append(lacks, "/metrics is open to everybody: set metrics to token or off")
		}
	}
	if len(lacks) == 0 {
		d.Log.Info("every request says whom it is for", "mode", string(d.mode))
		return nil
	}
	next := "start in another mode: TANDEM_RUNTIME_AUTH_MODE=local_single_tenant tandem up"
	if d.served().names() {
		next = d.lowers(localSingleTenant)
	}
	return fault.New(fault.Unavailable, "daemon", "the mode %s cannot be served: %s", d.mode, strings.Join(lacks, "; ")).
		With("reason", "auth mode").WithNext("mend that, or %s", next)
}

// waysIn are what a request without a caller reaches in modes where every one names somebody: what brings a credential of its own kind,
// which its handler checks, what leads to signing in, and what tells nothing of anybody. Everything else is refused before its handler.
var waysIn = map[string]string{
	"POST /join":                                "an invitation",
	"POST /hook/{key}":                          "the webhook's key and signature, which belong to one automation",
	"GET /connectors/callback":                  "the state of a sign-in that this server began",
	"GET /mcp/{name}/auth/callback":             "the same, for published clients",
	"POST /mcp/{name}/auth/callback":            "the same",
	"POST /space/remote":                        "a member's signature, which belongs to one space",
	"POST /space/knock":                         "an invite code of a space",
	"POST /space/knock/next":                    "the same",
	"POST /oauth/token":                         "a code or refresh token of a program",
	"POST /oauth/revoke":                        "a token of a program",
	"POST " + registers:                         "nothing, and a person consents before it is worth anything",
	"GET /oauth/authorize":                      "a browser's sign-in; without one it says how to sign in",
	"GET /signin":                               "leads to signing in",
	"POST /signin":                              "a sign-in link's code",
	"/panel/":                                   "a browser's sign-in; without one it says how to sign in",
	"GET /{$}":                                  "leads to the panel",
	"GET /favicon.ico":                          "tells nothing",
	"GET /icon.png":                             "tells nothing",
	"GET /global/health":                        "tells nothing",
	"GET /health":                               "tells nothing",
	"GET /ready":                                "tells nothing",
	"GET " + client.MovesPath:                   "tells by which keys the server is known",
	"GET /.well-known/oauth-protected-resource": "tells how programs sign in",
	"GET /.well-known/oauth-protected-resource/mcp":   "the same",
	"GET /.well-known/oauth-authorization-server":     "the same",
	"GET /.well-known/oauth-authorization-server/mcp": "the same",
}

// registers is where a program makes itself known that nobody asked for: it names no tenant.
const registers = "/oauth/register"

// stranger says why somebody whom nobody knows does not reach a pattern.
func (m authMode) stranger(pattern string) error {
	_, open := waysIn[pattern]
	if !m.names() || open && (m != enterpriseRequired || !strings.HasSuffix(pattern, registers)) {
		return nil
	}
	return m.unnamed("http").WithNext("send a token: Authorization: Bearer …; or a signed assertion: %s", assertion.Headers[0])
}

// refuses is asked about every request of every door: headers that name somebody count where they are taken and signed, and are
// refused elsewhere, never passed over.
func (d *Daemon) refuses(r *http.Request) error {
	came := asserted(r)
	switch {
	case len(came) > 0 && !d.mode.names():
		return d.reject(r, assertion.Reject(assertion.NotTaken, "this server is in the mode %s and takes no assertions", d.mode))
	case len(came) > 1:
		return d.reject(r, assertion.Reject(assertion.Several, "%d assertions came with one request", len(came)))
	case d.mode.names() && slices.ContainsFunc(assertion.RawHeaders, func(h string) bool { return len(r.Header.Values(h)) > 0 }):
		return d.reject(r, assertion.Reject(assertion.RawTenant, "a header names a tenant or an actor, and nobody signed it"))
	}
	return nil
}

// asserted are the assertions that came with a request.
func asserted(r *http.Request) (all []string) {
	for _, h := range assertion.Headers {
		all = append(all, r.Header.Values(h)...)
	}
	return all
}

// named is an authenticator whose callers are somebody: in modes where every request names one, who is only a program of this machine's
// user, or holds a token of the house itself, is nobody. asserts says that the door takes signed assertions.
func (d *Daemon) named(auth httpapi.Authenticator, asserts bool) httpapi.Authenticator {
	return func(r *http.Request) (op.Caller, error) {
		came := asserted(r)
		if len(came) == 0 {
			c, err := auth(r)
			if err == nil {
				err = d.mode.whom(c)
			}
			if err != nil { // where strangers are answered, too, who is refused is one of them
				return op.Caller{}, err
			}
			return c, nil
		}
		if !asserts || !d.mode.names() {
			return op.Caller{}, d.reject(r, assertion.Reject(assertion.NotTaken, "assertions are taken over the network, not by this door"))
		}
		var beside op.Caller
		if r.Header.Get("Authorization") != "" || r.Header.Get("Cookie") != "" || r.Header.Get(urlToken) != "" {
			c, err := auth(r)
			if err != nil {
				return op.Caller{}, err
			}
			beside = c
		}
		c, err := d.identity.Assert(r.Context(), came[0], beside, op.DoorHTTP)
		if why := (*assertion.Rejected)(nil); errors.As(err, &why) {
			return op.Caller{}, d.reject(r, why)
		}
		return c, err
	}
}

// whom refuses a caller who is nobody in particular, also one who takes an agent's place.
func (m authMode) whom(c op.Caller) error {
	house := slices.ContainsFunc([]string{c.Actor, c.Via}, func(actor string) bool {
		return actor == identity.WellKnown(identity.API) || actor == identity.WellKnown(identity.Connector)
	})
	switch {
	case !m.names() || !c.Known():
		return nil
	case house:
		return m.unnamed("token").WithNext("this token is the house's own and names nobody: send a signed assertion with it (%s), or a token of "+
			"an actor: tandem token new NAME", assertion.Headers[0])
	case c.Door == op.DoorSocket && c.Kind != op.Session && c.Token == "" && c.Present == "" && c.Recovers == "":
		return m.unnamed("socket").With("presence", "required").
			WithNext("type your PIN on a terminal, or act with a token of yours: TANDEM_AS_TOKEN=…; make one: tandem token new --person")
	}
	return nil
}

// reject writes down an assertion that is not taken, and is the refusal.
func (d *Daemon) reject(r *http.Request, why *assertion.Rejected) error {
	from := source(r.RemoteAddr)
	if err := d.writeRejected(r.Context(), why, from); err != nil {
		d.Log.Error("a rejected assertion was not recorded", "reason", string(why.Reason), "err", err)
	}
	key := why.Key
	if why.Reason == assertion.KeyUnknown { // anybody's word, and another one each time
		key = ""
	}
	d.Log.Warn("assertion rejected", "reason", string(why.Reason), "from", from, "key", key)
	return fault.New(fault.Denied, "assertion", "%s", why.Text).With("reason", string(why.Reason)).
		WithNext("%s", fmt.Sprintf("see what was rejected: tandem audit log --type %s", rejectedType))
}
