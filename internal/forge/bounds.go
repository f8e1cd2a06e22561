package forge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"tandem/internal/fault"
	"tandem/internal/forge/wire"
)

// Bounds of a visit and of a round.
const (
	maxVisit   = 16 << 20 // bytes of all answers together
	maxListed  = 5000     // things in one answer
	maxThreads = 20       // reviews whose lines are read, the newest
	maxLook    = time.Minute
	maxRound   = 3 * time.Minute
	maxRest    = time.Hour
	anyRest    = time.Minute
)

// many is a list of a forge's: the newest of it, which come last. However long it is, no more of it is held.
type many[T any] []T

var errMany = errors.New("too many")

// UnmarshalJSON reads one after the other.
func (m *many[T]) UnmarshalJSON(text []byte) error {
	*m = nil
	if bytes.Equal(bytes.TrimSpace(text), []byte("null")) {
		return nil
	}
	in := json.NewDecoder(bytes.NewReader(text))
	if t, err := in.Token(); err != nil || t != json.Delim('[') {
		return errors.New("no list")
	}
	for n := 1; in.More(); n++ {
		var one T
		if err := in.Decode(&one); err != nil {
			return err
		}
		if n > maxListed {
			return errMany
		}
		if *m = append(*m, one); len(*m) > maxKept {
			*m = append((*m)[:0:0], (*m)[1:]...)
		}
	}
	return nil
}

// limited is what a forge says that counts requests.
type limited struct {
	why  *fault.Error
	wait time.Duration
}

func (l *limited) Error() string { return l.why.Error() }
func (l *limited) Unwrap() error { return l.why }

// rate says whether a forge refuses for the rate of requests, and for how long.
func rate(name string, status int, h http.Header, now time.Time) error {
	after, reset := h.Get("Retry-After"), h.Get("X-RateLimit-Reset")
	if status != http.StatusTooManyRequests && (status != http.StatusForbidden || after == "" && h.Get("X-RateLimit-Remaining") != "0") {
		return nil
	}
	wait := anyRest
	if n, err := strconv.ParseInt(after, 10, 64); err == nil {
		wait = time.Duration(min(max(n, 0), int64(maxRest/time.Second))) * time.Second
	} else if at, err := http.ParseTime(after); err == nil {
		wait = at.Sub(now)
	} else if n, err := strconv.ParseInt(reset, 10, 64); err == nil {
		wait = time.Unix(n, 0).Sub(now)
	}
	wait = min(max(wait, time.Second), maxRest)
	return &limited{refused(name, wait), wait}
}

func refused(name string, wait time.Duration) *fault.Error {
	return fault.New(fault.Exhausted, "forge", "%s refuses requests for their rate: it counts how many a token makes", name).
		WithNext("wait %s, then say it again; until then tandem asks nothing there", wait.Round(time.Second))
}

// rests are until when forges are left alone.
type rests struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func key(tenant string, f *wire.Forge) string {
	return fmt.Sprintf("%s %s %s", tenant, f.URL, f.Secret)
}

// over says why a forge is not asked now.
func (r *rests) over(tenant string, f *wire.Forge, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	until := r.until[key(tenant, f)]
	if now.Before(until) {
		return refused(f.Name, until.Sub(now))
	}
	delete(r.until, key(tenant, f))
	return nil
}

func (r *rests) heard(tenant string, f *wire.Forge, now time.Time, err error) {
	var l *limited
	if !errors.As(err, &l) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.until == nil {
		r.until = map[string]time.Time{}
	}
	r.until[key(tenant, f)] = now.Add(l.wait)
}
