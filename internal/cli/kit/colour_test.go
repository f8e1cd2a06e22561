package kit

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// Colours are for terminals that have them and for people who did not ask to go without; what somebody else wrote has none.
func TestColoursWhereTheTerminalHasThem(t *testing.T) {
	_, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	for _, c := range []struct {
		k    Kit
		want bool
	}{
		{Kit{Env: []string{"TERM=xterm"}}, true},
		{Kit{Env: []string{"TERM=xterm", "NO_COLOR="}}, true},
		{Kit{Env: []string{"TERM=xterm", "NO_COLOR=1"}}, false},
		{Kit{Env: []string{"TERM=dumb"}}, false},
		{Kit{Env: []string{"TERM=xterm"}, NoColour: true}, false},
	} {
		if got := c.k.colours(tty); got != c.want {
			t.Errorf("%v, --no-color %v: %v", c.k.Env, c.k.NoColour, got)
		}
	}
	k := Kit{Env: []string{"TERM=xterm"}}
	if k.colours(&bytes.Buffer{}) {
		t.Error("a pipe has colours")
	}
}

func TestWhatOthersWroteHasNoColour(t *testing.T) {
	var out bytes.Buffer
	on := screen{&out, true}
	Paint(on, Red, "gone\n\x1b[32mfaked")
	if got := out.String(); got != "\x1b[31mgone\x1b[0m\n\x1b[31m<U+001B>[32mfaked\x1b[0m" {
		t.Errorf("%q", got)
	}
	out.Reset()
	table := Table(on)
	fmt.Fprint(table, "ID\tNAME\n1\tone\n")
	table.Flush()
	if got := out.String(); !strings.HasPrefix(got, "\x1b[1mID  NAME\x1b[0m\n1   one\n") {
		t.Errorf("%q", got)
	}
	out.Reset()
	Diff(&out, "@@ -1 +1 @@\n-a\n+b\n")
	if got := out.String(); got != "@@ -1 +1 @@\n-a\n+b\n" {
		t.Errorf("%q", got)
	}
	out.Reset()
	Diff(on, "-a\n+b")
	if got := out.String(); got != "\x1b[31m-a\x1b[0m\n\x1b[32m+b\x1b[0m\n" {
		t.Errorf("%q", got)
	}
}
