package connector

import (
	"net/netip"
	"net/url"
	"strings"

	"tandem/internal/connector/wire"
	"tandem/internal/egress"
)

// Moved says why a person decides an operation that everyday rights cover: it has this machine speak to an address inside it
// or its network, or signs in somewhere in the person's name. "" is nothing.
func (r *Room) Moved(operation string, in any) string {
	switch in := in.(type) {
	case wire.AddIn:
		if in.Inside || plainlyInside(in.URL) {
			return "its address is inside this machine or its network"
		}
	case wire.NameIn:
		if operation == "connector.login" {
			return "it signs in somewhere for the person"
		}
	}
	return ""
}

// plainlyInside reports whether an address says itself that it leads inside. A name does not: what it leads to is looked at
// when it is dialled.
func plainlyInside(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && !egress.Public(a)
}
