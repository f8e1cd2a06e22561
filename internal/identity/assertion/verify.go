package assertion

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"
)

// Verified is an assertion that holds: who signed it, what it says, and a digest of its very bytes.
type Verified struct {
	Key    *Key
	Claims Claims
	Digest [sha256.Size]byte
	// Narrow is what it is narrowed to, and By how a chain names that; empty for everything that its person may.
	Narrow, By string
}

// Find looks a key up by its id; nil where there is none.
type Find func(id string) (*Key, error)

// Verify checks an assertion as it came: its form, its signature, its claims, its key. What is wrong is a *Rejected; another error is
// one of Find.
func (r Rules) Verify(token string, find Find, now time.Time) (*Verified, error) {
	if len(token) > maxSize {
		return nil, Reject(TooLarge, "the assertion has %d bytes, and %d are taken", len(token), maxSize)
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, Reject(Malformed, "that is no compact JWS: three parts with dots between them")
	}
	var head struct {
		Alg string `json:"alg"`
		Typ string `json:"typ"`
		Kid string `json:"kid"`
	}
	if err := decode(parts[0], &head); err != nil {
		return nil, Reject(Malformed, "the assertion's header is not {alg, typ, kid}")
	}
	switch {
	case head.Alg != "EdDSA":
		return nil, Reject(Algorithm, "the assertion is signed with %.20q, and EdDSA is taken", head.Alg)
	case head.Typ != "tandem-tenant-context+jws":
		return nil, Reject(Type, "the assertion is of the type %.40q, and tandem-tenant-context+jws is taken", head.Typ)
	case CheckID(head.Kid) != nil:
		return nil, Reject(KeyUnknown, "the assertion names no key")
	}
	key, err := find(head.Kid)
	if why := (*Rejected)(nil); errors.As(err, &why) {
		return nil, why.of(head.Kid, Claims{}, false)
	}
	if err != nil {
		return nil, err
	}
	if key == nil {
		return nil, Reject(KeyUnknown, "there is no key %s here", head.Kid).of(head.Kid, Claims{}, false)
	}
	signature, err := base64.RawURLEncoding.Strict().DecodeString(parts[2])
	if err != nil || !ed25519.Verify(key.Public, []byte(parts[0]+"."+parts[1]), signature) {
		return nil, Reject(Signature, "the assertion was not signed by the key %s", key.ID).of(key.ID, Claims{}, false)
	}
	v := &Verified{Key: key, Digest: sha256.Sum256([]byte(token))}
	if err := decode(parts[1], &v.Claims); err != nil || len(v.Claims.Roles)+len(v.Claims.Capabilities) > maxTexts {
		return nil, Reject(Malformed, "the assertion's claims are not those of version v1").of(key.ID, Claims{}, true)
	}
	why := r.check(&v.Claims, now)
	if why == nil {
		v.Narrow, v.By, why = r.Narrow(&v.Claims)
	}
	if why == nil {
		why = key.speaksFor(&v.Claims, r.Organized, now)
	}
	if why != nil {
		return nil, why.of(key.ID, v.Claims, true)
	}
	return v, nil
}

// Reject says why an assertion that holds is not taken all the same.
func (v *Verified) Reject(why Reason, format string, args ...any) *Rejected {
	return Reject(why, format, args...).of(v.Key.ID, v.Claims, true)
}

// decode reads one part, and nothing that it does not know.
func decode(part string, into any) error {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("more than one value")
	}
	return nil
}
