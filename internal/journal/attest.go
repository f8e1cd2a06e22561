package journal

import (
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"strings"
)

// Attest signs a room's bytes with the house's key. The purpose is part of what is
// signed: a signature made for one thing is none for another, a checkpoint's neither.
func (j *Journal) Attest(purpose string, data []byte) []byte {
	sig, err := j.now().key.Sign(nil, data, &ed25519.Options{Hash: crypto.Hash(0), Context: purpose})
	if err != nil {
		panic(err) // only a purpose of more than 255 bytes fails, and purposes are constants
	}
	return sig
}

// Attested says whether the house signed these bytes for this purpose.
func (j *Journal) Attested(purpose string, data, sig []byte) bool {
	keys := []string{j.now().public()}
	vouch := j.Vouch()
	for _, subject := range vouch.Stand(houseTenant, "journalkey") { // what it signed before its key was replaced still counts
		keys = append(keys, strings.TrimPrefix(subject, "journalkey:"))
	}
	for _, key := range keys {
		public, err := base64.StdEncoding.DecodeString(key)
		if err == nil && len(public) == ed25519.PublicKeySize &&
			ed25519.VerifyWithOptions(public, data, sig, &ed25519.Options{Hash: crypto.Hash(0), Context: purpose}) == nil {
			return true
		}
	}
	return false
}
