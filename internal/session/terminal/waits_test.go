package terminal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"tandem/internal/testenv"
)

// caller is a command that waits for a turn, in a terminal of its own.
type caller struct {
	cmd *exec.Cmd
	out bytes.Buffer
}

func (h *house) waitsFor(prompt string) *caller {
	h.t.Helper()
	c := &caller{cmd: h.command(h.project, "session", "send", "a", prompt)}
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.out
	if err := c.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	word, _, _ := strings.Cut(prompt, " ")
	h.eventually("the model is asked", func() bool { return h.prompts(word) > 0 })
	return c
}

// ended is what it said, and its exit code.
func (c *caller) ended() (string, int) {
	var exit *exec.ExitError
	if err := c.cmd.Wait(); errors.As(err, &exit) {
		return c.out.String(), exit.ExitCode()
	}
	return c.out.String(), 0
}

// readOn is the line that reads on where a caller was left.
var readOn = regexp.MustCompile(`tandem (session send a(?: --cursor \d+)?)\n`)

// Callers that waited while the server ended were told "the caller went away" and no word of the turn, which went on; behind a kill with
// callers waiting, "tandem up" said that it ran already. Each is told the line that reads on, and that line does as it stands.
func TestWhoWaitsIsToldHowToReadOn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.open("a")
	for _, end := range []struct {
		prompt string
		how    func()
		exit   int
		says   string
	}{
		{"first", func() { h.stop(os.Kill) }, 1, "ended, or was cut off, before it answered"},
		{"second", func() { h.tandem(h.dir, "down") }, 8, "it goes on"},
	} {
		c := h.waitsFor(end.prompt + " [[slow 40 ;; say the " + end.prompt + " one is over]]")
		end.how()
		said, exit := c.ended()
		line := readOn.FindStringSubmatch(said)
		if exit != end.exit || !strings.Contains(said, end.says) || line == nil {
			t.Fatalf("%s: whoever waited ended with %d: %s", end.prompt, exit, said)
		}
		up := h.tandem(h.dir, "up", "--listen", fmt.Sprint("127.0.0.1:", testenv.Port(t)))
		if !strings.Contains(up, "tandem is running") {
			t.Errorf("%s: up said %s", end.prompt, up)
		}
		if more := h.tandem(h.dir, strings.Fields(line[1])...); !strings.Contains(more, "the "+end.prompt+" one is over") {
			t.Errorf("%s: tandem %s said\n%s", end.prompt, line[1], more)
		}
	}
	h.tandem(h.dir, "down")
	want(t, "prompts", h.prompts("first")+h.prompts("second"), 2)
}
