package proof

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

const pin = "482913"

// typed runs a command on a terminal and types the PIN whenever it asks
// for something. It returns what the terminal showed.
func (s *server) typed(args ...string) (string, error) {
	s.t.Helper()
	return s.typing(pin, args...)
}

func (s *server) typing(secret string, args ...string) (string, error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out, err := s.typingUntil(ctx, secret, args...)
	if ctx.Err() != nil {
		s.t.Fatalf("tandem %v hangs on a terminal; it shows:\n%s", args, out)
	}
	return out, err
}

func (s *server) typingUntil(ctx context.Context, secret string, args ...string) (string, error) {
	s.t.Helper()
	cmd := s.command(ctx, args...)
	tty, err := pty.Start(cmd)
	if err != nil {
		s.t.Fatal(err)
	}
	defer tty.Close()
	shown := make(chan []byte, 64)
	go func() {
		defer close(shown)
		for {
			buf := make([]byte, 4096)
			n, err := tty.Read(buf)
			shown <- buf[:n]
			if err != nil { // a terminal whose program has ended
				return
			}
		}
	}()
	var all, unanswered bytes.Buffer
	for chunk := range shown { // until it ends, or ctx kills it
		all.Write(chunk)
		unanswered.Write(chunk)
		if asks(unanswered.Bytes()) {
			unanswered.Reset()
			if _, err := io.WriteString(tty, secret+"\n"); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	return all.String(), cmd.Wait()
}

// asks reports whether the last line shown is a question.
func asks(shown []byte) bool {
	return bytes.HasSuffix(shown[bytes.LastIndexByte(shown, '\n')+1:], []byte(": "))
}

func TestAsks(t *testing.T) {
	for shown, want := range map[string]bool{"PIN: ": true, "the PIN: is set\n": false, "New PIN:\r\nOnce more: ": true, "pin": false} {
		if got := asks([]byte(shown)); got != want {
			t.Errorf("%q: %v", shown, got)
		}
	}
}

// words splits a line as a shell would, as far as examples need it.
func words(line string) []string {
	var out []string
	var word strings.Builder
	quote, in := rune(0), false
	for _, r := range line + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, in = r, true
		case r == '#' && !in:
			return out
		case r == ' ':
			if in {
				out = append(out, word.String())
			}
			word.Reset()
			in = false
		case r == '|' || r == '>' || r == '<' || r == ';':
			return out
		default:
			word.WriteRune(r)
			in = true
		}
	}
	return out
}
