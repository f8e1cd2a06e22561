// Package hook tells whether a webhook is signed by who has its secret, in the ways of the senders that people have. It is pure.
package hook

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Delivery is one message of a sender.
type Delivery struct {
	ID   string // as the sender calls it, "" where it has none
	Kind string // of what happened, in the sender's words
	Mark string // digest of what was signed: a message that comes again has the same, whatever its other headers say
}

// ErrUnsigned says that a message was not signed by who has the secret, or too long ago.
var ErrUnsigned = errors.New("the signature is missing, wrong or too old")

// tolerance is how far the clock of a sender that signs its time may be from ours.
const tolerance = 5 * time.Minute

// maxWord bounds what is kept of a sender's own words.
const maxWord = 200

// scheme is how a sender signs: the header, how it is read, and where the message says which one it is.
type scheme struct {
	header   string
	check    func(secret []byte, given string, body []byte, now time.Time) (signed []byte, ok bool)
	id, kind string // headers; those that begin with "." are fields of the body
}

var schemes = map[string]scheme{
	"generic": {"X-Tandem-Signature", timed, "X-Tandem-Delivery", "X-Tandem-Event"},
	"github":  {"X-Hub-Signature-256", prefixed, "X-Github-Delivery", "X-Github-Event"},
	"gitlab":  {"X-Gitlab-Token", token, "X-Gitlab-Event-Uuid", "X-Gitlab-Event"},
	"linear":  {"Linear-Signature", plain, "Linear-Delivery", "Linear-Event"},
	"notion":  {"X-Notion-Signature", prefixed, ".id", ".type"},
	"stripe":  {"Stripe-Signature", timed, ".id", ".type"},
}

// Check reads a message of a scheme. header gives what a header says, by its name in any case.
func Check(name string, secret []byte, header func(string) string, body []byte, now time.Time) (Delivery, error) {
	s, known := schemes[name]
	if !known || len(secret) == 0 {
		return Delivery{}, ErrUnsigned
	}
	signed, ok := s.check(secret, header(s.header), body, now)
	if !ok {
		return Delivery{}, ErrUnsigned
	}
	sum := sha256.Sum256(signed)
	return Delivery{ID: word(s.id, header, body), Kind: word(s.kind, header, body), Mark: hex.EncodeToString(sum[:])}, nil
}

// word is what a message says of itself.
func word(where string, header func(string) string, body []byte) string {
	said := header(where)
	if field, ok := strings.CutPrefix(where, "."); ok {
		var all map[string]json.RawMessage
		if json.Unmarshal(body, &all) != nil || json.Unmarshal(all[field], &said) != nil {
			said = ""
		}
	}
	said = strings.ReplaceAll(said, "\x00", "")
	return strings.ToValidUTF8(said[:min(len(said), maxWord)], "") // also where the cut went through a letter
}

// prefixed is sha256= and the sum in hex, of the body.
func prefixed(secret []byte, given string, body []byte, now time.Time) ([]byte, bool) {
	sum, ok := strings.CutPrefix(given, "sha256=")
	if !ok {
		return nil, false
	}
	return plain(secret, sum, body, now)
}

// plain is the sum in hex, of the body.
func plain(secret []byte, given string, body []byte, _ time.Time) ([]byte, bool) {
	return body, equal(secret, given, body)
}

// token is the secret itself: such a sender signs nothing.
func token(secret []byte, given string, body []byte, _ time.Time) ([]byte, bool) {
	return body, subtle.ConstantTimeCompare(secret, []byte(given)) == 1
}

// timed is t=SECONDS,v1=SUM, where the sum is of the time, a dot and the body; there may be several sums.
func timed(secret []byte, given string, body []byte, now time.Time) ([]byte, bool) {
	at, sums := "", []string{}
	for part := range strings.SplitSeq(given, ",") {
		switch name, value, _ := strings.Cut(strings.TrimSpace(part), "="); name {
		case "t":
			at = value
		case "v1":
			sums = append(sums, value)
		}
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > tolerance || len(sums) > 5 {
		return nil, false
	}
	signed := append([]byte(at+"."), body...)
	for _, sum := range sums {
		if equal(secret, sum, signed) {
			return signed, true
		}
	}
	return nil, false
}

func equal(secret []byte, given string, signed []byte) bool {
	sum, err := hex.DecodeString(given)
	m := hmac.New(sha256.New, secret)
	m.Write(signed)
	return err == nil && hmac.Equal(sum, m.Sum(nil))
}
