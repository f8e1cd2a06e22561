package daemon

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"tandem/internal/client"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/httpapi"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/notify"
	"tandem/internal/op"
	said "tandem/internal/told"
)

// CookieName is the panel's cookie. Browsers send it to every port of the panel's name, which is why that is a name that nobody
// guesses, and why the socket that brings it is looked at.
const CookieName = "tandem_session"

// controlAuth knows the callers of the control socket: a program of this user.
// With the PIN it is the owner, present for this one call.
func controlAuth(who *identity.Room) httpapi.Authenticator {
	return func(r *http.Request) (op.Caller, error) {
		ctx := r.Context()
		if r.Header.Get(recoveryHeader) != "" {
			return recovering(r, who)
		}
		if err := sameUser(connOf(ctx)); err != nil {
			return op.Caller{}, err
		}
		pin := r.Header.Get("Tandem-Pin")
		if pin == "" {
			c, err := programOf(r, who)
			if as := r.Header.Get("Tandem-As"); as != "" && err == nil {
				_, name, _ := strings.Cut(as, ":")
				return who.As(ctx, c, name)
			}
			return c, err
		}
		if err := who.ProvePIN(ctx, identity.LocalTenant, identity.WellKnown(identity.Owner), pin, terminalOf(connOf(ctx))); err != nil {
			return op.Caller{}, err
		}
		c, err := who.Caller(ctx, identity.LocalTenant, identity.Owner, op.DoorSocket)
		c.Present, c.Client = "pin", clientOf(r)
		return c, err
	}
}

// programOf is a program of this user: the holder of a token, or whoever it may be.
func programOf(r *http.Request, who *identity.Room) (c op.Caller, err error) {
	if secret, ok := bearer(r); ok {
		c, err = who.Bearer(r.Context(), secret, op.DoorSocket)
	} else {
		c, err = who.Caller(r.Context(), identity.LocalTenant, identity.LocalUser, op.DoorSocket)
	}
	c.Client = clientOf(r)
	return c, err
}

// networkAuth knows the callers of a TCP listener: a token, or the panel's
// cookie on the panel's own listener. Loopback is no identity.
func networkAuth(who *identity.Room, panel bool) httpapi.Authenticator {
	return func(r *http.Request) (op.Caller, error) {
		if r.Header.Get("Tandem-Pin") != "" || r.Header.Get(recoveryHeader) != "" {
			return op.Caller{}, fault.New(fault.Denied, "presence", "a PIN is taken on the terminal of this machine only")
		}
		if secret, ok := bearer(r); ok {
			c, err := who.Bearer(r.Context(), secret, op.DoorHTTP)
			if proof := r.Header.Get(client.DeviceHeader); proof != "" && err == nil {
				return byDevice(r, who, c, proof)
			}
			return c, err
		}
		if secret := r.Header.Get(urlToken); secret != "" {
			c, err := who.Bearer(r.Context(), secret, op.DoorMCP)
			if err == nil && c.Name != identity.Connector {
				err = fault.New(fault.Denied, "token", "only the connector's token may be in a URL").
					WithNext("send this one as Authorization: Bearer …")
			}
			if err != nil {
				return op.Caller{}, err
			}
			return c, nil
		}
		if c, err := r.Cookie(CookieName); err == nil && panel {
			if r.Method != http.MethodGet && r.Method != http.MethodHead && !page(r.URL.Path) {
				return op.Caller{}, fault.New(fault.Denied, "panel", "a browser's sign-in acts through the panel's own pages, where its key signs").
					With("reason", "not signed").WithNext("send a token instead: Authorization: Bearer …; make one with: tandem token new")
			}
			caller, err := who.Cookie(r.Context(), c.Value)
			if fault.Is(err, fault.Unauthenticated) {
				return op.Caller{}, nil // a browser that was signed out is a stranger, and is shown how to sign in
			}
			return caller, err
		}
		return op.Caller{}, nil
	}
}

// clientOf is how a program on this machine describes itself.
func clientOf(r *http.Request) op.Client {
	cut := func(name string, n int) string {
		if v := r.Header.Get(name); len(v) <= n {
			return v
		}
		return ""
	}
	return op.Client{ID: cut("Tandem-Client", 100), Folder: cut("Tandem-Folder", 4096), Agent: cut("Tandem-Agent", 100),
		Model: cut("Tandem-Model", 100)}
}

func bearer(r *http.Request) (string, bool) {
	kind, secret, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(secret), ok && strings.EqualFold(kind, "bearer")
}

// fromOurs refuses a cookie that another user's program brings over loopback: it was stolen. Whose socket it is the kernel knows;
// what came by another machine or through a proxy is not asked about.
func (d *Daemon) fromOurs(auth httpapi.Authenticator) httpapi.Authenticator {
	return func(r *http.Request) (op.Caller, error) {
		c, err := auth(r)
		if err != nil || c.Door != op.DoorPanel || !identity.SiteFrom(r.Context()).Near {
			return c, err
		}
		set := d.Settings
		if s := d.changed.Load(); s != nil {
			set = s
		}
		allowed := strings.Split(set.Get("panel_uids"), ",")
		if slices.Contains(allowed, "any") {
			return c, nil
		}
		uid, known, err := socketOwner(connOf(r.Context()))
		switch {
		case err != nil:
			return op.Caller{}, err
		case known && (uid == os.Getuid() || slices.Contains(allowed, strconv.Itoa(uid))):
			return c, nil
		}
		who := "a program that this machine's kernel does not name, as in a container"
		if known {
			who = fmt.Sprintf("user %d", uid)
		}
		return op.Caller{}, fault.New(fault.Denied, "panel", "this browser's sign-in was brought by %s, and the panel belongs to user %d", who,
			os.Getuid()).With("reason", "foreign socket").
			WithNext("if that is you, through ssh -L or from a container, let it in: tandem settings set panel_uids %s"+
				"; it counts from the next start on: tandem down, then start it as before", allow(allowed, uid, known))
	}
}

// allow is the setting that lets one more user in.
func allow(allowed []string, uid int, known bool) string {
	if !known {
		return "any"
	}
	return strings.TrimPrefix(strings.Join(append(allowed, strconv.Itoa(uid)), ","), ",")
}

type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// connOf is the connection that a request came on, as the system gave it.
func connOf(ctx context.Context) net.Conn {
	if c := placeOf(ctx); c != nil {
		return c.Conn
	}
	c, _ := ctx.Value(connKey{}).(net.Conn)
	return c
}

// placeOf is that connection's place in its pool, nil where it has none.
func placeOf(ctx context.Context) *place {
	c, _ := ctx.Value(connKey{}).(net.Conn)
	if sealed, ok := c.(*tls.Conn); ok {
		c = sealed.NetConn()
	}
	in, _ := c.(*place)
	return in
}

// wrongPIN records a wrong PIN or recovery code and tells the person at once: they mistyped, or somebody guesses.
func (d *Daemon) wrongPIN(tx *db.Tx, w identity.WrongPIN) error {
	payload, err := json.Marshal(map[string]any{"caller": w.Caller, "door": w.Door, "count": w.Count, "pause_secs": int(w.Pause.Seconds())})
	if err != nil {
		return err
	}
	event := journal.Event{Tenant: w.Tenant, Type: "pin.wrong", Phase: journal.Denied, Actor: identity.LocalUser, Resource: "server:/pin",
		Payload: payload}
	status, what := "wrong pin", "PIN"
	reason := "If that was not you, a program of this user guesses."
	if w.Code {
		event = journal.Event{Tenant: w.Tenant, Type: "recovery.wrong", Phase: journal.Denied, Actor: identity.LocalUser,
			Resource: "server:/recovery", Payload: payload}
		status, what = "wrong recovery code", "recovery code"
	}
	if w.Device != "" {
		event = journal.Event{Tenant: w.Tenant, Type: "device.wrong", Phase: journal.Denied, Actor: w.Caller,
			Resource: "server:/device/" + w.Device, Payload: payload}
		status, what = "wrong proof", "proof of presence"
		reason = "Somebody who has what lets that machine in sends answers that its key did not sign. They count for nothing. " +
			"To end that machine: tandem device revoke " + w.Device
	}
	if _, err := d.journal.Append(tx, event); err != nil {
		return err
	}
	return d.rooms.notify.Put(tx, w.Tenant, notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "presence", Status: status, ID: w.Caller,
		Summary: fmt.Sprintf("A wrong %s was tried by %s (%d so far).", what, said.By(w.Caller), w.Count),
		Reason:  reason},
		Next: fmt.Sprintf("See who: tandem audit log --type %s", event.Type), Push: notify.Urgent, Page: "/panel/journal?type=" + event.Type})
}
