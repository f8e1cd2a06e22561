package client

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"tandem/internal/fault"
)

// Server is a server as this machine knows it: by its key, whatever name or
// address led there.
type Server struct {
	Host string // HOST:PORT
	Key  string // its fingerprint; "" for one on this machine that speaks in the clear
}

// URL is the base of the server's routes.
func (s Server) URL() string {
	if s.Key == "" {
		return "http://" + s.Host
	}
	return "https://" + s.Host
}

// Meet says by which key a server is known: the one remembered for its address,
// else the one that it shows now, which is remembered. Only an address on this
// machine may have none. An invitation that names another key replaces none by itself.
func (p *Pins) Meet(ctx context.Context, a Address) (Server, error) {
	known, err := p.Known(a.Host)
	if err != nil {
		return Server{}, err
	}
	if known != "" && a.Fingerprint != "" && known != a.Fingerprint {
		return p.invited(ctx, a, known)
	}
	if known == "" {
		if known, err = show(ctx, a); err != nil {
			return Server{}, err
		}
	}
	switch {
	case a.Fingerprint != "" && known != a.Fingerprint:
		return Server{}, changed(a.Host, a.Fingerprint, known)
	case known == "":
		return Server{Host: a.Host}, nil
	}
	return Server{Host: a.Host, Key: known}, p.Pin(a.Host, known)
}

// InvitedKey is the reason of a refusal that a person may lift: the server shows the key that an invitation names, and this machine
// knows another one.
const InvitedKey = "invited key"

// invited meets a server whose invitation names another key than the one known here. It is followed where the known key announced it.
func (p *Pins) invited(ctx context.Context, a Address, known string) (Server, error) {
	shown, err := show(ctx, a)
	switch {
	case err != nil:
		return Server{}, err
	case shown == a.Fingerprint && Followed(a.Host, known, shown):
		return Server{Host: a.Host, Key: shown}, p.Replace(a.Host, shown)
	case shown == a.Fingerprint:
		return Server{}, fault.New(fault.Denied, "client",
			"the invitation names the key %s, and %s shows it; this machine knows %s, which did not announce it: somebody may be listening in",
			shown, a.Host, known).
			With("reason", InvitedKey).With("server", a.Host).With("shown", shown).With("known", known).
			WithNext("ask the server's owner for its fingerprint (there: tandem status); if it is this one, say so with your PIN: "+
				"tandem remote trust %s %s", a.Host, shown)
	case shown == known:
		return Server{}, fault.New(fault.Denied, "client", "the invitation names the key %s, and %s shows %s, by which this machine knows it",
			a.Fingerprint, a.Host, known).
			WithNext("the line is of another server, or from before its key changed: ask for a fresh one; over there: tandem invite")
	}
	return Server{}, changed(a.Host, known, shown)
}

// Accept remembers the key that a server shows, if it is the one that a person names.
func (p *Pins) Accept(ctx context.Context, a Address, fingerprint string) error {
	shown, err := show(ctx, a)
	if err != nil {
		return err
	}
	if shown == "" || shown != fingerprint {
		return fault.New(fault.Denied, "client", "%s shows the key %s and not %s: nothing was changed", a.Host, shown, fingerprint).
			WithNext("ask the server's owner for its fingerprint; over there: tandem status")
	}
	return p.Replace(a.Host, shown)
}

// show connects and reads the key that a server proves to have.
func show(ctx context.Context, a Address) (key string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	// whose key it is, is the question
	d := tls.Dialer{NetDialer: &net.Dialer{Timeout: 5 * time.Second},
		Config: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}}
	conn, err := d.DialContext(ctx, "tcp", a.Host)
	var plain tls.RecordHeaderError
	switch {
	case errors.As(err, &plain) && a.Local:
		return "", nil
	case errors.As(err, &plain):
		return "", fault.New(fault.Unavailable, "client", "%s does not speak TLS, so it is no tandem server for other machines", a.Host).
			WithNext("check the address and the port; the server prints them: tandem status")
	case errors.Is(err, context.Canceled):
		return "", err
	case err != nil:
		return "", fault.New(fault.Unavailable, "client", "cannot reach %s: %w", a.Host, err).
			WithNext("check the address, and that the server runs; over there: tandem status")
	}
	defer conn.Close()
	return Fingerprint(conn.(*tls.Conn).ConnectionState().PeerCertificates[0]), nil
}
