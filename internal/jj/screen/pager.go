package screen

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"tandem/internal/repo/text"
)

// Pager shows text page by page. Lines keep their colours and are wrapped.
type Pager struct {
	lines  []string // as they came, colours included
	ended  bool     // nothing more will come
	top    int      // first line shown
	search string
	typing bool // a search is being typed
	typed  string
	note   string
	quit   bool
}

// Add takes in more text; partial lines are kept apart by the caller.
func (p *Pager) Add(line string) { p.lines = append(p.lines, line) }

var escape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\x1b(\\[[0-9;?]*[a-zA-Z]|\\]8;[^\x1b\x07]*(\x1b\\\\|\x07))")
})

// wrap cuts a coloured line into pieces that fit.
func wrap(line string, width int) (out []string) {
	line = strings.ReplaceAll(line, "\t", "        ")
	w, start, style := 0, 0, ""
	for i := 0; i < len(line); {
		if m := escape().FindStringIndex(line[i:]); m != nil && m[0] == 0 {
			if seq := line[i : i+m[1]]; strings.HasSuffix(seq, "m") {
				if style += seq; seq == "\x1b[0m" || seq == "\x1b[m" {
					style = ""
				}
			}
			i += m[1]
			continue
		}
		r, size := utf8.DecodeRuneInString(line[i:])
		n := text.Width(string(r))
		if w+n > width {
			out = append(out, line[start:i])
			line = line[:i] + style + line[i:]
			start, w = i, 0
			i += len(style)
		}
		w += n
		i += size
	}
	return append(out, line[start:])
}

// rowsFrom lists screen rows from a line on, up to a number of them.
func (p *Pager) rowsFrom(top, width, count int) (out []string) {
	for i := top; i < len(p.lines) && len(out) < count; i++ {
		out = append(out, wrap(p.lines[i], width)...)
	}
	return out[:min(len(out), count)]
}

// Fits says whether everything is on one screen.
func (p *Pager) Fits(width, height int) bool {
	return len(p.lines) < height && len(p.rowsFrom(0, width, height)) < height
}

// last is the first line from which on the end is seen.
func (p *Pager) last(width, height int) int {
	n, i := 0, len(p.lines)
	for i > 0 {
		if n += len(wrap(p.lines[i-1], width)); n > height-1 {
			break
		}
		i--
	}
	return min(i, max(0, len(p.lines)-1))
}

// Key does what a key stands for.
func (p *Pager) Key(key string, width, height int) {
	p.note = ""
	if p.typing {
		p.typeKey(key)
		return
	}
	move := func(n int) { p.top = max(0, min(p.top+n, p.last(width, height))) }
	switch key {
	case "q", "Q", "ctrl-c", "escape":
		p.quit = true
	case "down", "j", "enter":
		move(1)
	case "up", "k":
		move(-1)
	case "pagedown", "space", "f":
		move(height - 2)
	case "pageup", "b", "backspace":
		move(2 - height)
	case "ctrl-d", "d":
		move(height / 2)
	case "ctrl-u", "u":
		move(-height / 2)
	case "home", "g", "<":
		p.top = 0
	case "end", "G", ">":
		p.top = p.last(width, height)
	case "/":
		p.typing, p.typed = true, ""
	case "n":
		p.find(1)
	case "N":
		p.find(-1)
	}
}

// typeKey takes a key of a search.
func (p *Pager) typeKey(key string) {
	switch key {
	case "enter":
		p.typing, p.search = false, p.typed
		p.find(1)
	case "escape", "ctrl-c":
		p.typing = false
	case "backspace":
		if r := []rune(p.typed); len(r) > 0 {
			p.typed = string(r[:len(r)-1])
		}
	case "space":
		p.typed += " "
	default:
		if len([]rune(key)) == 1 {
			p.typed += key
		}
	}
}

// find goes to the next line, or the one before, that has the text.
func (p *Pager) find(step int) {
	if p.search == "" {
		return
	}
	for i := p.top + step; i >= 0 && i < len(p.lines); i += step {
		if strings.Contains(escape().ReplaceAllString(p.lines[i], ""), p.search) {
			p.top = i
			return
		}
	}
	p.note = fmt.Sprintf("%q is not there", p.search)
}

// View is the screen as lines.
func (p *Pager) View(width, height int) []string {
	out := p.rowsFrom(p.top, width, height-1)
	for len(out) < height-1 {
		out = append(out, "\x1b[2m~")
	}
	foot := fmt.Sprintf("line %d of %d", p.top+1, len(p.lines))
	switch {
	case p.typing:
		foot = "/" + p.typed
	case p.note != "":
		foot = p.note
	case p.top >= p.last(width, height) && p.ended:
		foot += " (end)"
	case !p.ended:
		foot += " …"
	}
	return append(out, "\x1b[7m"+pad(foot+"   q quit   / search   space further", width))
}

// Mode is when a pager takes the screen over.
type Mode int

const (
	// OnePage writes what fits on one page and shows the rest page by page.
	OnePage Mode = iota
	// Always takes the screen over at once.
	Always
)

// Page shows what is read, on the terminal out, and returns when that was seen or
// given up. The rest of the text is left unread then.
func Page(in io.Reader, out *os.File, mode Mode) error {
	p := &Pager{}
	lines := make(chan string, 64)
	stop := make(chan struct{})
	defer close(stop)
	go readLines(in, lines, stop)
	probe := &terminal{out: out}
	w, h := probe.size()
	for mode == OnePage && !p.ended && p.Fits(w, h) {
		line, ok := <-lines
		if !ok {
			p.ended = true
			break
		}
		p.Add(line)
	}
	dump := func() error {
		for _, l := range p.lines {
			if _, err := io.WriteString(out, l+"\n"); err != nil {
				return err
			}
		}
		return nil
	}
	if p.ended && p.Fits(w, h) {
		return dump()
	}
	t, err := open(out)
	if err != nil {
		for l := range lines {
			p.Add(l)
		}
		return dump()
	}
	defer t.close()
	for !p.quit {
		w, h = t.size()
		t.draw(p.View(w, h))
		select {
		case line, ok := <-lines:
			if !ok {
				p.ended, lines = true, nil
				continue
			}
			p.Add(line)
			for range len(lines) { // what is there already needs no drawing of its own
				if line, ok := <-lines; ok {
					p.Add(line)
				}
			}
		case key, ok := <-t.keys:
			if !ok {
				return nil
			}
			p.Key(key, w, h)
		}
	}
	return nil
}
