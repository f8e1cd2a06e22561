package secret

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"hash/maphash"
	"strings"
	"sync"

	"tandem/internal/fault"
)

// Redacted is what stands where a secret stood.
const Redacted = "[redacted]"

// Redactor replaces the secrets it was taught in any text. It remembers no
// value: each form of one is known by its length and two keyed hashes, of its
// first bytes and of the whole.
type Redactor struct {
	seed maphash.Seed
	mac  [32]byte

	mu    sync.RWMutex
	heads map[uint64][]form
	maybe [1 << 10]uint64 // a bit for each head, so that most bytes cost no lookup
	most  int             // the length of the longest form
}

type form struct {
	size int
	mac  [sha256.Size]byte
}

// window is how many bytes find a form; the shortest secret has as many.
const window = minValue

// NewRedactor makes one that knows nothing yet. A nil Redactor never learns.
func NewRedactor() *Redactor {
	r := &Redactor{seed: maphash.MakeSeed(), heads: map[uint64][]form{}}
	rand.Read(r.mac[:])
	return r
}

// Learn teaches it a value. Values too short to be secrets are not learnt:
// replacing them would tear every text apart.
func (r *Redactor) Learn(value []byte) {
	if r == nil {
		return
	}
	seen := map[string]bool{}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range forms(string(value)) {
		if len(s) < window || seen[s] {
			continue
		}
		seen[s] = true
		f := form{len(s), r.sum(s)}
		head := maphash.String(r.seed, s[:window])
		known := false
		for _, k := range r.heads[head] {
			known = known || k == f
		}
		if !known {
			r.heads[head] = append(r.heads[head], f)
			r.maybe[head>>6%uint64(len(r.maybe))] |= 1 << (head & 63)
			r.most = max(r.most, len(s))
		}
	}
}

func (r *Redactor) sum(s string) (out [sha256.Size]byte) {
	h := hmac.New(sha256.New, r.mac[:])
	h.Write([]byte(s))
	h.Sum(out[:0])
	return out
}

// String is s without secrets.
func (r *Redactor) String(s string) string {
	if r == nil {
		return s
	}
	out, _ := r.cut(s, len(s))
	return out
}

// cut redacts s and returns it up to the given length, or up to the end of a
// secret that reaches beyond, and how much of s that was.
func (r *Redactor) cut(s string, upTo int) (out string, used int) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var b strings.Builder
	done, from, to := 0, -1, -1 // what is written; the stretch to replace
	flush := func() {
		if from >= 0 {
			b.WriteString(s[done:from])
			b.WriteString(Redacted)
			done, from = to, -1
		}
	}
	for i := 0; i+window <= len(s) && i < max(upTo, to) && r.most > 0; i++ {
		if from >= 0 && i > to {
			flush()
		}
		head := maphash.String(r.seed, s[i:i+window])
		if r.maybe[head>>6%uint64(len(r.maybe))]&(1<<(head&63)) == 0 {
			continue
		}
		for _, f := range r.heads[head] {
			if i+f.size > len(s) || r.sum(s[i:i+f.size]) != f.mac {
				continue
			}
			if from < 0 {
				from = i
			}
			to = max(to, i+f.size)
		}
	}
	flush()
	used = max(done, upTo)
	b.WriteString(s[done:used])
	return b.String(), used
}

// JSON is a document without secrets, still a document.
func (r *Redactor) JSON(doc json.RawMessage) json.RawMessage {
	s := string(doc)
	out := r.String(s)
	if out == s {
		return doc
	}
	if !json.Valid([]byte(out)) { // the secret was part of the syntax
		out = `"` + Redacted + `"`
	}
	return json.RawMessage(out)
}

// Error is err without secrets. A fault keeps its kind, a cause can still be
// asked for with errors.Is, and nothing of the original text is reachable.
func (r *Redactor) Error(err error) error {
	if err == nil {
		return nil
	}
	var f *fault.Error
	isFault := errors.As(err, &f)
	if all := strings.Join(texts(err), "\n"); r.String(all) == all {
		return err
	}
	hidden := redactedError{r.String(err.Error()), err}
	if !isFault {
		return hidden
	}
	clean := &fault.Error{Kind: f.Kind, Op: f.Op, Msg: hidden.text, Next: r.String(f.Next), Err: hidden}
	for k, v := range f.Data {
		clean.With(r.String(k), r.String(v))
	}
	return clean
}

// texts are all that an error and its causes would say.
func texts(err error) []string {
	if err == nil {
		return nil
	}
	out := []string{err.Error()}
	switch e := err.(type) {
	case *fault.Error:
		out = append(out, e.Next)
		for k, v := range e.Data {
			out = append(out, k, v)
		}
		out = append(out, texts(e.Err)...)
	case interface{ Unwrap() error }:
		out = append(out, texts(e.Unwrap())...)
	case interface{ Unwrap() []error }:
		for _, x := range e.Unwrap() {
			out = append(out, texts(x)...)
		}
	}
	return out
}

// redactedError hides an error's text and keeps its identity.
type redactedError struct {
	text string
	err  error
}

func (e redactedError) Error() string        { return e.text }
func (e redactedError) Is(target error) bool { return errors.Is(e.err, target) }
