package session_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"tandem/internal/client"
	"tandem/internal/provider/scripted"
	"tandem/internal/testenv"
)

// screen is what a terminal shows, and what is typed into it.
type screen struct {
	t    *testing.T
	tty  *os.File
	mu   sync.Mutex
	all  bytes.Buffer
	seen int
}

func (s *screen) read() {
	buf := make([]byte, 4096)
	for {
		n, err := s.tty.Read(buf)
		s.mu.Lock()
		s.all.Write(buf[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// until waits for a text behind the last one, then types.
func (s *screen) until(want, typed string) {
	s.t.Helper()
	shown := ""
	comes := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		shown = s.all.String()[s.seen:]
		i := strings.Index(shown, want)
		if i >= 0 {
			s.seen += i + len(want)
		}
		return i >= 0
	}
	if !testenv.Within(20*time.Second, comes) {
		s.t.Fatalf("it does not show %q, but %q", want, shown)
	}
	if _, err := s.tty.WriteString(typed); err != nil {
		s.t.Fatal(err)
	}
}

// A conversation on a real terminal: words stream in, an ask is answered in place and with the PIN each time, an interrupt
// stops the agent and not the chat.
func TestChatOnATerminal(t *testing.T) {
	home := testenv.Dir(t)
	code := filepath.Join(home, "code")
	if err := os.MkdirAll(code, 0o755); err != nil {
		t.Fatal(err)
	}
	model := &scripted.Server{}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	program := func(args ...string) *exec.Cmd {
		cmd := exec.Command(testenv.Tandem(t), args...)
		cmd.Dir, cmd.Env = code, append(testenv.Env(t), "HOME="+home, "TERM=xterm")
		return cmd
	}
	server := program("serve", "--port", "0")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { server.Process.Signal(os.Interrupt); server.Wait() }()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c := client.Socket(filepath.Join(home, ".tandem", "tandem.sock"))
	if err := c.Healthy(ctx); err != nil {
		t.Fatal(err)
	}
	type m = map[string]any
	for _, x := range []struct {
		c    *client.Client
		name string
		in   m
	}{{c, "pin.set", m{"pin": "135790"}}, {c.WithPIN("135790"), "provider.add",
		m{"id": "fake", "base": model.URL(), "wire": "anthropic", "keyless": true}}, {c.WithPIN("135790"), "folder.grant", m{"path": code}}} {
		if err := x.c.Call(ctx, x.name, x.in, nil); err != nil {
			t.Fatal(err)
		}
	}
	chat := program("chat", "-m", "fake/s")
	tty, err := pty.StartWithSize(chat, &pty.Winsize{Rows: 40, Cols: 400})
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	s := &screen{t: t, tty: tty}
	go s.read()
	s.until("> ", "[[say hello there]]\r")
	s.until("\nhello there", "")
	s.until("> ", "[[tool write {\"path\":\"a.txt\",\"content\":\"one\"}]] [[tool write {\"path\":\"a.txt\",\"content\":\"two\"}]] [[tool "+
		"write {\"path\":\"b.txt\",\"content\":\"three\"}]] [[say done]]\r")
	s.until("approve? [y]es, [a]lways here", "make it two\n")
	s.until("PIN: ", "135790\n")
	s.until("approve? [y]es, [a]lways here", "a\n")
	s.until("done", "")
	s.until("> ", "[[slow 30]]\r")
	s.until("slow words", "\x03")
	s.until("cancelled", "")
	s.until("> ", "[[tool bash {\"command\":\"true\"}]] [[say over]]\r")
	s.until("approve? ", "y\n")
	s.until("PIN: ", "135790\n") // asked for again: the last one is long ago
	s.until("over", "")
	s.until("> ", "/quit\r")
	if err := chat.Wait(); err != nil {
		t.Error(err)
	}
	for file, want := range map[string]string{"a.txt": "two", "b.txt": "three"} {
		if b, err := os.ReadFile(filepath.Join(code, file)); err != nil || string(b) != want {
			t.Errorf("%s holds %q, %v", file, b, err)
		}
	}
}
