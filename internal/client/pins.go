package client

import (
	"bufio"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tandem/internal/fault"
)

// Pins are the keys of the servers this machine has met, as ssh keeps them: a
// key is trusted on first use and a changed one is refused.
type Pins struct {
	mu   sync.Mutex
	path string
}

// OpenPins reads and writes known servers in a file, one "address fingerprint"
// a line.
func OpenPins(path string) *Pins { return &Pins{path: path} }

// Fingerprint is how people and clients know a server's key: SHA-256 over its
// public key, so that a renewed certificate keeps it.
func Fingerprint(c *x509.Certificate) string {
	sum := sha256.Sum256(c.RawSubjectPublicKeyInfo)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

// Known is the fingerprint this machine remembers for an address, "" for none.
func (p *Pins) Known(addr string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known(addr)
}

func (p *Pins) known(addr string) (string, error) {
	f, err := os.Open(p.path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the known servers: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if a, print, ok := strings.Cut(lines.Text(), " "); ok && a == addr {
			return strings.TrimSpace(print), nil
		}
	}
	return "", lines.Err()
}

// Pin remembers an address's fingerprint, replacing none.
func (p *Pins) Pin(addr, fingerprint string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	old, err := p.known(addr)
	if err != nil || old == fingerprint {
		return err
	}
	if old != "" {
		return changed(addr, old, fingerprint, p.path)
	}
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(p.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("remember a server: %w", err)
	}
	_, err = fmt.Fprintf(f, "%s %s\n", addr, fingerprint)
	return errors.Join(err, f.Sync(), f.Close())
}

func changed(addr, old, now, file string) error {
	return fault.New(fault.Denied, "client", "the key of %s has changed from %s to %s: somebody may be listening in", addr, old, now).
		WithNext("ask the server's owner for its fingerprint (there: tandem status); if it is right, remove the line of %s from %s", addr, file)
}

// Transport speaks TLS to addr and to nobody else under that name: expect is
// the fingerprint an invitation named, or "" to trust the first key seen. What
// counts is the key alone, whoever signed its certificate: once seen it must stay.
func (p *Pins) Transport(addr, expect string) *http.Transport {
	verify := func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) == 0 {
			return errors.New("the server showed no certificate")
		}
		now := Fingerprint(state.PeerCertificates[0])
		if expect != "" && now != expect {
			return changed(addr, expect, now, p.path)
		}
		return p.Pin(addr, now)
	}
	return &http.Transport{
		// The name in a self-made certificate proves nothing; the pinned key does.
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: true, VerifyConnection: verify, MinVersion: tls.VersionTLS13},
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 8,
		IdleConnTimeout:     90 * time.Second,
	}
}
