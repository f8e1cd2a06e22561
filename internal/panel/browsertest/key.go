package browsertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strconv"
	"testing"
	"time"

	"tandem/internal/panel/sign"
)

// Key is a browser's key in the hands of a test, which signs as the panel's
// script does.
type Key struct{ secret *ecdsa.PrivateKey }

// NewKey makes one.
func NewKey(t testing.TB) Key {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return Key{secret}
}

// Sign puts a signature beside the fields of a form that is posted to an
// address.
func (k Key) Sign(t testing.TB, address string, form url.Values) url.Values {
	t.Helper()
	return k.SignAt(t, address, form, time.Now())
}

// SignAt is Sign at another time.
func (k Key) SignAt(t testing.TB, address string, form url.Values, at time.Time) url.Values {
	t.Helper()
	out := url.Values{}
	for name, values := range form {
		out[name] = values
	}
	text, when, nonce := base64.RawURLEncoding, strconv.FormatInt(at.UnixMilli(), 10), rand.Text()
	sum := sha256.Sum256(sign.Message("POST", address, sign.Fields(form, nil), when, nonce))
	r, s, err := ecdsa.Sign(rand.Reader, k.secret, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	point, err := k.secret.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	raw := append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	out.Set(sign.Field, "1."+when+"."+nonce+"."+text.EncodeToString(point)+"."+text.EncodeToString(raw))
	return out
}
