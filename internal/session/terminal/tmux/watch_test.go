package tmux

import (
	"context"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"tandem/internal/fault"
)

// shown collects frames.
type shown struct {
	mu     sync.Mutex
	frames []Frame
}

func (s *shown) add(f Frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frames = append(s.frames, f)
	return nil
}

func (s *shown) since(i int) (screens int, text string, last Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.frames[i:] {
		if f.Screen {
			screens++
			last = f
		}
		text += string(f.Data)
	}
	return screens, text, last
}

// What was there before comes as a screen with its colours, what is printed
// afterwards as it is printed, and a new size brings a new screen. Raw bytes
// reach the program.
func TestWatchShowsAScreenAndWhatFollows(t *testing.T) {
	s := private(t)
	open(t, s, "w", "sh", "-c", `printf '\033[31mred\033[0m before\n'; while read line; do printf 'got<%s>\\\033[1mü\n' "$line"; done`)
	eventually(t, "it printed", func() bool { text, _ := s.Capture(t.Context(), "w", 0); return strings.Contains(text, "red before") })
	var got shown
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Watch(ctx, "w", got.add) }()
	eventually(t, "the screen comes", func() bool { n, _, _ := got.since(0); return n == 1 })
	_, text, screen := got.since(0)
	if screen.Cols != 120 || screen.Rows != 40 || !strings.Contains(text, "\x1b[31mred") {
		t.Errorf("screen %dx%d %q", screen.Cols, screen.Rows, text)
	}
	if err := s.Bytes(t.Context(), "w", []byte("héllo \x15wörld\r")); err != nil { // ^U takes back what was typed before
		t.Fatal(err)
	}
	eventually(t, "what follows comes", func() bool { _, text, _ := got.since(1); return strings.Contains(text, "got<wörld>\\\x1b[1mü") })
	exec.Command("tmux", "-S", s.socket, "resize-window", "-t", "=ccm-w:", "-x", "90", "-y", "30").Run()
	eventually(t, "a new size brings a new screen", func() bool {
		_, _, last := got.since(0)
		return last.Cols == 90 && last.Rows == 30 && strings.Contains(string(last.Data), "got<wörld>")
	})
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := s.Watch(t.Context(), "nobody", got.add); !fault.Is(err, fault.NotFound) {
		t.Errorf("a terminal that is not there: %v", err)
	}
	go func() { ended <- s.Watch(t.Context(), "w", func(Frame) error { return nil }) }()
	eventually(t, "somebody watches", func() bool { p, _ := s.Pane(t.Context(), "w"); return p.Clients > 1 })
	if err := s.Kill(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil && !fault.Is(err, fault.NotFound) {
		t.Errorf("after the session's end: %v", err)
	}
}
