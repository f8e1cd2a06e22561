package daemon

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"time"

	"tandem/internal/client"
	"tandem/internal/crowd"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
)

// join is the one route for those whom nobody knows yet. It lets them ask to
// join or redeem an invitation, as the actor "newcomer", and nothing else.
func (d *Daemon) join(w http.ResponseWriter, r *http.Request) {
	from, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		from = "local"
	}
	whence := op.CallerFrom(r.Context()).Whence()
	if !d.joins.Take(whence, time.Now()) {
		d.web.Fail(w, r, fault.New(fault.Exhausted, "join", "too many requests to join from %s", from).
			WithNext("wait a minute, then try again"))
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 4<<10))
	if err != nil {
		d.web.Fail(w, r, fault.New(fault.Invalid, "join", "the request broke off"))
		return
	}
	name := string(identity.JoinEnter)
	var peek struct{ Invite, Machine string }
	switch json.Unmarshal(body, &peek); {
	case peek.Invite != "" && peek.Machine != "":
		name = string(identity.PersonEnter)
	case peek.Invite != "":
		name = string(identity.JoinRedeem)
	}
	if peek.Invite == "" && d.mode.names() {
		d.web.Fail(w, r, d.mode.unnamed("join").WithNext("ask a person of this server for an invitation: tandem invite"))
		return
	}
	o := d.gate.Table().Get(name)
	in, err := o.Decode(body)
	if err != nil {
		d.web.Fail(w, r, err)
		return
	}
	if enter, ok := in.(identity.EnterIn); ok { // what a person needs to tell one newcomer from another; nobody says it of themselves
		enter.From, enter.Key = from, client.RequestKey(enter.Nonce)
		in = enter
	}
	tenant := identity.LocalTenant
	if peek.Invite != "" {
		if tenant, err = d.identity.InvitedTo(r.Context(), peek.Invite); err != nil {
			d.web.Fail(w, r, err)
			return
		}
	}
	c, err := d.identity.Caller(r.Context(), tenant, identity.Newcomer, op.DoorHTTP)
	if err != nil {
		d.web.Fail(w, r, err)
		return
	}
	c.Source = whence
	out, err := d.gate.Do(op.WithCaller(r.Context(), c), o, in)
	if err != nil {
		d.web.Fail(w, r, err)
		return
	}
	if key, err := d.serverKey(); err != nil {
		d.Log.Warn("a newcomer does not learn this server's key", "err", err)
	} else {
		w.Header().Set(client.KeyHeader, key)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	json.NewEncoder(w).Encode(out)
}

// knocking is how often newcomers of one source may ask: one that waits asks again every few seconds; more than that is a flood.
func knocking() *crowd.Rate { return crowd.NewRate(60, time.Second, 10_000) }
