package proof

import (
	"os"
	"strings"
	"testing"
)

// The first five minutes of the README work as they stand there.
func TestReadme(t *testing.T) {
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t).start()
	n := 0
	for line := range strings.Lines(string(data)) {
		command, ok := strings.CutPrefix(line, "$ bin/tandem ")
		if !ok {
			continue
		}
		n++
		command, _, _ = strings.Cut(strings.TrimSpace(command), "    ") // what it is for
		if out, err := s.typed(words(command)...); err != nil {
			t.Errorf("tandem %s: %v\n%s", command, err, out)
		}
	}
	if n < 4 {
		t.Errorf("the README shows only %d commands", n)
	}
}
