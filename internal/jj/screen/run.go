package screen

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"

	"tandem/internal/repo/text"
)

// ErrCancelled says that whoever was asked gave up.
var ErrCancelled = errors.New("the selection was given up")

// Run shows the picker on the terminal out until it is confirmed or given up.
func (p *Picker) Run(out *os.File) error {
	if len(p.Files) == 0 {
		return nil
	}
	t, err := open(out)
	if err != nil {
		return err
	}
	defer t.close()
	for !p.ended {
		w, h := t.size()
		t.draw(p.View(w, h))
		key, ok := <-t.keys
		if !ok {
			return ErrCancelled
		}
		p.Key(key, h)
	}
	if p.cancel {
		return ErrCancelled
	}
	return nil
}

// clip is as much of text as fits.
func clip(s string, width int) string {
	if text.Width(s) <= width {
		return s
	}
	w := 0
	for i, r := range s {
		if w += text.Width(string(r)); w > width {
			return s[:i]
		}
	}
	return s
}

func pad(s string, width int) string {
	s = clip(s, width)
	return s + strings.Repeat(" ", max(0, width-text.Width(s)))
}

func fit(lines []string, width, height int) []string {
	for i := range lines {
		lines[i] = clip(lines[i], width)
	}
	return lines[:min(len(lines), height)]
}

// readLines sends the lines of a text until it ends or nobody wants more.
func readLines(in io.Reader, lines chan<- string, stop <-chan struct{}) {
	defer close(lines)
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadString('\n')
		if line != "" {
			select {
			case lines <- strings.TrimSuffix(line, "\n"):
			case <-stop:
				return
			}
		}
		if err != nil {
			return
		}
	}
}
