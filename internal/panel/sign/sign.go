// Package sign checks that an act of a page was signed by the key of the
// browser that signed in. The key was made by the panel's script, cannot be
// taken out of the browser by any page, and belongs to the panel's origin: a
// cookie that was read elsewhere is worth nothing without it.
//
// A form carries its signature in one field:
//
//	1.TIME.NONCE.KEY.SIGNATURE
//
// TIME is in milliseconds; NONCE, KEY (a point of P-256, uncompressed) and
// SIGNATURE (r and s) are in base64url. What is signed is Message.
package sign

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Field is the form's field with the signature.
const Field = "tandem-signature"

// Act is a signature that holds.
type Act struct {
	Key   string // the public key that signed, in base64url
	Nonce string
	At    time.Time
}

// Message is what is signed about one request: its method, its address without
// the origin, the digest of its fields, the time and the nonce.
func Message(method, address, fields, at, nonce string) []byte {
	return []byte(strings.Join([]string{"tandem panel act 1", method, address, fields, at, nonce}, "\n"))
}

// Fields is the digest of a form's fields, by name and without the signature.
// Lines end as a script sees them, whatever a form makes of them on its way; a
// file stands here with the digest of its content.
func Fields(values map[string][]string, files map[string][]string) string {
	sum := sha256.New()
	write := func(all map[string][]string, mark string, clean func(string) string) {
		var names []string
		for name := range all {
			if name != Field {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			for _, v := range all[name] {
				v = clean(v)
				fmt.Fprintf(sum, "%s%d:%s=%d:%s\n", mark, len(name), name, len(v), v)
			}
		}
	}
	write(values, "", func(s string) string { return lines.Replace(s) })
	write(files, "file ", func(s string) string { return s })
	return fmt.Sprintf("%x", sum.Sum(nil))
}

var lines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Check reads a field and tells whose signature it is, if it holds for this
// request.
func Check(field, method, address, fields string) (Act, error) {
	part := strings.Split(field, ".")
	if len(part) != 5 || part[0] != "1" {
		return Act{}, fmt.Errorf("the signature has %d parts", len(part))
	}
	millis, err := strconv.ParseInt(part[1], 10, 64)
	if err != nil || len(part[2]) < 16 || len(part[2]) > 64 {
		return Act{}, fmt.Errorf("the signature has no time or no nonce")
	}
	key, err := Key(part[3])
	if err != nil {
		return Act{}, err
	}
	raw, err := base64.RawURLEncoding.DecodeString(part[4])
	if err != nil || len(raw) != 64 {
		return Act{}, fmt.Errorf("the signature cannot be read")
	}
	sum := sha256.Sum256(Message(method, address, fields, part[1], part[2]))
	if !ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(raw[:32]), new(big.Int).SetBytes(raw[32:])) {
		return Act{}, fmt.Errorf("the signature is of another request")
	}
	return Act{Key: part[3], Nonce: part[2], At: time.UnixMilli(millis)}, nil
}

// Key reads a public key.
func Key(text string) (*ecdsa.PublicKey, error) {
	point, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("the key cannot be read: %w", err)
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return nil, fmt.Errorf("the key is none: %w", err)
	}
	return key, nil
}
