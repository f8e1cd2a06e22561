package secret

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"tandem/internal/secret/wire"
)

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
	words map[string]bool // words of ours, which are never struck
	turn  uint64
}

type form struct {
	size  int
	mac   [sha256.Size]byte
	place string // the tenant whose secret it is
	label string // the secret's name
	of    string // whose own record it is struck from; everybody's when empty
	until int64  // when it is forgotten, in Unix seconds; 0 for never
	turn  uint64 // when it was learnt last, in turns
}

// house is the tenant whose secrets are kept out of everybody's record.
const house = "local"

// strikes says whether it is struck from the record of a tenant: what a tenant keeps secret takes nothing out of the record of another one,
// or whoever may store a secret could blank it.
func (f *form) strikes(place string) bool {
	return place == "" || f.place == "" || f.place == house || f.place == place
}

// mark is what stands where a secret stood.
func mark(label string) string {
	if label == "" {
		return "[secret]"
	}
	return "[secret: " + label + "]"
}

// everyone is whose record is cleaned of all that is known: logs, which are nobody's record.
const everyone = "*"

// window is how many bytes find a form; the shortest secret has as many.
const window = wire.MinValue

// NewRedactor makes one that knows nothing yet. A nil Redactor never learns.
func NewRedactor() *Redactor {
	r := &Redactor{seed: maphash.MakeSeed(), heads: map[uint64][]form{}}
	rand.Read(r.mac[:])
	return r
}

// Ours teaches it words of the program itself (names of operations, kinds, doors). A text that is one of them stays as it
// is, whatever somebody stored as a secret.
func (r *Redactor) Ours(words ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.words == nil {
		r.words = map[string]bool{}
	}
	for _, w := range words {
		r.words[w] = true
	}
}

// Learn teaches it a value that nobody's record may hold.
func (r *Redactor) Learn(value []byte) { r.LearnAs("", "", value, "") }

// Turn begins a turn: what is learnt from now on is newer than what Forget ends for it. Whoever writes a secret takes it while nobody else
// can write that one, so that the last one written is the last to go, in whatever order the writers come to Forget.
func (r *Redactor) Turn() uint64 {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn++
	return r.turn
}

// Forget ends what it knows of a tenant's secret from before a turn, at a later time: a value that was deleted or replaced still turns up
// for a while. What was ended long ago goes.
func (r *Redactor) Forget(tenant, label string, before uint64, at time.Time) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now().Unix()
	for head, all := range r.heads {
		for i := range all {
			if f := &all[i]; f.place == tenant && f.label == label && f.until == 0 && f.turn < before {
				f.until = at.Unix()
			}
		}
		if all = slices.DeleteFunc(all, func(f form) bool { return f.until != 0 && f.until < now }); len(all) == 0 {
			delete(r.heads, head)
			continue
		}
		r.heads[head] = all
	}
}

// LearnAs teaches it the value of a tenant's secret by its name, for everybody's record or for one actor's own. Values too short to be
// secrets are not learnt: replacing them would tear every text apart.
func (r *Redactor) LearnAs(tenant, label string, value []byte, of string) {
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
		f := form{size: len(s), mac: r.sum(s), place: tenant, label: label, of: of, turn: r.turn}
		head := maphash.String(r.seed, s[:window])
		known := false
		for i := range r.heads[head] {
			if k := &r.heads[head][i]; k.size == f.size && k.mac == f.mac && k.place == f.place && k.label == f.label && k.of == f.of {
				k.until, k.turn, known = 0, f.turn, true
			}
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
func (r *Redactor) String(s string) string { return r.For(everyone).String(s) }

// JSON is a document without secrets, still a document.
func (r *Redactor) JSON(doc json.RawMessage) json.RawMessage { return r.For(everyone).JSON(doc) }

// Error is err without secrets.
func (r *Redactor) Error(err error) error { return r.For(everyone).Error(err) }

// Holds reports whether s holds a secret of a tenant, or one that is nobody's own. What others keep is not told.
func (r *Redactor) Holds(tenant, s string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	now := time.Now().Unix()
	for i := 0; i+window <= len(s) && r.most > 0; i++ {
		head := maphash.String(r.seed, s[i:i+window])
		if r.maybe[head>>6%uint64(len(r.maybe))]&(1<<(head&63)) == 0 {
			continue
		}
		for _, f := range r.heads[head] {
			if (f.place == "" || f.place == tenant) && (f.until == 0 || f.until >= now) && i+f.size <= len(s) && r.sum(s[i:i+f.size]) == f.mac {
				return true
			}
		}
	}
	return false
}

// begins is how many bytes at the end of s may begin a secret that goes on behind it, or a character that does.
func (r *Redactor) begins(s string) int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	from := len(s)
	for i := max(0, len(s)-r.most+1); i < len(s) && from == len(s) && r.most > 0; i++ {
		if i+window > len(s) {
			from = i
			break
		}
		head := maphash.String(r.seed, s[i:i+window])
		if r.maybe[head>>6%uint64(len(r.maybe))]&(1<<(head&63)) == 0 {
			continue
		}
		if slices.ContainsFunc(r.heads[head], func(f form) bool { return i+f.size > len(s) }) {
			from = i
		}
	}
	for back := 1; back <= min(len(s), utf8.UTFMax-1); back++ {
		if at := len(s) - back; utf8.RuneStart(s[at]) {
			if !utf8.FullRuneInString(s[at:]) {
				from = min(from, at)
			}
			break
		}
	}
	for from > 0 && from < len(s) && len(s)-from < r.most && !utf8.RuneStart(s[from]) {
		from--
	}
	return len(s) - from
}

// cut redacts s and returns it up to the given length, or up to the end of a
// secret that reaches beyond, and how much of s that was.
func (r *Redactor) cut(s string, upTo int, place, of string) (out string, used int) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	now, label := time.Now().Unix(), ""
	var b strings.Builder
	done, from, to := 0, -1, -1 // what is written; the stretch to replace
	flush := func() {
		if from >= 0 {
			b.WriteString(s[done:from])
			b.WriteString(mark(label))
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
			switch {
			case f.of != "" && f.of != of && of != everyone, f.until != 0 && f.until < now, !f.strikes(place):
				continue
			case i+f.size > len(s) || r.sum(s[i:i+f.size]) != f.mac:
				continue
			}
			if from < 0 {
				from, label = i, f.label
			}
			to = max(to, i+f.size)
		}
	}
	flush()
	used = max(done, upTo)
	b.WriteString(s[done:used])
	return b.String(), used
}
