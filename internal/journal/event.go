package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"tandem/internal/fault"
)

// The phases of an event.
const (
	Done    = "done"    // a change of state that is in the same transaction
	Intent  = "intent"  // an effect is about to be tried
	Outcome = "outcome" // an effect ended; Cause names its intent
	Denied  = "denied"  // policy refused
	Asked   = "asked"   // an approval was asked for
	Unknown = "unknown" // a crash hid an effect's outcome; Cause names its intent
)

// Event is what happened, as its writer tells it.
type Event struct {
	Tenant   string          // whose event it is; required
	Type     string          // the operation's name; required
	Phase    string          // one of the phases above; "" means Done
	Actor    string          // who acted
	For      []string        // on whose behalf, nearest first
	Resource string          // what it touched, "kind:/path"
	Request  string          // the request's id
	Payload  json.RawMessage // details that retention may delete later
	Cause    int64           // sequence number of the intent that this ends, 0 for none
	Seals    []Seal          // the rows that it vouches for
	Receipt  bool            // leave a signed receipt of it in the same transaction (decisions)
}

// Entry is an event as it was recorded.
type Entry struct {
	Seq      int64           `json:"seq"`
	Time     time.Time       `json:"time"`
	Tenant   string          `json:"tenant"`
	Type     string          `json:"type"`
	Phase    string          `json:"phase"`
	Actor    string          `json:"actor,omitempty"`
	For      []string        `json:"for,omitempty"`
	Resource string          `json:"resource,omitempty"`
	Request  string          `json:"request,omitempty"`
	Cause    int64           `json:"cause,omitempty"`
	Payload  json.RawMessage `json:"payload,omitempty"` // absent when there was none or retention deleted it
	// Salt, PayloadSalt and PayloadHash let the holder of an entry rebuild its leaf.
	Salt        []byte `json:"salt"`
	PayloadSalt []byte `json:"payload_salt,omitempty"`
	PayloadHash []byte `json:"payload_hash,omitempty"`
}

const (
	recordSize = 92
	saltSize   = 16
	maxPayload = 1 << 20
	maxField   = 4096
)

var recordTag = [4]byte{'t', 'j', '1', '\n'}

// Record is the entry's leaf: tag, sequence, time, cause, hash of the
// envelope, hash of the payload.
func (e *Entry) Record() [recordSize]byte {
	var r [recordSize]byte
	copy(r[:4], recordTag[:])
	binary.BigEndian.PutUint64(r[4:], uint64(e.Seq))
	binary.BigEndian.PutUint64(r[12:], uint64(e.Time.UnixMicro()))
	binary.BigEndian.PutUint64(r[20:], uint64(e.Cause))
	h := e.envelopeHash()
	copy(r[28:60], h[:])
	copy(r[60:], e.PayloadHash)
	return r
}

func (e *Entry) envelopeHash() Hash {
	if e.bare() {
		return Hash(e.Salt)
	}
	b := make([]byte, 0, 256)
	b = append(b, "tandem journal event v1\n"...)
	b = append(b, e.Salt...)
	b = appendField(b, e.Tenant, e.Type, e.Phase, e.Actor)
	b = binary.BigEndian.AppendUint32(b, uint32(len(e.For)))
	b = appendField(b, e.For...)
	b = appendField(b, e.Resource, e.Request)
	return sha256.Sum256(b)
}

func appendField(b []byte, fields ...string) []byte {
	for _, f := range fields {
		b = binary.BigEndian.AppendUint32(b, uint32(len(f)))
		b = append(b, f...)
	}
	return b
}

// payloadHash is the salted hash of a payload's exact bytes.
func payloadHash(salt, payload []byte) Hash {
	h := sha256.New()
	h.Write([]byte("tandem journal payload v1\n"))
	h.Write(salt)
	h.Write(payload)
	return Hash(h.Sum(nil))
}

// compact is the one form in which a payload is stored and hashed: no space
// between tokens, and escaped as encoding/json does, so that printing it as
// part of a larger document changes none of its bytes.
func compact(p json.RawMessage) (json.RawMessage, error) {
	if !utf8.Valid(p) {
		p = bytes.ToValidUTF8(p, []byte("\uFFFD"))
	}
	return json.Marshal(p)
}

// checkShape refuses salts and hashes of another length than theirs: bytes
// moved from one field into the next would leave the leaf as it was.
func (e *Entry) checkShape() error {
	if len(e.Salt) != saltSize {
		return fmt.Errorf("the salt has %d bytes", len(e.Salt))
	}
	return checkHash(e.PayloadHash)
}

func checkHash(payload []byte) error {
	if len(payload) != 0 && len(payload) != sha256.Size {
		return fmt.Errorf("the payload's hash has %d bytes", len(payload))
	}
	return nil
}

// checkPayload compares the payload, where there is one, with its hash.
func (e *Entry) checkPayload() error {
	if len(e.Payload) == 0 {
		return nil
	}
	if len(e.PayloadSalt) != saltSize {
		return fmt.Errorf("the payload's salt has %d bytes", len(e.PayloadSalt))
	}
	p, err := compact(e.Payload)
	if err != nil {
		return fmt.Errorf("the payload is not JSON")
	}
	if h := payloadHash(e.PayloadSalt, p); !bytes.Equal(h[:], e.PayloadHash) {
		return fmt.Errorf("the payload was changed")
	}
	return nil
}

// check makes an event storable, or says what is wrong with it. A name that a
// stranger chose must not keep the event of his refusal out of the journal,
// so text is mended rather than refused.
func (e *Event) check() error {
	if e.Phase == "" {
		e.Phase = Done
	}
	switch {
	case e.Tenant == "" || e.Type == "":
		return fault.New(fault.Internal, "journal.append", "an event needs a tenant and a type")
	case len(e.Payload) > maxPayload:
		return fault.New(fault.Invalid, "journal.append", "the event's details are %d bytes, more than the %d that the journal keeps",
			len(e.Payload), maxPayload).
			WithNext("store the content elsewhere and name it here")
	}
	if len(e.Payload) > 0 {
		p, err := compact(e.Payload)
		if err != nil {
			return fault.New(fault.Internal, "journal.append", "the payload of %s is not JSON: %w", e.Type, err)
		}
		e.Payload = p
	}
	for _, f := range []*string{&e.Tenant, &e.Type, &e.Phase, &e.Actor, &e.Resource, &e.Request} {
		*f = mend(*f)
	}
	for i, f := range e.For {
		if m := mend(f); m != f {
			e.For = slices.Clone(e.For) // the caller's own, which others read
			e.For[i] = m
		}
	}
	return nil
}

func mend(s string) string {
	if len(s) <= maxField && utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	if len(s) > maxField {
		s = s[:maxField]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
