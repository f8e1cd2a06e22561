package proof

import (
	"bytes"
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/creack/pty"

	"tandem/internal/testenv"
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
	cmd := exec.Command(testenv.Tandem(s.t), args...)
	cmd.Env, cmd.Dir = append(s.env[:len(s.env):len(s.env)], "TANDEM_DATA="+s.data), s.home
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
	limit := time.After(30 * time.Second)
	for {
		select {
		case chunk, open := <-shown:
			if !open {
				return all.String(), cmd.Wait()
			}
			all.Write(chunk)
			unanswered.Write(chunk)
			if asks(unanswered.Bytes()) {
				unanswered.Reset()
				if _, err := io.WriteString(tty, secret+"\n"); err != nil {
					s.t.Fatal(err)
				}
			}
		case <-limit:
			cmd.Process.Kill()
			s.t.Fatalf("tandem %v hangs on a terminal; it shows:\n%s", args, all.String())
		}
	}
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
