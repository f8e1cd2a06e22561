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

// Remembered is how long every message is known again by its row: longer than any sender tries again. What says itself that it is older
// is not taken.
const Remembered = 30 * 24 * time.Hour

// tolerance is how far the clock of a sender that signs its time may be from ours.
const tolerance = 5 * time.Minute

// maxWord bounds what is kept of a sender's own words.
const maxWord = 200

// scheme is how a sender signs: the header, how it is read, and where the message says which one it is.
type scheme struct {
	header   string
	check    func(secret []byte, given string, body []byte, now time.Time) (signed []byte, ok bool)
	id, kind string // headers; those that begin with "." are fields of the body
	timed    bool   // the signature is of a time, too, and is not taken later
	at       string // the field of the body that says when it was sent, "" where none does
}

var schemes = map[string]scheme{
	"generic": {"X-Tandem-Signature", timed, "X-Tandem-Delivery", "X-Tandem-Event", true, ""},
	"github":  {"X-Hub-Signature-256", prefixed, "X-Github-Delivery", "X-Github-Event", false, ""},
	"gitlab":  {"X-Gitlab-Token", token, "X-Gitlab-Event-Uuid", "X-Gitlab-Event", false, ""},
	"linear":  {"Linear-Signature", plain, "Linear-Delivery", "Linear-Event", false, "webhookTimestamp"},
	"notion":  {"X-Notion-Signature", prefixed, ".id", ".type", false, "timestamp"},
	"stripe":  {"Stripe-Signature", timed, ".id", ".type", true, ""},
}

// Check reads a message of a scheme. header gives what a header says, by its name in any case.
func Check(name string, secret []byte, header func(string) string, body []byte, now time.Time) (Delivery, error) {
	s, known := schemes[name]
	if !known || len(secret) == 0 {
		return Delivery{}, ErrUnsigned
	}
	signed, ok := s.check(secret, header(s.header), body, now)
	if !ok || s.late(body, now) {
		return Delivery{}, ErrUnsigned
	}
	sum := sha256.Sum256(signed)
	return Delivery{ID: word(s.id, header, body), Kind: word(s.kind, header, body), Mark: hex.EncodeToString(sum[:])}, nil
}

// Lasting reports whether what a scheme's sender signs says no time: whoever captured it can send it again whenever they like.
func Lasting(name string) bool { return !schemes[name].timed }

// Name is what a message is called where its sender signs that, too, and no time: one that was changed but for its name is known again by
// it. It is "" elsewhere.
func Name(scheme, id string) string {
	if id == "" || !Lasting(scheme) || !strings.HasPrefix(schemes[scheme].id, ".") {
		return ""
	}
	return "name " + id
}

// late reports whether a message says itself that it is older than messages are known again: in milliseconds, or as RFC 3339 has it.
func (s scheme) late(body []byte, now time.Time) bool {
	var all map[string]json.RawMessage
	if s.at == "" || json.Unmarshal(body, &all) != nil || string(all[s.at]) == "null" {
		return false
	}
	var millis int64
	var at time.Time
	switch {
	case json.Unmarshal(all[s.at], &millis) == nil:
		at = time.UnixMilli(millis)
	case json.Unmarshal(all[s.at], &at) != nil:
		return false
	}
	return now.Sub(at) > Remembered
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
