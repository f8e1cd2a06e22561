//go:build unix

package kit

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"tandem/internal/testenv"
)

// What is typed at a question for a secret, and what becomes of it. The terminal is afterwards as it was.
func TestHidden(t *testing.T) {
	for _, c := range []struct {
		typed, want string
		err         error
	}{
		{"2468\n", "2468", nil},
		{"24688\x7f\r", "2468", nil},
		{"wrong\x152468\r", "2468", nil},
		{"grü\x7fün\r", "grün", nil},
		{"12\x03", "", context.Canceled},
		{"\x04", "", io.EOF},
		{"\r", "", nil},
	} {
		keys, tty, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		before, err := term.GetState(int(tty.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		got, failed := typing(t, keys, tty, *before, c.typed)
		if got != c.want || failed != c.err {
			t.Errorf("%q gave %q, %v", c.typed, got, failed)
		}
		if after, err := term.GetState(int(tty.Fd())); err != nil || *after != *before {
			t.Errorf("%q left the terminal changed: %v", c.typed, err)
		}
		keys.Close()
		tty.Close()
	}
}

// typing answers a question once the terminal was made ready for it: before, Ctrl-C would be a signal to nobody.
func typing(t *testing.T, keys, tty *os.File, before term.State, text string) (string, error) {
	type answer struct {
		line string
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		line, err := hidden(tty, tty, "")
		done <- answer{line, err}
	}()
	testenv.Eventually(t, "the terminal is made ready", time.Minute, func() bool {
		now, err := term.GetState(int(tty.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		return *now != before
	})
	if _, err := keys.WriteString(text); err != nil {
		t.Fatal(err)
	}
	select {
	case a := <-done:
		return a.line, a.err
	case <-time.After(time.Minute):
		t.Fatalf("%q did not end the question", text)
		return "", nil
	}
}

// A question that was answered elsewhere ends, and leaves the next key for the next question.
func TestAQuestionEndsWithItsContext(t *testing.T) {
	keys, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer keys.Close()
	defer tty.Close()
	elsewhere := errors.New("answered elsewhere")
	ctx, end := context.WithCancelCause(t.Context())
	k := &Kit{In: tty, Err: io.Discard}
	over := k.AskWhile(ctx)
	done := make(chan error, 1)
	go func() {
		_, _, err := k.Ask("yes? ")
		done <- err
	}()
	end(elsewhere)
	select {
	case err := <-done:
		if !errors.Is(err, elsewhere) {
			t.Fatalf("it ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the question stands though it has its answer")
	}
	over()
	if _, err := keys.WriteString("y\r"); err != nil {
		t.Fatal(err)
	}
	if line, ok, err := k.Ask("and this? "); line != "y" || !ok || err != nil {
		t.Errorf("the next question got %q, %v, %v", line, ok, err)
	}
}
