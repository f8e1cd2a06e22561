package panel

import (
	"encoding/json"
	"net/http"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/panel/ui"
)

// PasskeyView is the page that registers a passkey.
type PasskeyView struct {
	PIN     bool
	Far     bool // the browser is on another machine
	Problem string
	Back    string // where it leads: the system's page, or the first steps
}

func (v *visit) passkeys() ([]*identity.Passkey, error) {
	out, err := ask(v, identity.PasskeyList, identity.Nothing{})
	return out.Passkeys, err
}

func passkeyRoutes(p *Panel) {
	p.get("/panel/passkeys/new", func(v *visit) error { return v.newPasskey("") })
	p.mux.HandleFunc("POST /panel/passkeys/new/challenge", p.page(func(v *visit) error {
		ask, err := p.Identity.AskNewPasskey(v.ctx, v.site(), v.caller)
		if err != nil {
			return v.failJSON(err)
		}
		return v.json(http.StatusOK, ask)
	}))
	p.mux.HandleFunc("POST /panel/passkeys", p.page((*visit).addPasskey))
	confirm(p, identity.PasskeyRemove, func(id string) identity.PasskeyIn { return identity.PasskeyIn{ID: id} }, confirmed{
		path: "/panel/passkeys/{id}/remove", title: "Forget this passkey?", does: "Forget it",
		back: "/panel/system", said: "passkey-gone", nav: "system",
		text: "It proves nothing any more. The device may still show it until you remove it there too.",
	})
}

func (v *visit) newPasskey(problem string) error {
	m, err := v.means()
	if err != nil {
		return err
	}
	s := v.shell("system", "Register a passkey")
	s.Back = &ui.Crumb{Label: "System", Href: "/panel/system"}
	back := v.passkeyBack()
	if back == setupHref {
		s.Back = &ui.Crumb{Label: "First steps", Href: setupHref}
	}
	return v.show(passkeyPage(s, PasskeyView{PIN: m.PIN, Far: !v.site().Near, Problem: problem, Back: back}))
}

// passkeyBack is where somebody came from who registers a passkey.
func (v *visit) passkeyBack() string {
	if v.r.FormValue("back") == setupHref {
		return setupHref
	}
	return "/panel/system"
}

// addPasskey registers what the device made. Presence is the PIN: the form's
// passkey field holds the new key, which proves nothing about its owner yet.
func (v *visit) addPasskey() error {
	pin := v.r.PostFormValue("pin")
	if pin == "" || !v.site().Near {
		return v.newPasskey(words(fault.New(fault.Denied, "presence", "registering a passkey needs the PIN, on this machine")))
	}
	if err := v.p.Identity.ProvePIN(v.ctx, v.caller.Tenant, v.caller.Actor, pin, "browser "+v.caller.Token); err != nil {
		return v.newPasskey(words(err))
	}
	if err := v.isPresent("pin"); err != nil {
		return v.newPasskey(words(err))
	}
	in := identity.PasskeyAddIn{Name: v.r.PostFormValue("name"), Site: v.site(), Answer: json.RawMessage(v.r.PostFormValue("passkey"))}
	if _, err := ask(v, identity.PasskeyAdd, in); err != nil {
		return v.newPasskey(words(err))
	}
	return v.go303(v.passkeyBack(), "passkey")
}
