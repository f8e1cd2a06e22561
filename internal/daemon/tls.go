package daemon

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/wholefile"
)

// certificate is the TLS identity of a listener beyond loopback: the one that
// was configured, or one that tandem makes once and keeps. Clients pin its
// key on first use, as ssh does.
func (d *Daemon) certificate(host string) (*tls.Config, error) {
	certFile, keyFile := d.Settings.Get("tls_cert"), d.Settings.Get("tls_key")
	if certFile == "" {
		certFile, keyFile = filepath.Join(d.data, "tls-cert.pem"), filepath.Join(d.data, "tls-key.pem")
		_, missing := os.Stat(keyFile)
		if _, err := os.Stat(certFile); errors.Is(errors.Join(missing, err), os.ErrNotExist) {
			if err := makeCertificate(certFile, keyFile, host); err != nil {
				return nil, fmt.Errorf("make a TLS key: %w", err)
			}
		}
	}
	if err := d.show(certFile, keyFile); err != nil {
		return nil, err
	}
	d.Log.Info("listening beyond this machine", "fingerprint", d.fingerprint())
	now := func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &d.shown.Load().pair, nil }
	return &tls.Config{GetCertificate: now, MinVersion: tls.VersionTLS13, NextProtos: []string{"h2", "http/1.1"}}, nil
}

// shownKey is the certificate that listeners beyond this machine show, and its fingerprint.
type shownKey struct {
	pair  tls.Certificate
	print string
}

// show lets the listeners show a certificate from now on.
func (d *Daemon) show(certFile, keyFile string) error {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return fault.New(fault.Invalid, "daemon", "the certificate cannot be used: %w", err).WithNext("check --tls-cert and --tls-key")
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return err
	}
	d.shown.Store(&shownKey{pair, client.Fingerprint(leaf)})
	return nil
}

// fingerprint is the key by which other machines know this server, "" when it listens on this one alone.
func (d *Daemon) fingerprint() string {
	if s := d.shown.Load(); s != nil {
		return s.print
	}
	return ""
}

// serverKey is the fingerprint by which this server is known wherever it listens beyond loopback. One that never did gets its
// key now: whoever joins keeps what lets it in under that key.
func (d *Daemon) serverKey() (string, error) {
	if shown := d.fingerprint(); shown != "" {
		return shown, nil
	}
	if certFile := d.Settings.Get("tls_cert"); certFile != "" {
		text, err := os.ReadFile(certFile)
		return printOfPEM(text), err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	key, err := tlsKey(filepath.Join(d.data, "tls-key.pem"))
	if err != nil {
		return "", err
	}
	spki, err := x509.MarshalPKIXPublicKey(key.Public())
	return client.FingerprintOf(spki), err
}

// tlsKey is the key of a file, which is made where it is missing.
func tlsKey(file string) (crypto.Signer, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, err
		}
		raw, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			return nil, err
		}
		return key, wholefile.Write(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
	}
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s holds no key", file)
	}
	raw, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	key, ok := raw.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("the key in %s cannot sign", file)
	}
	return key, nil
}

// namesOf is what a listener can be called: programs that do not pin, such as
// git, compare the certificate with the address they were given.
func namesOf(host string) (names []string, addresses []net.IP) {
	names = []string{"tandem.localhost"}
	if name, err := os.Hostname(); err == nil {
		names = append(names, name)
	}
	ip := net.ParseIP(host)
	switch {
	case ip == nil && host != "":
		return append(names, host), nil
	case ip != nil && !ip.IsUnspecified():
		return names, []net.IP{ip}
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return names, nil // it can still be pinned
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok {
			addresses = append(addresses, n.IP)
		}
	}
	return names, addresses
}

// makeCertificate makes a certificate for the key in keyFile, which is made where it is missing.
func makeCertificate(certFile, keyFile, host string) error {
	key, err := tlsKey(keyFile)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return err
	}
	names, addresses := namesOf(host)
	t := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: "tandem"}, DNSNames: names, IPAddresses: addresses,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(20, 0, 0), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return err
	}
	return wholefile.Write(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
