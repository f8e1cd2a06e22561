package daemon

import (
	"net"
	"strings"

	"tandem/internal/client"
)

// address is where other machines find this daemon: the first name it was told to
// answer to, else the address it listens on, else the one it has towards the
// network. It is empty when it listens on this machine alone.
func (d *Daemon) address() string {
	for _, l := range d.listens {
		h, port, err := net.SplitHostPort(l)
		if err != nil || client.Loopback(h) {
			continue
		}
		name, _, _ := strings.Cut(d.Settings.Get("hosts"), ",")
		if name = strings.TrimSpace(name); name != "" {
			return net.JoinHostPort(name, port)
		}
		if ip := net.ParseIP(h); ip != nil && ip.IsUnspecified() {
			if h = outward(); h == "" {
				continue
			}
		}
		return net.JoinHostPort(h, port)
	}
	return ""
}

// outward is this machine's address towards the network: the one that a packet to
// elsewhere would carry, or the first that is no loopback. Nothing is sent.
func outward() string {
	for _, to := range []string{"192.0.2.1:9", "[2001:db8::1]:9"} {
		if c, err := net.Dial("udp", to); err == nil {
			defer c.Close()
			if a, ok := c.LocalAddr().(*net.UDPAddr); ok && !a.IP.IsLoopback() && !a.IP.IsUnspecified() {
				return a.IP.String()
			}
		}
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	return ""
}
