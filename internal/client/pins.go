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
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/internal/fault"
	"tandem/internal/wholefile"
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

// IsFingerprint says whether a text has the form of one.
func IsFingerprint(text string) bool {
	sum, ok := strings.CutPrefix(text, "SHA256:")
	raw, err := base64.RawStdEncoding.Strict().DecodeString(sum)
	return ok && err == nil && len(raw) == sha256.Size
}

// Known is the fingerprint this machine remembers for an address, "" for none.
func (p *Pins) Known(addr string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known(addr)
}

func (p *Pins) known(addr string) (string, error) {
	lines, err := p.lines()
	for _, l := range lines {
		if l[0] == addr {
			return l[1], err
		}
	}
	return "", err
}

// wasBefore stands before the address of a key that a server had.
const wasBefore = "was:"

// Former are the fingerprints that a server had before, the newest first.
func (p *Pins) Former(addr string) (out []string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines, err := p.lines()
	for _, l := range lines {
		if l[0] == wasBefore+addr {
			out = append([]string{l[1]}, out...)
		}
	}
	return out, err
}

func (p *Pins) lines() (out [][2]string, err error) {
	f, err := os.Open(p.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the known servers: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if a, print, ok := strings.Cut(lines.Text(), " "); ok {
			out = append(out, [2]string{a, strings.TrimSpace(print)})
		}
	}
	return out, lines.Err()
}

// Replace remembers another fingerprint: the server announced it under its old key, or a person said so.
func (p *Pins) Replace(addr, fingerprint string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines, err := p.lines()
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, l := range lines {
		switch {
		case l[0] == addr && l[1] != fingerprint:
			fmt.Fprintf(&text, "%s%s %s\n", wasBefore, addr, l[1])
		case l[0] == wasBefore+addr && l[1] == fingerprint, l[0] == addr:
		default:
			fmt.Fprintf(&text, "%s %s\n", l[0], l[1])
		}
	}
	fmt.Fprintf(&text, "%s %s\n", addr, fingerprint)
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return err
	}
	return wholefile.Write(p.path, []byte(text.String()))
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
		return changed(addr, old, fingerprint)
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

// Expect has an address known by a key that is also kept elsewhere, also where what this machine remembers was lost. A key that came
// after it, as the server announced or a person said, counts as well.
func (p *Pins) Expect(addr, fingerprint string) error {
	known, err := p.Known(addr)
	if err != nil {
		return err
	}
	if known == "" || known == fingerprint {
		return p.Pin(addr, fingerprint)
	}
	former, err := p.Former(addr)
	if err != nil || slices.Contains(former, fingerprint) {
		return err
	}
	return changed(addr, fingerprint, known)
}

func changed(addr, old, now string) error {
	return fault.New(fault.Denied, "client",
		"the key of %s has changed from %s to %s, and the old one did not announce it: somebody may be listening in", addr, old, now).
		With("reason", "key changed").With("server", addr).With("shown", now).
		WithNext("ask the server's owner for its fingerprint (there: tandem status); if it is this one, say so with your PIN: "+
			"tandem remote trust %s %s", addr, now)
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
		known := expect
		if old, err := p.Known(addr); err != nil {
			return err
		} else if old != "" && old != now {
			known = old
		}
		if known == "" || known == now {
			return p.Pin(addr, now)
		}
		if !Followed(addr, known, now) {
			return changed(addr, known, now)
		}
		return p.Replace(addr, now)
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
