package tmux

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"tandem/internal/fault"
)

// Frame is a piece of what a terminal shows: its whole screen, or what was
// printed since.
type Frame struct {
	Screen     bool // Data draws everything anew, on Cols by Rows
	Cols, Rows int
	Data       []byte
}

// History is how many lines above the screen a watcher gets.
const History = 500

// Watch sends what a session's terminal shows until ctx ends or the session is
// gone, beginning with the whole screen; when the size or the pane changes, the
// whole screen comes again. It is a tmux client of its own that changes
// nothing, not even the size.
func (s *Server) Watch(ctx context.Context, name string, send func(Frame) error) error {
	if _, err := s.Pane(ctx, name); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.program(), append(s.flags(), "-C", "attach-session", "-f", "ignore-size", "-t", "="+s.prefix+name)...)
	cmd.Env, cmd.WaitDelay = s.env, time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fault.New(fault.Unavailable, "tmux.watch", "tmux did not start: %w", err)
	}
	w := &watch{in: in, target: s.target(name), send: send, waits: []string{"attach"}}
	err = w.follow(bufio.NewReaderSize(out, 64<<10))
	cancel()
	in.Close()
	_ = cmd.Wait() // it was told to end
	return err
}

// watch is a control client that follows one pane. Its commands are answered
// in order, and in order with what the pane printed, so what comes behind the
// screen's block was printed after it was taken.
type watch struct {
	in     io.Writer
	target string
	send   func(Frame) error
	waits  []string // the commands whose answers are still to come
	pane   string
	frame  Frame
	tail   []byte // what restores modes and cursor behind the screen's lines
	synced bool
	again  bool // something changed while the screen was being read
}

// shapeFormat is what a screen's text does not tell.
const shapeFormat = "#{pane_id} #{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag} #{alternate_on} " +
	"#{keypad_cursor_flag} #{keypad_flag} #{scroll_region_upper} #{scroll_region_lower}"

// sync asks for the whole screen.
func (w *watch) sync() error {
	if len(w.waits) > 0 {
		w.again = true
		return nil
	}
	w.synced, w.waits = false, []string{"shape", "screen"}
	_, err := io.WriteString(w.in, quote([]string{"display-message", "-p", "-t", w.target, shapeFormat})+"\n"+
		quote([]string{"capture-pane", "-p", "-e", "-N", "-S", strconv.Itoa(-History), "-t", w.target})+"\n")
	return err
}

func (w *watch) follow(lines *bufio.Reader) error {
	var block [][]byte
	inside, mark := false, ""
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil // the client ended: so did the session, or whoever watched
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		word, rest, _ := strings.Cut(string(line), " ")
		switch {
		case inside && (word == "%end" || word == "%error") && rest == mark:
			inside = false
			if err := w.answered(block, word == "%error"); err != nil {
				return err
			}
			block = nil
		case inside:
			block = append(block, bytes.Clone(line))
		case word == "%begin":
			inside, mark = true, rest
		case word == "%output":
			pane, text, _ := strings.Cut(rest, " ")
			if w.synced && pane == w.pane {
				if err := w.send(Frame{Data: unescape(text)}); err != nil {
					return err
				}
			}
		case word == "%layout-change", word == "%window-pane-changed", word == "%session-window-changed":
			if err := w.sync(); err != nil {
				return nil
			}
		case word == "%exit":
			return nil
		}
	}
}

// answered takes the answer to the oldest command.
func (w *watch) answered(block [][]byte, failed bool) error {
	if len(w.waits) == 0 {
		return nil
	}
	what := w.waits[0]
	w.waits = w.waits[1:]
	switch {
	case failed:
		return fault.New(fault.NotFound, "tmux.watch", "the terminal is gone")
	case what == "shape" && len(block) == 1:
		if err := w.shape(string(block[0])); err != nil {
			return err
		}
	case what == "screen":
		data := bytes.Join(block, []byte("\r\n"))
		w.frame.Data, w.synced = append(append(w.frame.Data, data...), w.tail...), true
		if err := w.send(w.frame); err != nil {
			return err
		}
	}
	if len(w.waits) > 0 || what != "attach" && !w.again {
		return nil
	}
	w.again = false
	return w.sync()
}

// shape reads shapeFormat into the escape sequences that restore it.
func (w *watch) shape(text string) error {
	var x, y, cursor, alternate, arrows, keypad, top, bottom int
	f := Frame{Screen: true}
	if _, err := fmt.Sscan(text, &w.pane, &f.Cols, &f.Rows, &x, &y, &cursor, &alternate, &arrows, &keypad, &top, &bottom); err != nil {
		return fault.New(fault.Unavailable, "tmux.watch", "tmux said %.200q about the terminal", text)
	}
	if alternate == 1 {
		f.Data = append(f.Data, "\x1b[?1049h\x1b[H"...)
	}
	tail := "\x1b[0m\x1b[?2004h" // agents' programs all take pastes as such
	if arrows == 1 {
		tail += "\x1b[?1h"
	}
	if keypad == 1 {
		tail += "\x1b="
	}
	if top != 0 || bottom != f.Rows-1 {
		tail += fmt.Sprintf("\x1b[%d;%dr", top+1, bottom+1)
	}
	tail += fmt.Sprintf("\x1b[%d;%dH", y+1, x+1)
	if cursor == 0 {
		tail += "\x1b[?25l"
	}
	w.frame, w.tail = f, []byte(tail)
	return nil
}

// unescape reads what a control client writes of a pane's output: bytes below
// a space and the backslash as \ooo.
func unescape(s string) []byte {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				out = append(out, byte(n))
				i += 3
				continue
			}
		}
		out = append(out, s[i])
	}
	return out
}

// Bytes gives the program of a session raw bytes, as keys would.
func (s *Server) Bytes(ctx context.Context, name string, data []byte) error {
	const most = 512 // of one command line
	for len(data) > 0 {
		n := min(len(data), most)
		args := []string{"send-keys", "-t", s.target(name), "-H"}
		for _, b := range data[:n] {
			args = append(args, strconv.FormatUint(uint64(b), 16))
		}
		if _, err := s.Run(ctx, args...); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}
