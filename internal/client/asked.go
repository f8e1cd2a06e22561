package client

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"tandem/internal/wholefile"
)

// asked keeps the chance of a request to join that was interrupted, so that the next one to the same server is the same request: an
// approval that came meanwhile is not lost, and a person is not asked twice. It lies beside the known servers, a file a server.
type asked string

func (p *Pins) asked(host string) asked {
	sum := sha256.Sum256([]byte(host))
	return asked(filepath.Join(filepath.Dir(p.path), "asked", hex.EncodeToString(sum[:8])))
}

// take is the chance that an interrupted request left, or a new one. Of two that look at once one gets it.
func (a asked) take() string {
	kept, err := os.ReadFile(string(a))
	if nonce := strings.TrimSpace(string(kept)); err == nil && len(nonce) >= 32 && len(nonce) <= 128 && os.Remove(string(a)) == nil {
		return nonce
	}
	return rand.Text() + rand.Text()
}

func (a asked) keep(nonce string) error {
	if err := os.MkdirAll(filepath.Dir(string(a)), 0o700); err != nil {
		return err
	}
	return wholefile.Write(string(a), []byte(nonce+"\n"))
}
