package panel

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/oauth"
	"tandem/internal/panel/ui"
)

// ConnectView is a program that wants to connect, as a person is asked about
// it.
type ConnectView struct {
	Name     string
	Host     string // where the answer goes
	Action   string
	PIN      bool
	Passkeys int
	Problem  string
}

func connectRoutes(p *Panel) {
	p.mux.HandleFunc("GET /oauth/authorize", p.authorize)
	p.get("/panel/connect", func(v *visit) error { return v.connect("") })
	perform(p, "/panel/connect", identity.OAuthConsent, func(v *visit) (identity.ConnectIn, error) { return connectInput(v), nil },
		(*visit).connected, func(v *visit, err error) error { return v.connect(words(err)) })
}

// authorize is where a program sends a person. The cookie does not travel with
// a request from another site, so the person goes on from here by a click.
func (p *Panel) authorize(w http.ResponseWriter, r *http.Request) {
	v := &visit{p: p, w: w, r: r, ctx: r.Context()}
	q := r.URL.Query()
	if here := identity.SiteFrom(v.ctx); p.Near() != "" && here.Origin != p.Near() {
		// Programs know us by an address that every resolver knows, or by a tunnel's name; people are signed in elsewhere.
		if !p.ours(q.Get("issuer")) {
			q.Set("issuer", oauth.Base(r))
		}
		page := farPage
		if here.Near {
			page = nearPage
		}
		v.render(http.StatusOK, page(p.Machine, p.Near()+"/oauth/authorize?"+q.Encode()))
		return
	}
	if q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" {
		v.fail(fault.New(fault.Invalid, "oauth", "The program asked in a way that is not supported.").
			WithNext("It should send response_type=code and code_challenge_method=S256."))
		return
	}
	next := url.Values{}
	for _, k := range []string{"client_id", "redirect_uri", "code_challenge", "state"} {
		if q.Get(k) == "" && k != "state" {
			v.fail(fault.New(fault.Invalid, "oauth", "The program did not send %s.", k))
			return
		}
		next.Set(k, q.Get(k))
	}
	if p.ours(q.Get("issuer")) {
		next.Set("issuer", q.Get("issuer"))
	}
	v.render(http.StatusOK, doorwayPage("/panel/connect?"+next.Encode()))
}

// ours reports whether an issuer is this server: under its public name, or at the address of its own loopback listener. A program
// expects the name in the answer that it was sent to first, though people consent in the panel only.
func (p *Panel) ours(issuer string) bool {
	u, err := url.Parse(issuer)
	if err != nil || u.Path != "" || u.RawQuery != "" || u.User != nil {
		return false
	}
	near, err := url.Parse(p.Near())
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	return u.Scheme == "https" && p.Public != nil && p.Public(u.Host) || err == nil && u.Scheme == "http" && local && u.Port() == near.Port()
}

// connectInput is exactly what is consented to.
func connectInput(v *visit) identity.ConnectIn {
	q := v.r.URL.Query()
	return identity.ConnectIn{Client: q.Get("client_id"), Redirect: q.Get("redirect_uri"), Challenge: q.Get("code_challenge")}
}

func (v *visit) connect(problem string) error {
	what, err := ask(v, identity.OAuthLook, connectInput(v))
	if err != nil {
		return err
	}
	m, err := v.means()
	if err != nil {
		return err
	}
	return v.show(connectPage(v.shell("actors", "Connect a program"), ConnectView{Name: what.Name, Host: what.Host,
		Action: "/panel/connect?" + v.r.URL.RawQuery, PIN: m.PIN, Passkeys: m.Passkeys, Problem: problem}))
}

// connected sends the person back with the code. It is a page and not a
// redirect: a form may lead nowhere but to this server.
func (v *visit) connected(in identity.ConnectIn, got identity.ConsentOut) error {
	back, err := url.Parse(in.Redirect)
	if err != nil {
		return fault.New(fault.Invalid, "oauth", "The program's address cannot be read.")
	}
	q := back.Query()
	q.Set("code", got.Code)
	if s := v.r.URL.Query().Get("state"); s != "" {
		q.Set("state", s)
	}
	q.Set("iss", oauth.Base(v.r))
	if issuer := v.r.URL.Query().Get("issuer"); v.p.ours(issuer) {
		q.Set("iss", issuer)
	}
	back.RawQuery = q.Encode()
	v.w.Header().Set("Refresh", "0; url="+back.String())
	s := v.shell("actors", "Connected")
	s.Back = &ui.Crumb{Label: "Actors", Href: "/panel/actors"}
	return v.show(connectedPage(s, back.String(), back.Host))
}

// connectChallenge is where the device is asked for presence, for what this
// very form says.
func connectChallenge(action string) string {
	path, query, _ := strings.Cut(action, "?")
	if query == "" {
		return path + "/challenge"
	}
	return path + "/challenge?" + query
}
