package panel

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"tandem/internal/gate"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/panel/sign"
	"tandem/internal/panel/static"
)

// Place is how far a page has heard: to which entry of the journal, and to
// which change of what is not written there.
type Place struct{ Seq, Moves int64 }

func (p Place) String() string { return fmt.Sprintf("%d.%d", p.Seq, p.Moves) }

// Feed waits until something happened behind a place and tells the nouns it
// happened to, as ctx's caller may see them. With a negative number it answers
// at once with the newest place.
type Feed func(ctx context.Context, after Place) (last Place, nouns []string, err error)

// Config is what a panel is made of. Doors know the gate and who is there;
// the rest is handed in.
type Config struct {
	Gate     *gate.Gate
	Identity *identity.Room
	Feed     Feed
	Check    func(receipt []byte) error // whether a receipt proves what it says
	Public   func(hostport string) bool // whether a request's host is the tunnel's
	Near     func() string              // the panel's own address, on this machine
	Log      *slog.Logger
	Now      func() time.Time
	Cookie   string // the name of the cookie that signs a browser in
	Version  string
	Machine  string
	Program  string // what a person types to call it
	// Agents are the agent programs that the server finds, and whether it has what they are opened in.
	Agents func() (found []string, tmux bool)
	// Topic is what a phone may subscribe to that is told nothing yet: the same until one is told.
	Topic func(ctx context.Context) (string, error)
}

// Panel is the web control panel as an HTTP handler. The listener in front of
// it has checked the host's name and the request's origin, and says who calls.
type Panel struct {
	Config
	mux   *http.ServeMux
	pages []pageGroup
	seen  sign.Seen // signatures that were used
}

// New makes a panel.
func New(c Config) *Panel {
	p := &Panel{Config: c, mux: http.NewServeMux(), pages: pages(), seen: sign.Seen{Began: c.Now()}}
	p.mux.Handle("GET "+static.Prefix, static.Handler())
	p.mux.HandleFunc("GET /signin", p.signIn)
	p.mux.HandleFunc("POST /signin", p.exchange)
	p.mux.HandleFunc("POST /panel/signout", p.signOut)
	p.mux.HandleFunc("GET /panel/live", p.live)
	p.get("/panel/find", (*visit).finder)
	connectRoutes(p)
	setupRoutes(p)
	p.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/panel/", http.StatusSeeOther) })
	for _, g := range p.pages {
		for _, page := range g.pages {
			page.routes(p)
		}
	}
	p.mux.HandleFunc("/panel/", p.page(func(v *visit) error { return noSuchPage }))
	return p
}

// Mounts are the patterns under which a listener serves the panel.
func (p *Panel) Mounts() map[string]http.Handler {
	return map[string]http.Handler{"/panel/": p, "GET /signin": p, "POST /signin": p, "GET /{$}": p, "GET /oauth/authorize": p}
}

// ServeHTTP serves one request.
func (p *Panel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	p.mux.ServeHTTP(w, r)
}

// lineFeeds ends lines as everybody else here does. Browsers send a carriage return, too, which would be drawn as a hidden character.
func lineFeeds(form url.Values) {
	for _, values := range form {
		for i := range values {
			values[i] = strings.ReplaceAll(values[i], "\r\n", "\n")
		}
	}
}

// page is a handler for somebody who is signed in; everybody else is told how
// to sign in. A token is no browser: pages are for the cookie alone.
func (p *Panel) page(show func(v *visit) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := op.CallerFrom(r.Context())
		v := &visit{p: p, w: w, r: r, ctx: r.Context(), caller: c}
		if c.Kind != op.Person || c.Door != op.DoorPanel {
			v.render(http.StatusUnauthorized, signInPage(SignInView{Host: p.Machine}))
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			if err := v.signed(); err != nil {
				v.failAs(err)
				return
			}
			lineFeeds(r.PostForm)
			lineFeeds(r.Form)
		}
		if from, _, err := p.Feed(v.ctx, Place{Seq: -1}); err == nil {
			v.from = from
		}
		if err := show(v); err != nil {
			v.fail(err)
		}
	}
}

func (p *Panel) get(pattern string, show func(v *visit) error) {
	p.mux.HandleFunc("GET "+pattern, p.page(show))
}
