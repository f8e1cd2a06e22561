package red

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os/exec"
	"strings"
	"sync/atomic"

	"tandem/internal/egress"
	"tandem/internal/tool"
	"tandem/internal/tool/builtin"
)

// inside is a page of the machine's own that nobody outside should be shown, on IPv4 and IPv6.
type inside struct {
	port, moved string
	asked       atomic.Int64
}

const private = "what only this machine is told"

func (s *stage) inside() *inside {
	return shared(s, "inside", func() *inside {
		in := &inside{}
		page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			in.asked.Add(1)
			w.Header().Set("Content-Type", "text/plain")
			w.Write([]byte(private)) //nolint:errcheck // the trial will miss it
		})
		l := must[net.Listener](s)(net.Listen("tcp", "[::]:0")) // both families
		srv := httptest.NewUnstartedServer(page)
		srv.Listener.Close()
		srv.Listener = l
		srv.Start()
		s.Cleanup(srv.Close)
		_, in.port, _ = net.SplitHostPort(l.Addr().String())
		moved := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:"+in.port+r.URL.Path, http.StatusFound)
		}))
		s.Cleanup(moved.Close)
		in.moved = moved.URL
		return in
	})
}

// fetches asks the tool that fetches pages for one, with a guard that knows these names, and says whether the inside answered.
func (s *stage) fetches(g *egress.Guard, address string) bool {
	s.Helper()
	in := s.inside()
	before := in.asked.Load()
	args := must[[]byte](s)(json.Marshal(map[string]string{"url": address}))
	said := ""
	for _, t := range builtin.All(g.Transport(), nil) {
		if t.Spec().Name != "webfetch" {
			continue
		}
		if p, err := t.Plan(&tool.Env{}, args); err == nil {
			if r, err := p.Run(s.Context(), func(string) {}); err == nil {
				said = r.Text
			}
		}
	}
	return in.asked.Load() > before || strings.Contains(said, private)
}

// curls asks for the page as a program does that guards nothing.
func (s *stage) curls(args ...string) bool {
	s.Helper()
	out, _ := exec.Command("curl", append([]string{"-sgL", "-m", "5", "--noproxy", "*"}, args...)...).Output() // a refusal is an answer
	return strings.Contains(string(out), private)
}

// at is a trial of one spelling of an address.
func at(name, host string) trial {
	return trial{"ssrf", name, func(s *stage) (bool, bool) {
		address := "http://" + host + ":" + s.inside().port + "/"
		return s.curls(address), s.fetches(&egress.Guard{}, address)
	}}
}

// named is a guard for whom names have these addresses, one list after the other.
func named(answers ...string) *egress.Guard {
	n := 0
	return &egress.Guard{Resolve: func(context.Context, string) (out []netip.Addr, err error) {
		for a := range strings.FieldsSeq(answers[min(n, len(answers)-1)]) {
			out = append(out, netip.MustParseAddr(a))
		}
		n++
		return out, nil
	}}
}

// looks is a client that looks at a name's address once, and lets the system look again when it dials.
func (s *stage) looks(g *egress.Guard, address string) bool {
	u := must[*url.URL](s)(url.Parse(address))
	first := must[[]netip.Addr](s)(g.Resolve(s.Context(), u.Hostname()))
	if len(first) == 0 || !egress.Public(first[0]) {
		return false
	}
	then := must[[]netip.Addr](s)(g.Resolve(s.Context(), u.Hostname()))
	return s.curls("--resolve", u.Host+":"+then[len(then)-1].String(), address)
}

const outside = "93.184.216.34"

var requestTrials = []trial{
	at("loopback by its number", "127.0.0.1"),
	at("an address in decimal", "2130706433"),
	at("an address in hexadecimal", "0x7f000001"),
	at("an address with parts left out", "127.1"),
	at("an IPv4 address in an IPv6 one", "[::ffff:127.0.0.1]"),
	at("loopback of IPv6", "[::1]"),
	at("no address at all", "0.0.0.0"),
	at("another number of loopback", "127.8.9.10"),
	at("the machine's own name for itself", "localhost"),
	at("behind a password of nobody's", "example.com@127.0.0.1"),
	{"ssrf", "a name that leads inside", func(s *stage) (bool, bool) {
		address := "http://page.example:" + s.inside().port + "/"
		return s.curls("--resolve", "page.example:"+s.inside().port+":127.0.0.1", address), s.fetches(named("127.0.0.1"), address)
	}},
	{"ssrf", "a name with one address outside and one inside", func(s *stage) (bool, bool) {
		address := "http://page.example:" + s.inside().port + "/"
		return s.looks(named(outside+" 127.0.0.1"), address), s.fetches(named(outside+" 127.0.0.1"), address)
	}},
	{"ssrf", "a name that changes its address after it was looked at", func(s *stage) (bool, bool) {
		address := "http://page.example:" + s.inside().port + "/"
		looked := 0 // the address that was looked at is the one that is dialled: nobody is asked a second time
		g := named("127.0.0.1")
		once := &egress.Guard{Resolve: func(ctx context.Context, host string) ([]netip.Addr, error) {
			looked++
			return g.Resolve(ctx, host)
		}}
		return s.looks(named(outside, "127.0.0.1"), address), s.fetches(once, address) || looked != 1
	}},
	{"ssrf", "a page that sends on to another port", func(s *stage) (bool, bool) {
		in := s.inside()
		return s.curls(in.moved), s.fetches(&egress.Guard{Origins: []string{in.moved}}, in.moved)
	}},
	{"ssrf", "an address that a gateway translates", func(s *stage) (bool, bool) {
		in := s.inside()
		address := "http://[64:ff9b::7f00:1]:" + in.port + "/"
		gateway := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			host, port, _ := net.SplitHostPort(addr)
			a := must[netip.Addr](s)(netip.ParseAddr(host))
			if b := a.As16(); a.Is6() && strings.HasPrefix(a.String(), "64:ff9b::") {
				a = netip.AddrFrom4([4]byte(b[12:]))
			}
			return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort(a.String(), port))
		}}}
		resp, err := gateway.Get(address)
		if err == nil {
			resp.Body.Close()
		}
		public := egress.Public(netip.MustParseAddr("64:ff9b::7f00:1"))
		return err == nil, public || s.fetches(&egress.Guard{}, address)
	}},
	{"ssrf", "a proxy that the environment names", func(s *stage) (bool, bool) {
		cmd := exec.Command("curl", "-s", "-m", "5", "http://"+outside+"/")
		cmd.Env = []string{"http_proxy=http://127.0.0.1:" + s.inside().port}
		out, _ := cmd.Output() // a refusal is an answer
		return strings.Contains(string(out), private), (&egress.Guard{}).Transport().Proxy != nil
	}},
	{"ssrf", "a file by its address", func(s *stage) (bool, bool) {
		out, _ := exec.Command("curl", "-s", "file:///etc/hostname").Output() // a refusal is an answer
		return len(out) > 0, s.fetches(&egress.Guard{}, "file:///etc/hostname")
	}},
}
