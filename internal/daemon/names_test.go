package daemon

import (
	"net/http/httptest"
	"testing"
)

// A passkey once counted for whatever origin the Host header said, ports included, so that a page on another port of
// tandem.localhost collected answers that were good here. What a listener is called is its own affair.
func TestTheOriginIsOurOwnAddress(t *testing.T) {
	for _, c := range []struct {
		listen, hosts string
		near          bool
		host, want    string
		isNear        bool
	}{
		{"127.0.0.1:39731", "", true, "tandem.localhost:39731", "http://tandem.localhost:39731", true},
		{"127.0.0.1:39731", "", true, "LOCALHOST:39731", "http://localhost:39731", true},
		{"[::1]:39731", "", true, "[::1]:39731", "http://[::1]:39731", true},
		{"127.0.0.1:80", "", true, "tandem.localhost", "http://tandem.localhost", true},
		{"127.0.0.1:39731", "", true, "tandem.localhost:9000", "", false},
		{"127.0.0.1:39731", "", true, "tandem.localhost", "", false},
		{"127.0.0.1:39731", "", true, "evil.example:39731", "", false},
		{"127.0.0.1:39731", "Panel.example", true, "panel.example", "https://panel.example", false},
		{"127.0.0.1:39731", "panel.example", true, "panel.example:39731", "https://panel.example:39731", false},
		{"127.0.0.1:39731", "panel.example", true, "panel.example:9000", "", false},
		{"127.0.0.1:39731", "localhost:9000", true, "localhost:9000", "http://localhost:9000", false},
		{"127.0.0.1:39731", "localhost:9000", true, "localhost:9001", "", false},
		{"192.0.2.7:443", "", false, "192.0.2.7", "https://192.0.2.7", false},
		{"0.0.0.0:13013", "build.example", false, "build.example:13013", "https://build.example:13013", false},
		{"0.0.0.0:13013", "", false, "0.0.0.0:13013", "", false},
		{"0.0.0.0:13013", "", false, "192.0.2.7:13013", "https://192.0.2.7:13013", false},   // up prints it for other machines
		{"0.0.0.0:13013", "", false, "203.0.113.9:8443", "https://203.0.113.9:8443", false}, // as a published port is reached
		{"0.0.0.0:13013", "", false, "[2001:db8::7]:13013", "https://[2001:db8::7]:13013", false},
		{"0.0.0.0:13013", "", false, "127.0.0.1:8443", "", false},
		{"0.0.0.0:13013", "", false, "evil.example:13013", "", false},
		{"127.0.0.1:39731", "", true, "192.0.2.7:39731", "", false},
		{"127.0.0.1:39731", "", true, "tandem-k3v9.localhost:39731", "http://tandem-k3v9.localhost:39731", true}, // of this installation
		{"127.0.0.1:39731", "", true, "tandem-other.localhost:39731", "", false},
	} {
		site, ok := newNames(c.listen, c.near, c.hosts, "tandem-k3v9.localhost").site(c.host)
		if ok != (c.want != "") || site.Origin != c.want || site.Near != c.isNear {
			t.Errorf("%s of %s (hosts %q): %+v %v, want %q near %v", c.host, c.listen, c.hosts, site, ok, c.want, c.isNear)
		}
	}
}

// A program that comes by another port of loopback, as through ssh -L, is answered; a browser or what a proxy carried is not.
func TestAProgramMayComeByAnotherPort(t *testing.T) {
	n := newNames("127.0.0.1:39731", true, "")
	for _, c := range []struct {
		host, header string
		want         bool
	}{
		{"127.0.0.1:9000", "", true}, {"localhost:9000", "", true}, {"evil.example:39731", "", false}, {"127.0.0.1:9000", "Origin", false},
		{"127.0.0.1:9000", "Cookie", false}, {"127.0.0.1:9000", "X-Forwarded-For", false}, {"127.0.0.1:39731", "Origin", true},
	} {
		r := httptest.NewRequest("GET", "/status", nil)
		r.Host = c.host
		if c.header != "" {
			r.Header.Set(c.header, "x")
		}
		if got := n.answers(r); got != c.want {
			t.Errorf("%s with %q: %v", c.host, c.header, got)
		}
	}
}
