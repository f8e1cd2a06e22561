package text

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Style is what a colour rule asks for. Unset fields leave what weaker rules
// asked for.
type Style struct {
	FG, BG                                         string // "" unset, else the escape's parameters
	Bold, Dim, Italic, Underline, Crossed, Reverse Switch
}

// Switch is a yes or no that may be unset.
type Switch uint8

// The values of a Switch.
const (
	Unset Switch = iota
	Off
	On
)

func (s *Style) merge(o Style) {
	if o.FG != "" {
		s.FG = o.FG
	}
	if o.BG != "" {
		s.BG = o.BG
	}
	for _, p := range [][2]*Switch{{&s.Bold, &o.Bold}, {&s.Dim, &o.Dim}, {&s.Italic, &o.Italic}, {&s.Underline, &o.Underline},
		{&s.Crossed, &o.Crossed}, {&s.Reverse, &o.Reverse}} {
		if *p[1] != Unset {
			*p[0] = *p[1]
		}
	}
}

// Rule gives a style to text under all its labels, in order.
type Rule struct {
	Labels []string
	Style  Style
}

// Colours turns labelled text into output. A nil *Colours writes plain text.
type Colours struct {
	rules []Rule
	debug bool
	cache map[string]Style
}

// NewColours makes a palette of rules; debug also prints the labels.
func NewColours(rules []Rule, debug bool) *Colours {
	return &Colours{rules: rules, debug: debug, cache: map[string]Style{}}
}

// ParseColour reads a colour name, ansi-color-N or #rrggbb.
func ParseColour(name string) (string, error) {
	base, bright := name, 0
	if rest, ok := strings.CutPrefix(name, "bright "); ok {
		base, bright = rest, 8
	}
	names := []string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}
	if i := slices.Index(names, base); i >= 0 {
		return "5;" + strconv.Itoa(i+bright), nil
	}
	if name == "default" {
		return "default", nil
	}
	if n, ok := strings.CutPrefix(name, "ansi-color-"); ok && (n == "0" || !strings.HasPrefix(n, "0")) {
		if v, err := strconv.ParseUint(n, 10, 8); err == nil {
			return "5;" + strconv.Itoa(int(v)), nil
		}
	}
	if len(name) == 7 && name[0] == '#' {
		if v, err := strconv.ParseUint(name[1:], 16, 32); err == nil {
			return fmt.Sprintf("2;%d;%d;%d", v>>16, v>>8&255, v&255), nil
		}
	}
	return "", fmt.Errorf("Invalid color: %s", name)
}

// match returns the places in the stack that a rule's labels take, last first.
func match(rule, stack []string) []int {
	out := make([]int, 0, len(rule))
	i := 0
	for _, want := range rule {
		for i < len(stack) && stack[i] != want {
			i++
		}
		if i == len(stack) {
			return nil
		}
		out = append(out, i)
		i++
	}
	slices.Reverse(out)
	return out
}

func (c *Colours) style(stack []string) Style {
	key := strings.Join(stack, " ")
	if s, ok := c.cache[key]; ok {
		return s
	}
	type hit struct {
		at    []int
		style Style
	}
	var hits []hit
	for _, r := range c.rules {
		if at := match(r.Labels, stack); at != nil {
			hits = append(hits, hit{at, r.Style})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return slices.Compare(a.at, b.at) })
	var s Style
	for _, h := range hits {
		s.merge(h.style)
	}
	c.cache[key] = s
	return s
}

type painter struct {
	c     *Colours
	out   bytes.Buffer
	stack []string
	now   Style
	dbg   string
}

// WriteTo writes t to w, coloured by c.
func (c *Colours) WriteTo(w io.Writer, t *Text, base ...string) error {
	if c == nil {
		if len(t.ops) == 0 {
			_, err := w.Write(t.data)
			return err
		}
		var plain bytes.Buffer
		from := 0
		for _, m := range t.ops {
			if m.raw {
				plain.Write(t.data[from:m.pos])
				plain.WriteString(m.label)
				from = m.pos
			}
		}
		plain.Write(t.data[from:])
		_, err := w.Write(plain.Bytes())
		return err
	}
	p := &painter{c: c, stack: append([]string(nil), base...)}
	from := 0
	for _, m := range t.ops {
		p.text(t.data[from:m.pos])
		from = m.pos
		switch {
		case m.raw:
			p.set(p.c.style(p.stack))
			p.out.WriteString(m.label)
		case m.label != "":
			p.stack = append(p.stack, m.label)
		case len(p.stack) > 0:
			p.stack = p.stack[:len(p.stack)-1]
		}
	}
	p.text(t.data[from:])
	p.end()
	_, err := w.Write(p.out.Bytes())
	return err
}

// text writes bytes line by line. Colours end before a line break so that
// pagers and terminals do not carry them on.
func (p *painter) text(b []byte) {
	for len(b) > 0 {
		line, rest, nl := bytes.Cut(b, []byte{'\n'})
		if len(line) > 0 || nl {
			p.set(p.c.style(p.stack))
			p.out.Write(bytes.ReplaceAll(line, []byte{0x1b}, []byte("␛")))
		}
		if nl {
			p.end()
			p.out.WriteByte('\n')
		}
		b = rest
	}
}

func (p *painter) end() {
	saved := p.stack
	p.stack = nil
	p.set(p.c.style(nil))
	p.stack = saved
}

func (p *painter) esc(code string) { p.out.WriteString("\x1b[" + code + "m") }

func (p *painter) set(s Style) {
	var dbg string
	if p.c.debug {
		dbg = strings.Join(p.stack, " ")
		if dbg != p.dbg && p.dbg != "" {
			p.out.WriteString(">>")
		}
	}
	if s != p.now {
		p.change(s)
	}
	if p.c.debug && dbg != p.dbg {
		if dbg != "" {
			p.out.WriteString("<<" + dbg + "::")
		}
		p.dbg = dbg
	}
}

func (p *painter) change(s Style) {
	if (s.Bold != p.now.Bold && s.Bold != On) || (s.Dim != p.now.Dim && s.Dim != On) {
		p.esc("0")
		p.now = Style{}
	}
	if s.Bold != p.now.Bold && s.Bold == On {
		p.esc("1")
	}
	if s.Dim != p.now.Dim && s.Dim == On {
		p.esc("2")
	}
	for _, a := range []struct {
		want, have Switch
		on, off    string
	}{{s.Italic, p.now.Italic, "3", "23"}, {s.Underline, p.now.Underline, "4", "24"}, {s.Crossed, p.now.Crossed, "9", "29"},
		{s.Reverse, p.now.Reverse, "7", "27"}} {
		if a.want != a.have {
			if a.want == On {
				p.esc(a.on)
			} else {
				p.esc(a.off)
			}
		}
	}
	if s.FG != p.now.FG {
		p.esc(colourCode("38;", "39", s.FG))
	}
	if s.BG != p.now.BG {
		p.esc(colourCode("48;", "49", s.BG))
	}
	p.now = s
}

func colourCode(prefix, reset, c string) string {
	if c == "" || c == "default" {
		return reset
	}
	return prefix + c
}
