package browsertest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// The look at every page was ended by a fixed time on a busy machine, half done and without an error. A script that gets on is left alone
// however long it takes; one that stands still is ended, and what it wrote is kept without the signs of life.
func TestAScriptThatGetsOnIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		w := newWatched(time.Minute, cancel)
		defer w.end()
		for range 100 {
			time.Sleep(50 * time.Second)
			_, _ = w.Write([]byte("\x00"))
		}
		_, _ = w.Write([]byte("a\x00b\n"))
		if ctx.Err() != nil {
			t.Error("ended though it got on")
		}
		time.Sleep(61 * time.Second)
		if err := context.Cause(ctx); err == nil || err.Error() != "nothing happened for 1m0s" {
			t.Errorf("stood still: %v", err)
		}
		if w.text.String() != "ab\n" {
			t.Errorf("kept %q", w.text.String())
		}
	})
}
