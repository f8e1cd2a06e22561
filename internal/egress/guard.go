package egress

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"tandem/internal/fault"
)

// Guard dials for others.
type Guard struct {
	// Origins are what a person configured: scheme://host[:port], dialled whatever its address is.
	Origins []string
	// Resolve finds a name's addresses; nil asks the system.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
}

// special are blocks that no page of the outside world lives in, beyond what netip.Addr tells by itself.
var special = prefixes("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"240.0.0.0/4",
	"64:ff9b:1::/48", "100::/64", "2001:db8::/32", "2001::/23", "3fff::/20", "5f00::/16", "fec0::/10")

// carriers hold an IPv4 address in their tail: what counts is the address inside.
var carriers = []struct {
	block netip.Prefix
	at    int
}{{netip.MustParsePrefix("64:ff9b::/96"), 12}, {netip.MustParsePrefix("2002::/16"), 2}, {netip.MustParsePrefix("::/96"), 12}}

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// Public tells whether an address is one of the outside world's.
func Public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		for _, c := range carriers {
			if b := a.As16(); c.block.Contains(a) {
				return Public(netip.AddrFrom4([4]byte(b[c.at : c.at+4])))
			}
		}
	}
	if !a.IsValid() || !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsMulticast() {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// configured tells whether a person named this very origin.
func (g *Guard) configured(host, port string) bool {
	for _, o := range g.Origins {
		u, err := url.Parse(o)
		if err != nil || !strings.EqualFold(u.Hostname(), host) {
			continue
		}
		want := u.Port()
		if want == "" {
			want = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		}
		if want == port {
			return true
		}
	}
	return false
}

// Dial connects to host:port, or says why not.
func (g *Guard) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fault.New(fault.Invalid, "egress", "%.80q is not an address", addr)
	}
	d := net.Dialer{Timeout: 10 * time.Second}
	if g.configured(host, port) {
		return d.DialContext(ctx, network, addr)
	}
	addrs, err := g.addresses(ctx, host)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "egress", "%.80s cannot be found", host)
	}
	var last error
	for _, a := range addrs {
		if !Public(a) {
			return nil, fault.New(fault.Denied, "egress", "%.80s is at %s, which is not an address of the outside world", host, a).
				WithNext("a person can configure an inside address on purpose")
		}
	}
	for _, a := range addrs {
		conn, err := d.DialContext(ctx, network, net.JoinHostPort(a.String(), port))
		if err == nil {
			return conn, nil
		}
		last = err
	}
	return nil, fault.New(fault.Unavailable, "egress", "%.80s cannot be reached: %w", host, last)
}

func (g *Guard) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return []netip.Addr{a}, nil
	}
	resolve := g.Resolve
	if resolve == nil {
		resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	addrs, err := resolve(ctx, host)
	if err == nil && len(addrs) == 0 {
		err = &net.DNSError{Err: "no address", Name: host, IsNotFound: true}
	}
	return addrs, err
}

// Transport carries requests through the guard.
func (g *Guard) Transport() *http.Transport {
	return &http.Transport{DialContext: g.Dial, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
		MaxIdleConns:          10, IdleConnTimeout: 30 * time.Second}
}

// PlainlyInside reports whether an address says itself that it leads inside. A name does not: what it leads to is looked at
// when it is dialled.
func PlainlyInside(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && !Public(a)
}
