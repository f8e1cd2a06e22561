// Package id makes and checks identifiers: a prefix that says what the thing
// is, then 26 characters of time and chance that sort in the order of making
// ("res_01j9z…"). Identifiers never carry meaning beyond that.
package id

import (
	"crypto/rand"
	"encoding/binary"
	"strings"
	"sync"
	"time"

	"tandem/internal/fault"
)

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz" // Crockford's base 32, lower case

const bodyLen = 26

var clock struct {
	sync.Mutex
	last uint64 // the last millisecond handed out
	tail uint64 // ids within one millisecond keep their order by counting here
}

// New makes an id with a prefix. Ids of one process sort in the order they
// were made, also within one millisecond.
func New(prefix string) string {
	var random [16]byte
	rand.Read(random[:])
	clock.Lock()
	ms := uint64(time.Now().UnixMilli())
	if ms <= clock.last {
		ms = clock.last
		clock.tail++
	} else {
		clock.last = ms
		clock.tail = binary.BigEndian.Uint64(random[8:]) >> 24
	}
	tail := clock.tail
	clock.Unlock()

	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:8], ms<<16)
	// 40 bits of order, then 40 bits of chance that no other process shares.
	raw[6], raw[7] = byte(tail>>32), byte(tail>>24)
	raw[8], raw[9], raw[10] = byte(tail>>16), byte(tail>>8), byte(tail)
	copy(raw[11:], random[:5])
	return prefix + "_" + encode(raw)
}

// encode writes 128 bits as 26 characters, most significant first.
func encode(raw [16]byte) string {
	hi, lo := binary.BigEndian.Uint64(raw[:8]), binary.BigEndian.Uint64(raw[8:])
	var out [bodyLen]byte
	for i := bodyLen - 1; i >= 0; i-- {
		out[i] = alphabet[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	return string(out[:])
}

// Check says whether s is an id with that prefix, and if not, how it should
// look.
func Check(prefix, s string) error {
	body, ok := strings.CutPrefix(s, prefix+"_")
	if ok && len(body) == bodyLen && strings.Trim(body, alphabet) == "" {
		return nil
	}
	return fault.New(fault.Invalid, "id", "%q is not an id of this kind: it should look like %s_ and %d characters", clip(s), prefix, bodyLen)
}

// Short is the id as people see it in a list: the prefix and the last six
// characters, which are the random ones.
func Short(s string) string {
	p, body, ok := strings.Cut(s, "_")
	if !ok || len(body) <= 6 {
		return s
	}
	return p + "_" + body[len(body)-6:]
}

func clip(s string) string { return fault.Clip(s, 40) }
