package workcopy

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"
)

func TestLineEnds(t *testing.T) {
	for _, c := range []struct {
		ends                 LineEnds
		disk, kept, shownNow string
	}{
		{KeepEnds, "a\r\nb\n", "a\r\nb\n", "a\r\nb\n"},
		{UnixEnds, "a\r\nb\nc", "a\nb\nc", "a\nb\nc"},
		{BothWays, "a\r\nb\nc", "a\nb\nc", "a\r\nb\r\nc"},
		{BothWays, "a\rb\r\n", "a\rb\r\n", "a\rb\r\n"},
		{BothWays, "a\x00\r\n", "a\x00\r\n", "a\x00\r\n"},
		{BothWays, "a\n\nb\r\n\r\n", "a\n\nb\n\n", "a\r\n\r\nb\r\n\r\n"},
		{UnixEnds, "", "", ""},
		{BothWays, "", "", ""},
	} {
		kept := c.ends.taken([]byte(c.disk))
		if string(kept) != c.kept {
			t.Errorf("%d: %q is kept as %q, want %q", c.ends, c.disk, kept, c.kept)
		}
		if got := c.ends.written(kept); string(got) != c.shownNow {
			t.Errorf("%d: %q is shown as %q, want %q", c.ends, kept, got, c.shownNow)
		}
		r, err := c.ends.writtenFrom(iotest.OneByteReader(bytes.NewReader(kept)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(iotest.OneByteReader(r)); err != nil || string(got) != c.shownNow {
			t.Errorf("%d: %q is written as %q, want %q: %v", c.ends, kept, got, c.shownNow, err)
		}
	}
}
