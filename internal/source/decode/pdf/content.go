package pdf

import "math"

// matrix places things: x' = a·x + c·y + e, y' = b·x + d·y + f.
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// of is the matrix that does m first and then n.
func (m matrix) of(n matrix) matrix {
	return matrix{m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3], m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5]}
}

// mark is a glyph where it was drawn.
type mark struct {
	x, y, width, size float64
	text              string
	unseen            bool // drawn without ink, as below the picture of a scanned page
}

// drawing is what a page draws, as far as its operators were followed.
type drawing struct {
	f        *file
	marks    []mark
	pictures int
	unknown  bool
	forms    int
}

// state is what q saves and Q brings back.
type state struct {
	ctm                                  matrix
	font                                 *font
	size, space, wordSpace, scale, raise float64
	leading                              float64
	mode                                 int
}

// run follows the operators of one stream.
func (d *drawing) run(data []byte, resources dict, ctm matrix, depth int) error {
	const deepest = 12
	if depth > deepest {
		return nil
	}
	p := &pen{drawing: d, resources: resources, now: state{ctm: ctm, scale: 1}, depth: depth}
	l := lexer{data: data}
	var args []any
	for {
		v, err := l.next(0)
		if err != nil {
			return nil // the end, or what nobody can read: viewers stop here, too
		}
		w, ok := v.(word)
		if !ok {
			if args = append(args, v); len(args) > 1<<16 {
				return errDamaged
			}
			continue
		}
		if w == "BI" {
			inline(&l)
			d.pictures++
		} else if err := p.do(w, args); err != nil {
			return err
		}
		args = args[:0]
		if err := d.f.ctx.Err(); err != nil {
			return err
		}
	}
}

// inline skips a picture that stands between the operators.
func inline(l *lexer) {
	for l.at+2 < len(l.data) {
		if l.at++; blank(l.data[l.at-1]) && l.data[l.at] == 'E' && l.data[l.at+1] == 'I' && (l.at+2 == len(l.data) || blank(l.data[l.at+2])) {
			l.at += 2
			return
		}
	}
	l.at = len(l.data)
}

// pen does the operators of one stream.
type pen struct {
	*drawing
	resources  dict
	now        state
	saved      []state
	line, text matrix
	depth      int
}

func num(args []any, i int) float64 {
	if i < len(args) {
		if n, ok := args[i].(float64); ok && !math.IsNaN(n) && math.Abs(n) < 1e9 {
			return n
		}
	}
	return 0
}

func six(args []any) matrix {
	var m matrix
	for i := range m {
		m[i] = num(args, i)
	}
	return m
}

func (p *pen) do(w word, args []any) error {
	switch w {
	case "q":
		if len(p.saved) < 1000 {
			p.saved = append(p.saved, p.now)
		}
	case "Q":
		if n := len(p.saved); n > 0 {
			p.now, p.saved = p.saved[n-1], p.saved[:n-1]
		}
	case "cm":
		p.now.ctm = six(args).of(p.now.ctm)
	case "BT":
		p.line, p.text = identity, identity
	case "Tf":
		if len(args) > 1 {
			n, _ := args[0].(name)
			p.now.font, p.now.size = p.f.font(p.f.dict(p.resources["Font"])[n]), num(args, 1)
		}
	case "Tc":
		p.now.space = num(args, 0)
	case "Tw":
		p.now.wordSpace = num(args, 0)
	case "Tz":
		p.now.scale = num(args, 0) / 100
	case "TL":
		p.now.leading = num(args, 0)
	case "Ts":
		p.now.raise = num(args, 0)
	case "Tr":
		p.now.mode = int(num(args, 0))
	case "Td":
		p.move(num(args, 0), num(args, 1))
	case "TD":
		p.now.leading = -num(args, 1)
		p.move(num(args, 0), num(args, 1))
	case "Tm":
		p.line = six(args)
		p.text = p.line
	case "T*":
		p.move(0, -p.now.leading)
	case "Tj", "TJ", "'", "\"":
		return p.shows(w, args)
	case "Do":
		if len(args) > 0 {
			n, _ := args[0].(name)
			return p.paint(p.f.dict(p.resources["XObject"])[n])
		}
	}
	return nil
}

func (p *pen) move(x, y float64) {
	p.line = matrix{1, 0, 0, 1, x, y}.of(p.line)
	p.text = p.line
}

func (p *pen) shows(w word, args []any) error {
	if w == "\"" {
		p.now.wordSpace, p.now.space = num(args, 0), num(args, 1)
	}
	if w == "'" || w == "\"" {
		p.move(0, -p.now.leading)
	}
	if len(args) == 0 {
		return nil
	}
	list, ok := args[len(args)-1].(array)
	if !ok {
		list = array{args[len(args)-1]}
	}
	for _, v := range list {
		switch v := v.(type) {
		case float64:
			p.text = matrix{1, 0, 0, 1, -num([]any{v}, 0) / 1000 * p.now.size * p.now.scale, 0}.of(p.text)
		case text:
			if err := p.show(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// show draws a string, and moves the pen along.
func (p *pen) show(s text) error {
	if p.now.font == nil {
		return nil
	}
	all := p.now.font.glyphs(s)
	if p.f.glyphs += len(all); p.f.glyphs > p.f.limits.Glyphs {
		return ErrTooLarge
	}
	for _, g := range all {
		at := matrix{p.now.size * p.now.scale, 0, 0, p.now.size, 0, p.now.raise}.of(p.text).of(p.now.ctm)
		moved := g.width/1000*p.now.size + p.now.space
		if g.code == 32 && g.size == 1 {
			moved += p.now.wordSpace
		}
		moved *= p.now.scale
		size := math.Hypot(at[2], at[3])
		across := math.Hypot(at[0], at[1])
		if upright := math.Abs(at[1]) <= math.Abs(at[0]); upright && size > 0 && g.text != "" {
			p.marks = append(p.marks, mark{at[4], at[5], g.width / 1000 * across, size, g.text, p.now.mode == 3 || p.now.mode == 7})
		}
		p.unknown = p.unknown || g.text == ""
		p.text = matrix{1, 0, 0, 1, moved, 0}.of(p.text)
	}
	return nil
}

// paint follows a form, and counts a picture.
func (p *pen) paint(v any) error {
	s, ok := p.f.at(v).(stream)
	if !ok {
		return nil
	}
	switch p.f.name(s.dict["Subtype"]) {
	case "Image":
		p.pictures++
	case "Form":
		const most = 10_000
		if p.forms++; p.forms > most {
			return ErrTooLarge
		}
		data, err := p.f.unpack(s)
		if err != nil {
			return err
		}
		resources := p.f.dict(s.dict["Resources"])
		if resources == nil {
			resources = p.resources
		}
		ctm := p.now.ctm
		if m := p.f.array(s.dict["Matrix"]); len(m) == 6 {
			for i := range m {
				m[i] = p.f.at(m[i])
			}
			ctm = six(m).of(ctm)
		}
		return p.run(data, resources, ctm, p.depth+1)
	}
	return nil
}
