package tenancy

import (
	"io"
	"strings"
	"testing"
)

// What a file comes to is bounded while it is read.
func TestAFileIsBoundedWhileItIsRead(t *testing.T) {
	for what, c := range map[string]struct {
		text        string
		all, line   int64
		whole, fits bool
	}{"short": {"a\nb\n", 4, 2, false, true}, "too long": {"a\nb\n", 3, 2, false, false}, "a long line": {"a\nbbb\n", 9, 2, false, false},
		"one text": {"a\nb\n", 9, 3, true, false}, "bytes": {"aaaa", 4, 0, false, true}} {
		all := c.all
		got, err := io.ReadAll(&bounded{from: strings.NewReader(c.text), all: &all, line: c.line, whole: c.whole})
		if fits := err == nil && string(got) == c.text; fits != c.fits {
			t.Errorf("%s: %q %v", what, got, err)
		}
	}
}
