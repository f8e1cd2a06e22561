package pdf

import (
	"strings"
	"unicode/utf16"
)

// font turns the bytes of a string into glyphs: what each means, and how far it moves the pen, in thousandths of the size.
type font struct {
	wide    bool // two bytes make a code
	meaning map[int]string
	widths  map[int]float64
	usual   float64
	unknown bool // some code has no meaning that anybody wrote down
}

type glyph struct {
	code  int
	size  int // bytes
	text  string
	width float64
}

// font reads one, once.
func (f *file) font(v any) *font {
	r, byRef := v.(ref)
	if have := f.fonts[r]; byRef && have != nil {
		return have
	}
	d := f.dict(v)
	out := &font{meaning: map[int]string{}, widths: map[int]float64{}, usual: 500}
	if f.name(d["Subtype"]) == "Type0" {
		f.composite(out, d)
	} else {
		f.simple(out, d)
	}
	if s, ok := f.at(d["ToUnicode"]).(stream); ok {
		if data, err := f.unpack(s); err == nil {
			readMap(data, out.meaning)
		}
	}
	if byRef {
		f.fonts[r] = out
	}
	return out
}

func (f *file) composite(out *font, d dict) {
	out.wide, out.usual = true, 1000
	below := f.array(d["DescendantFonts"])
	if len(below) == 0 {
		return
	}
	cid := f.dict(below[0])
	if w, ok := f.at(cid["DW"]).(float64); ok {
		out.usual = w
	}
	w := f.array(cid["W"])
	for i := 0; i+1 < len(w); {
		first := int(f.number(w[i]))
		if list, ok := f.at(w[i+1]).(array); ok {
			for j, one := range list {
				out.widths[first+j] = f.number(one)
			}
			i += 2
			continue
		}
		if i+2 >= len(w) {
			return
		}
		for code := first; code <= min(int(f.number(w[i+1])), first+65535); code++ {
			out.widths[code] = f.number(w[i+2])
		}
		i += 3
	}
}

func (f *file) simple(out *font, d dict) {
	base, table := f.name(d["BaseFont"]), standard
	switch e := f.at(d["Encoding"]).(type) {
	case name:
		table = encodings[e]
	case dict:
		if t, ok := encodings[f.name(e["BaseEncoding"])]; ok {
			table = t
		}
		defer f.differences(out, e)
	}
	if table == nil {
		table = standard
	}
	for code, r := range table {
		if r != 0 {
			out.meaning[code] = string(r)
		}
	}
	given := f.array(d["Widths"])
	first := int(f.number(d["FirstChar"]))
	for i, w := range given {
		out.widths[first+i] = f.number(w)
	}
	if len(given) == 0 {
		builtIn(out, string(base))
	}
	if w := f.number(f.dict(d["FontDescriptor"])["MissingWidth"]); w > 0 {
		out.usual = w
	}
	if f.name(d["Subtype"]) == "Type3" { // its own units
		if m := f.array(d["FontMatrix"]); len(m) == 6 && f.number(m[0]) != 0 {
			for code := range out.widths {
				out.widths[code] *= f.number(m[0]) * 1000
			}
		}
	}
}

// differences are codes that mean other glyphs than usual, by name.
func (f *file) differences(out *font, e dict) {
	code := 0
	for _, v := range f.array(e["Differences"]) {
		switch v := f.at(v).(type) {
		case float64:
			code = int(v)
		case name:
			if s := named(string(v)); s != "" {
				out.meaning[code] = s
			} else {
				delete(out.meaning, code)
			}
			code++
		}
	}
}

// glyphs of a string.
func (f *font) glyphs(s text) []glyph {
	step := 1
	if f.wide {
		step = 2
	}
	out := make([]glyph, 0, len(s)/step)
	for i := 0; i+step <= len(s); i += step {
		code := int(s[i])
		if f.wide {
			code = code<<8 | int(s[i+1])
		}
		g := glyph{code: code, size: step, width: f.usual}
		if w, ok := f.widths[code]; ok {
			g.width = w
		}
		if g.text = f.meaning[code]; g.text == "" {
			f.unknown = true
		}
		out = append(out, g)
	}
	return out
}

// readMap reads a ToUnicode map: which text each code stands for.
func readMap(data []byte, into map[int]string) {
	const most = 1 << 17
	l := lexer{data: data}
	var last []any
	for len(into) < most {
		v, err := l.next(0)
		if err != nil {
			return
		}
		w, ok := v.(word)
		if !ok {
			if last = append(last, v); len(last) > 4096 {
				return
			}
			continue
		}
		switch w {
		case "endbfchar":
			for i := 0; i+1 < len(last); i += 2 {
				if code, ok := last[i].(text); ok {
					into[codeOf(code)] = wideText(last[i+1])
				}
			}
		case "endbfrange":
			for i := 0; i+2 < len(last); i += 3 {
				mapRange(into, last[i], last[i+1], last[i+2])
			}
		}
		last = last[:0]
	}
}

func mapRange(into map[int]string, from, to, means any) {
	a, ok1 := from.(text)
	b, ok2 := to.(text)
	if !ok1 || !ok2 {
		return
	}
	first := codeOf(a)
	for code := first; code <= min(codeOf(b), first+65535); code++ {
		switch m := means.(type) {
		case array:
			if code-first < len(m) {
				into[code] = wideText(m[code-first])
			}
		case text:
			rs := []rune(wideText(m))
			if len(rs) == 0 {
				return
			}
			rs[len(rs)-1] += rune(code - first)
			into[code] = string(rs)
		}
	}
}

func codeOf(t text) int {
	n := 0
	for _, c := range t[:min(len(t), 4)] {
		n = n<<8 | int(c)
	}
	return n
}

// wideText is UTF-16, as maps and titles write it.
func wideText(v any) string {
	t, _ := v.(text)
	units := make([]uint16, len(t)/2)
	for i := range units {
		units[i] = uint16(t[2*i])<<8 | uint16(t[2*i+1])
	}
	return strings.Trim(string(utf16.Decode(units)), "\x00")
}
