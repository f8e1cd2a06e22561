package daemon

import "testing"

// --listen 0.0.0.0:PORT opened the port on every IPv6 address, too.
func TestAnIPv4AddressOpensNoIPv6(t *testing.T) {
	for host, want := range map[string]string{"0.0.0.0": "tcp4", "127.0.0.1": "tcp4", "::": "tcp", "::1": "tcp", "localhost": "tcp"} {
		if got := family(host); got != want {
			t.Errorf("%s is listened on by %s", host, got)
		}
	}
}
