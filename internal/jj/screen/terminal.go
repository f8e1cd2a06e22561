package screen

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// ErrNoTerminal says that there is nobody to look.
var ErrNoTerminal = errors.New("there is no terminal to show it on")

// terminal is a screen that was taken over.
type terminal struct {
	in, out *os.File
	was     *term.State
	keys    chan string
}

// open takes over the terminal that out is, with keys from the terminal that
// controls the process.
func open(out *os.File) (*terminal, error) {
	if out == nil || !term.IsTerminal(int(out.Fd())) {
		return nil, ErrNoTerminal
	}
	in, err := openKeys()
	if err != nil {
		return nil, ErrNoTerminal
	}
	var was *term.State
	err = control(in, func(fd int) (err error) {
		was, err = term.MakeRaw(fd)
		return err
	})
	if err != nil {
		in.Close()
		return nil, ErrNoTerminal
	}
	t := &terminal{in: in, out: out, was: was, keys: make(chan string)}
	io.WriteString(out, "\x1b[?1049h\x1b[?25l")
	go t.read()
	return t, nil
}

// close gives the terminal back.
func (t *terminal) close() {
	io.WriteString(t.out, "\x1b[?25h\x1b[?1049l")
	control(t.in, func(fd int) error { return term.Restore(fd, t.was) })
	t.in.Close()
}

// control lends a file's descriptor. File.Fd would make reading block for good,
// and the reader would go on to take what is typed after the screen is gone.
func control(f *os.File, use func(fd int) error) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := c.Control(func(fd uintptr) { inner = use(int(fd)) }); err != nil {
		return err
	}
	return inner
}

func (t *terminal) size() (width, height int) {
	w, h, err := term.GetSize(int(t.out.Fd()))
	if err != nil || w < 1 || h < 2 {
		return 80, 24
	}
	return w, h
}

// draw shows lines, each no wider than the screen.
func (t *terminal) draw(lines []string) {
	var b strings.Builder
	for i, l := range lines {
		fmt.Fprintf(&b, "\x1b[%d;1H\x1b[0m%s\x1b[0m\x1b[K", i+1, l)
	}
	b.WriteString("\x1b[J")
	io.WriteString(t.out, b.String())
}

// read turns bytes into keys until the terminal is closed.
func (t *terminal) read() {
	defer close(t.keys)
	buf := make([]byte, 256)
	for {
		n, err := t.in.Read(buf)
		if err != nil {
			return
		}
		for _, k := range keysIn(string(buf[:n])) {
			t.keys <- k
		}
	}
}

var sequences = map[string]string{
	"\x1b[A": "up", "\x1b[B": "down", "\x1b[C": "right", "\x1b[D": "left", "\x1bOA": "up", "\x1bOB": "down", "\x1bOC": "right",
	"\x1bOD":  "left",
	"\x1b[5~": "pageup", "\x1b[6~": "pagedown", "\x1b[H": "home", "\x1b[F": "end", "\x1b[1~": "home", "\x1b[4~": "end", "\x1bOH": "home",
	"\x1bOF": "end",
}

// keysIn names the keys that bytes from a terminal stand for: letters as they
// are, others by name.
func keysIn(s string) (out []string) {
	for s != "" {
		found := false
		for seq, name := range sequences {
			if rest, ok := strings.CutPrefix(s, seq); ok {
				out, s, found = append(out, name), rest, true
				break
			}
		}
		if found {
			continue
		}
		r := []rune(s)[0]
		name := string(r)
		switch r {
		case '\x1b':
			name = "escape"
		case '\r', '\n':
			name = "enter"
		case ' ':
			name = "space"
		case 3:
			name = "ctrl-c"
		case 4:
			name = "ctrl-d"
		case 21:
			name = "ctrl-u"
		case 8, 127:
			name = "backspace"
		}
		out, s = append(out, name), s[len(string(r)):]
	}
	return out
}
