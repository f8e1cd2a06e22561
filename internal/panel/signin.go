package panel

import (
	"net/http"

	"tandem/internal/fault"
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
	cookie, life, err := p.Identity.Exchange(r.Context(), r.PostFormValue("code"), r.UserAgent())
	if err != nil {
		v := &visit{p: p, w: w, r: r, ctx: r.Context()}
		f := fault.Public(err)
		if f.Kind == fault.Internal {
			p.Log.Error("sign-in failed", "err", err)
		}
		v.render(f.Kind.Status(), signInPage(SignInView{Host: p.Machine, Problem: f.Msg}))
		return
	}
	p.setCookie(w, r, cookie, int(life.Seconds()))
	http.Redirect(w, r, "/panel/", http.StatusSeeOther)
}

func (p *Panel) signOut(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(p.Cookie); err == nil && op.CallerFrom(r.Context()).Known() {
		if err := p.Identity.SignOut(r.Context(), c.Value); err != nil {
			(&visit{p: p, w: w, r: r, ctx: r.Context()}).fail(err)
			return
		}
	}
	p.setCookie(w, r, "", -1)
	http.Redirect(w, r, "/signin", http.StatusSeeOther)
}

func (p *Panel) setCookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{Name: p.Cookie, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode})
}
