package client

import (
	"net"
	"strings"

	"tandem/internal/fault"
)

// Address is where a server and one of its repositories are, as people write
// it: HOST:PORT, HOST:PORT/NAME, either with #INVITE behind.
type Address struct {
	Host        string // HOST:PORT
	Repo        string // the repository's name, "" for the only one
	Invite      string // tdj_…, "" for none
	Fingerprint string // of the server's key, when the invitation names it
	Local       bool   // on this machine, where a server may speak without TLS
}

// ParseAddress reads an address.
func ParseAddress(s string) (Address, error) {
	var a Address
	rest, invite, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(s, "https://"), "http://"), "#")
	a.Host, a.Repo, _ = strings.Cut(rest, "/")
	a.Repo = strings.TrimSuffix(a.Repo, ".git")
	a.Invite, a.Fingerprint, _ = strings.Cut(invite, "~")
	if a.Fingerprint != "" {
		a.Fingerprint = "SHA256:" + strings.NewReplacer("-", "+", "_", "/").Replace(a.Fingerprint)
	}
	host, port, err := net.SplitHostPort(a.Host)
	if err != nil || host == "" || port == "" || strings.Contains(a.Repo, "/") {
		return a, fault.New(fault.Invalid, "address", "%q is not the address of a server", s).
			WithNext("write HOST:PORT or HOST:PORT/NAME, e.g. build.example.org:39731")
	}
	ip := net.ParseIP(host)
	a.Local = host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
	return a, nil
}

// Loopback says whether a host is this machine and nobody else's.
func Loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
