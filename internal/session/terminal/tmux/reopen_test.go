package tmux

import (
	"fmt"
	"testing"
)

// tmux ends with its last session. Whoever opens one just then gets it all the same.
func TestATerminalIsOpenedWhileTheLastOneEnds(t *testing.T) {
	s := private(t)
	for i := range 30 {
		name := fmt.Sprintf("a%d", i)
		if err := s.Open(t.Context(), Spec{Name: name, Folder: t.TempDir(), Argv: []string{"/bin/cat"}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Kill(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
}
