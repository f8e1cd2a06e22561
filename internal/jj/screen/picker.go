package screen

import (
	"fmt"
	"strings"
)

// File is one file of which parts can be picked.
type File struct {
	Title  string
	Groups []Group
	folded bool
}

// Group is a stretch of a file. One with Pick set is chosen from, line by line
// or as a whole; any other is there for orientation, and always kept.
type Group struct {
	Title string
	Pick  bool
	Lines []Line
	// On says that a group without lines was picked.
	On bool
	// Choice numbers groups of which at least one has to be picked, from 1.
	Choice int
}

// Line is a line of a group.
type Line struct {
	Mark byte // ' ', '-' or '+'
	Text string
	On   bool
}

// picked counts what is chosen of a group, and what could be.
func (g *Group) picked() (on, all int) {
	if !g.Pick {
		return 0, 0
	}
	if len(g.Lines) == 0 {
		if g.On {
			on = 1
		}
		return on, 1
	}
	for _, l := range g.Lines {
		if l.On {
			on++
		}
	}
	return on, len(g.Lines)
}

func (g *Group) set(on bool) {
	if g.Pick {
		g.On = on && len(g.Lines) == 0
		for i := range g.Lines {
			g.Lines[i].On = on
		}
	}
}

// Picked counts what is chosen of a file, and what could be.
func (f *File) Picked() (on, all int) {
	for i := range f.Groups {
		a, b := f.Groups[i].picked()
		on, all = on+a, all+b
	}
	return on, all
}

// Picker lets somebody choose parts of files.
type Picker struct {
	Title string
	Files []File

	at, top int // row of the cursor, and the first row shown
	help    bool
	note    string
	ended   bool
	cancel  bool
}

// row is one line of the list: a file, a group or a line; -1 is none.
type row struct{ file, group, line int }

// rows lists what can be seen.
func (p *Picker) rows() (out []row) {
	for i := range p.Files {
		f := &p.Files[i]
		out = append(out, row{i, -1, -1})
		if f.folded {
			continue
		}
		for j := range f.Groups {
			g := &f.Groups[j]
			if g.Pick {
				out = append(out, row{i, j, -1})
			}
			for k := range g.Lines {
				if g.Pick || k < 2 || k >= len(g.Lines)-2 {
					out = append(out, row{i, j, k})
				}
			}
		}
	}
	return out
}

// still says whether the cursor has no business on a row.
func (p *Picker) still(r row) bool { return r.line >= 0 && !p.Files[r.file].Groups[r.group].Pick }

// Key does what a key stands for, on a screen of that height.
func (p *Picker) Key(key string, height int) {
	rows := p.rows()
	p.note = ""
	if p.help {
		p.help = false
		return
	}
	step := func(n int) {
		for i := p.at + n; i >= 0 && i < len(rows); i += n {
			if !p.still(rows[i]) {
				p.at = i
				return
			}
		}
	}
	r := rows[min(p.at, len(rows)-1)]
	switch key {
	case "down", "j":
		step(1)
	case "up", "k":
		step(-1)
	case "pagedown", "ctrl-d":
		for range height / 2 {
			step(1)
		}
	case "pageup", "ctrl-u":
		for range height / 2 {
			step(-1)
		}
	case "home", "g":
		p.at = 0
	case "end", "G":
		p.at = len(rows)
		step(-1)
	case "space":
		p.toggle(r)
	case "enter":
		p.toggle(r)
		step(1)
	case "a":
		on, all := 0, 0
		for i := range p.Files {
			x, y := p.Files[i].Picked()
			on, all = on+x, all+y
		}
		for i := range p.Files {
			p.setFile(i, on < all)
		}
	case "f", "left", "h":
		f := &p.Files[r.file]
		f.folded = key != "f" || !f.folded
		p.at = 0
		for i, x := range p.rows() {
			if x == (row{r.file, -1, -1}) {
				p.at = i
			}
		}
	case "right", "l":
		p.Files[r.file].folded = false
	case "?":
		p.help = true
	case "c":
		if p.note = p.open(); p.note == "" {
			p.ended = true
		}
	case "q", "escape", "ctrl-c":
		p.ended, p.cancel = true, true
	}
}

func (p *Picker) setFile(i int, on bool) {
	for j := range p.Files[i].Groups {
		p.Files[i].Groups[j].set(on)
	}
}

func (p *Picker) toggle(r row) {
	f := &p.Files[r.file]
	switch {
	case r.group < 0:
		on, all := f.Picked()
		p.setFile(r.file, on < all)
	case r.line < 0:
		on, all := f.Groups[r.group].picked()
		f.Groups[r.group].set(on < all)
	default:
		l := &f.Groups[r.group].Lines[r.line]
		l.On = !l.On
	}
}

// open names a choice that was not made.
func (p *Picker) open() string {
	for i := range p.Files {
		made := map[int]bool{}
		for j := range p.Files[i].Groups {
			g := &p.Files[i].Groups[j]
			if on, _ := g.picked(); g.Choice > 0 {
				made[g.Choice] = made[g.Choice] || on > 0
			}
		}
		for n := 1; n <= len(made); n++ {
			if !made[n] {
				return fmt.Sprintf("%s: choose something for conflict %d first", p.Files[i].Title, n)
			}
		}
	}
	return ""
}

// View is the screen as lines.
func (p *Picker) View(width, height int) []string {
	if p.help {
		return fit([]string{
			p.Title, "", "  up, down, j, k     move", "  space              pick what is under the cursor, or leave it",
			"  enter              the same, and move on",
			"  a                  all or nothing", "  f, left, right     fold a file, unfold it", "  g, G, page keys    further",
			"  c                  confirm", "  q, escape          give up",
			"", "any key goes back",
		}, width, height)
	}
	rows := p.rows()
	p.at = max(0, min(p.at, len(rows)-1))
	space := height - 2
	if p.at < p.top {
		p.top = p.at
	}
	if p.at >= p.top+space {
		p.top = p.at - space + 1
	}
	out := []string{"\x1b[7m" + pad(p.Title, width)}
	for i := p.top; i < len(rows) && i < p.top+space; i++ {
		text, style := p.show(rows[i])
		if i == p.at {
			style = "\x1b[7m"
			text = pad(text, width)
		}
		out = append(out, style+clip(text, width))
	}
	for len(out) < height-1 {
		out = append(out, "")
	}
	foot := "space pick   a all   f fold   c confirm   q give up   ? help"
	if p.note != "" {
		foot = p.note
	}
	return append(out, "\x1b[2m"+clip(foot, width))
}

func (p *Picker) show(r row) (text, style string) {
	f := &p.Files[r.file]
	if r.group < 0 {
		fold := ""
		if f.folded {
			fold = " …"
		}
		return box(f.Picked()) + " " + printable(f.Title) + fold, "\x1b[1m"
	}
	g := &f.Groups[r.group]
	if r.line < 0 {
		return "  " + box(g.picked()) + " " + printable(g.Title), "\x1b[36m"
	}
	l := g.Lines[r.line]
	if !g.Pick {
		if r.line == 1 && len(g.Lines) > 4 {
			return fmt.Sprintf("          … %d lines", len(g.Lines)-3), "\x1b[2m"
		}
		return "          " + printable(l.Text), "\x1b[2m"
	}
	style = map[byte]string{'-': "\x1b[31m", '+': "\x1b[32m"}[l.Mark]
	on := 0
	if l.On {
		on = 1
	}
	return "    " + box(on, 1) + " " + string(l.Mark) + " " + printable(l.Text), style
}

func box(on, all int) string {
	switch {
	case all == 0:
		return "   "
	case on == 0:
		return "[ ]"
	case on == all:
		return "[x]"
	}
	return "[~]"
}

// printable is text without what would disturb the screen.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 127 {
			return '·'
		}
		return r
	}, strings.ReplaceAll(strings.TrimRight(s, "\r\n"), "\t", "    "))
}
