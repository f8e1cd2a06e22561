package client

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
)

// Move is a server's word, signed with its old key, that it has another one now. Whoever pinned the old key follows it.
type Move struct {
	Key    []byte    `json:"key" jsonschema:"the old public key (SPKI)"`
	Old    string    `json:"old" jsonschema:"its fingerprint"`
	New    string    `json:"new" jsonschema:"the fingerprint of the new one"`
	At     time.Time `json:"at"`
	Signed []byte    `json:"signed"`
}

// MovesOut are all of a server's, the oldest first.
type MovesOut struct {
	Moves []Move `json:"moves"`
}

// MovesPath is where a server shows them to everybody.
const MovesPath = "/tls-moves"

func (m Move) digest() []byte {
	sum := sha256.Sum256([]byte("tandem tls key v1\n" + m.Old + "\n" + m.New + "\n" + m.At.UTC().Format(time.RFC3339) + "\n"))
	return sum[:]
}

// FingerprintOf is the fingerprint of a public key (SPKI).
func FingerprintOf(spki []byte) string {
	sum := sha256.Sum256(spki)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

// NewMove signs, with the old key, that another takes its place.
func NewMove(old crypto.Signer, now string, at time.Time) (Move, error) {
	spki, err := x509.MarshalPKIXPublicKey(old.Public())
	if err != nil {
		return Move{}, err
	}
	m := Move{Key: spki, Old: FingerprintOf(spki), New: now, At: at.UTC().Truncate(time.Second)}
	m.Signed, err = old.Sign(rand.Reader, m.digest(), crypto.SHA256)
	return m, err
}

// good says whether the old key signed it.
func (m Move) good() bool {
	public, err := x509.ParsePKIXPublicKey(m.Key)
	key, ok := public.(*ecdsa.PublicKey)
	return err == nil && ok && m.Old == FingerprintOf(m.Key) && ecdsa.VerifyASN1(key, m.digest(), m.Signed)
}

// Leads says whether moves lead from one key to another, each signed by the one before it.
func Leads(moves []Move, from, to string) bool {
	for range moves {
		for _, m := range moves {
			if m.Old == from && m.good() {
				from = m.New
				break
			}
		}
		if from == to {
			return true
		}
	}
	return false
}

// Followed asks a server that shows another key than the one known whether the known one announced it.
func Followed(host, known, shown string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	check := func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) == 0 || Fingerprint(state.PeerCertificates[0]) != shown {
			return errors.New("it shows yet another key")
		}
		return nil
	}
	// what it says is signed
	t := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, VerifyConnection: check, MinVersion: tls.VersionTLS13}}
	defer t.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+host+MovesPath, nil)
	if err != nil {
		return false
	}
	resp, err := t.RoundTrip(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var out MovesOut
	err = json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&out)
	return err == nil && resp.StatusCode == http.StatusOK && Leads(out.Moves, known, shown)
}
