package connector

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"tandem/internal/secret"
)

// maxConversation is how much a connector may say in one conversation, counted while it is read: a list of tools and an answer.
const maxConversation = 8 << 20

// minWord is how long a part of a secret is before it is struck by itself: "Bearer" is no secret.
const minWord = 8

var errTooMuch = errors.New("it sent more than 8 MiB in one conversation, and was cut off")

// conversation is what is known of one talk with a connector: how much it may still say, and what was lent to it.
type conversation struct {
	left atomic.Int64
	lent *secret.Redactor
}

func newConversation() *conversation {
	c := &conversation{lent: secret.NewRedactor()}
	c.left.Store(maxConversation)
	return c
}

// lend remembers a secret that goes to the connector, whole and in words, so that it is struck from what comes back: a header holds
// "Bearer KEY", and an answer may hold the key alone.
func (c *conversation) lend(value string) {
	_, afterScheme, _ := strings.Cut(value, " ")
	for _, part := range append(strings.Fields(value), value, afterScheme) {
		if len(part) >= minWord {
			c.lent.Learn([]byte(part))
		}
	}
}

// strike is a text of the connector's without what was lent to it.
func (c *conversation) strike(text string) string { return c.lent.String(text) }

// bound reads from r what may still be said.
func (c *conversation) bound(r io.ReadCloser) io.ReadCloser { return &bounded{r, c} }

type bounded struct {
	io.ReadCloser
	c *conversation
}

// Read counts against the conversation, whichever of its answers this is.
func (b *bounded) Read(p []byte) (int, error) {
	left := b.c.left.Load()
	if left <= 0 {
		return 0, errTooMuch
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), left)])
	b.c.left.Add(-int64(n))
	return n, err
}

// trip sends requests with the connector's secret and bounds what is answered.
type trip struct {
	base        http.RoundTripper
	c           *conversation
	name, value string // of the header that carries the secret, if any
}

// RoundTrip sends the request. A token of a sign-in, which the caller has put in its place, is remembered as lent, too.
func (t trip) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if t.name != "" {
		r.Header.Set(t.name, t.value)
	}
	if signed := r.Header.Get("Authorization"); signed != "" {
		t.c.lend(signed)
	}
	resp, err := t.base.RoundTrip(r)
	if err == nil {
		resp.Body = t.c.bound(resp.Body)
	}
	return resp, err
}
