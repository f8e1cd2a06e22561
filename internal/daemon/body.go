package daemon

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// How slowly a request's body may come: with pauses of bodyPause at most, and all in all no slower than bodyRate after a first
// bodyPause. Only the time is counted in which the server waited for it.
const (
	bodyPause = 30 * time.Second
	bodyRate  = 1 << 10 // bytes a second
)

// paced is a handler of requests that come without long pauses: who stops in the middle of a body is cut off, whether anybody
// reads it or not. It knows on which connections of a pool something is asked.
func paced(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := placeOf(r.Context()); c != nil {
			c.asking(1)
			defer c.asking(-1)
		}
		if r.Body != nil && r.Body != http.NoBody {
			b := &pacedBody{ReadCloser: r.Body, until: http.NewResponseController(w).SetReadDeadline}
			defer b.rest()
			r.Body = b
		}
		h.ServeHTTP(w, r)
	})
}

type pacedBody struct {
	io.ReadCloser
	until  func(time.Time) error
	came   int64
	waited time.Duration
	ended  bool
}

func (b *pacedBody) Read(p []byte) (int, error) {
	began := time.Now()
	left := bodyPause + time.Duration(b.came/bodyRate)*time.Second - b.waited
	if err := b.until(began.Add(min(left, bodyPause))); err != nil {
		return 0, err
	}
	n, err := b.ReadCloser.Read(p)
	b.came, b.waited = b.came+int64(n), b.waited+time.Since(began)
	b.ended = b.ended || errors.Is(err, io.EOF)
	if clear := b.until(time.Time{}); err == nil { // whoever works on it, or answers it, takes the time it needs
		err = clear
	}
	return n, err
}

// rest bounds how long the server waits, after the answer, for a body that nobody wanted.
func (b *pacedBody) rest() {
	if !b.ended {
		_ = b.until(time.Now().Add(bodyPause / 6)) // a connection that is gone waits for nothing
	}
}
