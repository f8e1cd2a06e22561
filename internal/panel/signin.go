package panel

import (
	"net/http"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
)

// SignInView is the page of somebody who is not signed in. With a link that
// still works they confirm; without one they are told how to get one.
type SignInView struct {
	Code    string // of the one-time link, when there is one
	Host    string
	Problem string
}

// ErrorView is a page that could not be shown, in words.
type ErrorView struct {
	Status  int
	Title   string
	Message string
	Next    string
	Request string
}

// signIn asks before it spends a link: a browser that fetches ahead, or a
// preview of a message, must not use it up.
func (p *Panel) signIn(w http.ResponseWriter, r *http.Request) {
	v := &visit{p: p, w: w, r: r, ctx: r.Context()}
	v.render(http.StatusOK, signInPage(SignInView{Code: r.URL.Query().Get("code"), Host: p.Machine}))
}

// exchange turns a link into a cookie for this browser. The cookie lets one
// look around; it is never presence.
func (p *Panel) exchange(w http.ResponseWriter, r *http.Request) {
	v := &visit{p: p, w: w, r: r, ctx: r.Context()}
	act, err := p.signature(r)
	if err != nil {
		p.Log.Debug("a browser signs in without a key", "err", err) // it looks around; acting needs presence then
	}
	signed, err := v.spend(r.PostFormValue("code"), act.Key)
	if err != nil {
		f := fault.Public(err)
		if f.Kind == fault.Internal {
			p.Log.Error("sign-in failed", "err", err)
		}
		v.render(f.Kind.Status(), signInPage(SignInView{Host: p.Machine, Problem: f.Msg}))
		return
	}
	p.setCookie(w, r, signed.Cookie, signed.LifeSecs)
	http.Redirect(w, r, "/panel/", http.StatusSeeOther)
}

// spend signs the browser in. Until then it is a newcomer.
func (v *visit) spend(code, key string) (out identity.StartOut, err error) {
	newcomer, err := v.p.Identity.Caller(v.ctx, identity.LocalTenant, identity.Newcomer, op.DoorPanel)
	if err != nil {
		return out, err
	}
	v.ctx = op.WithCaller(v.ctx, newcomer)
	return ask(v, identity.SigninStart, identity.StartIn{Code: code, Agent: v.r.UserAgent(), Key: key})
}

// signOut ends the sign-in of the browser that asks. It is signed like every other act: whoever took a copy of the cookie does not
// end the person's work with it.
func (p *Panel) signOut(w http.ResponseWriter, r *http.Request) {
	if c := op.CallerFrom(r.Context()); c.Known() {
		v := &visit{p: p, w: w, r: r, ctx: r.Context(), caller: c}
		err := v.signed()
		if err == nil {
			_, err = op.Do(r.Context(), p.Gate, identity.SigninLeave, identity.Nothing{})
		}
		if err != nil {
			v.failAs(err)
			return
		}
	}
	p.setCookie(w, r, "", -1)
	http.Redirect(w, r, "/signin", http.StatusSeeOther)
}

func (p *Panel) setCookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{Name: p.Cookie, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: r.TLS != nil,
		SameSite: http.SameSiteStrictMode})
}
