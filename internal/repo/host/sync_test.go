package host

import (
	"bytes"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/repo/exchange"
)

// Who only reads names no head and was asked for no right to write: what such a
// request brings is refused before any of it is unpacked.
func TestAReaderBringsNothing(t *testing.T) {
	_, git := ownHome(t)
	h, s, ctx := serve(t, git)
	for _, frames := range []func(w *exchange.Writer) error{
		func(w *exchange.Writer) error { return w.Frame(exchange.Pack, []byte("PACK")) },
		func(w *exchange.Writer) error { return w.Frame(exchange.View, make([]byte, 64)) },
		func(w *exchange.Writer) error { return w.Frame(exchange.Operation, make([]byte, 64)) },
	} {
		var b bytes.Buffer
		w := exchange.NewWriter(&b)
		for _, err := range []error{frames(w), w.End()} {
			if err != nil {
				t.Fatal(err)
			}
		}
		_, _, _, err := h.takeIn(ctx, s, exchange.Question{Workspace: "w"}, exchange.NewReader(&b))
		if f := fault.Public(err); f.Kind != fault.Invalid || f.Msg != "something was sent, but no head of it was named" {
			t.Errorf("got %v", err)
		}
	}
}
