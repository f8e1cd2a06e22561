package daemon

import (
	"net"
	"net/http"
	"strings"

	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/identity"
)

// names are what one listener answers to. A page that rebinds its own name to our address is refused by them, and so is a
// page on another port of our own name: it is another origin, and a passkey that answered it would have answered somebody else.
type names struct {
	near  bool // on loopback, without TLS
	port  string
	own   map[string]bool // with our own port
	given map[string]bool // by the setting hosts, as name or name:port: what stands before us
}

// newNames are the names of a listener, the panel's own among them, and those that the setting hosts adds.
func newNames(listen string, near bool, hosts string, panel ...string) *names {
	n := &names{near: near, own: map[string]bool{"localhost": true, "tandem.localhost": true, "127.0.0.1": true, "::1": true},
		given: map[string]bool{}}
	for _, name := range panel {
		n.own[name] = true
	}
	host, port, err := net.SplitHostPort(listen)
	if err == nil {
		n.port = port
		if ip := net.ParseIP(host); ip == nil || !ip.IsUnspecified() {
			n.own[strings.ToLower(host)] = true
		}
	}
	for _, h := range strings.Split(hosts, ",") {
		if h = strings.TrimSpace(strings.ToLower(h)); h != "" {
			n.given[h] = true
		}
	}
	return n
}

// site is the address of ours that a request's Host names.
func (n *names) site(hostport string) (identity.Site, bool) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		host, port = strings.Trim(hostport, "[]"), ""
	}
	host = strings.ToLower(host)
	scheme, usual := "https", "443"
	if n.near {
		scheme, usual = "http", "80"
	}
	if port == "" {
		port = usual
	}
	at := func(scheme, port, usual string) string {
		if port == usual {
			return scheme + "://" + host
		}
		return scheme + "://" + net.JoinHostPort(host, port)
	}
	switch {
	case n.own[host] && port == n.port:
		return identity.Site{Host: host, Origin: at(scheme, n.port, usual), Near: n.near && client.Loopback(host)}, true
	case !n.near && numeric(host):
		return identity.Site{Host: host, Origin: "https://" + hostport}, true
	case n.given[net.JoinHostPort(host, port)], n.given[host] && (port == n.port || port == usual || port == "443"):
		if n.near && !client.Loopback(host) { // something that ends TLS stands before us
			if port == usual {
				port = "443"
			}
			scheme, usual = "https", "443"
		}
		return identity.Site{Host: host, Origin: at(scheme, port, usual)}, true
	}
	return identity.Site{}, false
}

// numeric says whether a name is an address that other machines reach. No page can lead a browser here under one: what it shows came from
// there. So it is right whatever stands between, as a container's published port, whose address this machine does not know.
func numeric(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && !ip.IsLoopback() && !ip.IsUnspecified()
}

// answers says whether a listener takes a request, by the name it was sent to. On a listener for other machines a program
// brings its own token and knows the server by its key, so any name that leads here is right; there names are held against
// browsers, which a page could lead here under its own. On loopback a program may come by another port, as through ssh -L; it
// is not near then.
func (n *names) answers(r *http.Request) bool {
	if _, ok := n.site(r.Host); ok {
		return true
	}
	switch {
	case browsing(r):
		return false
	case !n.near:
		return true
	}
	host, _, err := net.SplitHostPort(r.Host)
	return err == nil && n.own[strings.ToLower(host)] && carried(r) == ""
}

// browsing says whether a request is a browser's: it carries what only browsers send, or asks for a page.
func browsing(r *http.Request) bool {
	for _, h := range []string{"Cookie", "Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode"} {
		if r.Header.Get(h) != "" {
			return true
		}
	}
	return page(r.URL.Path)
}

// page says whether a path is one of the panel's.
func page(path string) bool {
	return path == "/" || path == "/signin" || strings.HasPrefix(path, "/panel/")
}

// between are the headers by which a proxy or a tunnel says that somebody else sent the request.
var between = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Cf-Connecting-Ip",
	"Tailscale-User-Login"}

// carried is the header by which a request says that it came through something, or "".
func carried(r *http.Request) string {
	for _, name := range between {
		if r.Header.Get(name) != "" {
			return name
		}
	}
	return ""
}

// placed notes at which of our addresses a request arrived. What came through a proxy to loopback looks as if it came from
// this machine: it is refused, unless the setting hosts names what stands there, and then it is not near.
func (d *Daemon) placed(n *names, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, _ := n.site(r.Host)
		if name := carried(r); s.Near && name != "" {
			d.web.Fail(w, r, fault.New(fault.Denied, "http",
				"this came through a proxy (it says %s), and only programs of this machine are answered here", name).With("reason", "proxy").
				WithNext("share the bridge: tandem share; or name the proxy's host: --hosts NAME"))
			return
		}
		h.ServeHTTP(w, r.WithContext(identity.WithSite(r.Context(), s)))
	})
}
