package pdf

import (
	"bytes"
	"context"
	"regexp"
	"strconv"
)

// Limits bound what one file may take.
type Limits struct {
	Unpacked int // bytes that its streams unpack to, together
	Pages    int
	Glyphs   int // that are drawn on all its pages together
}

// file is one whose objects were found.
type file struct {
	ctx      context.Context
	limits   Limits
	objects  map[ref]any
	trailer  dict
	unpacked int
	glyphs   int
	fonts    map[ref]*font
}

var begins = regexp.MustCompile(`(\d{1,9})[ \t\r\n]+\d{1,5}[ \t\r\n]+obj\b|\btrailer\b`)

// open finds all objects. Of two with one number the later one counts: that is how a file is changed.
func open(ctx context.Context, data []byte, l Limits) (*file, error) {
	f := &file{ctx: ctx, limits: l, objects: map[ref]any{}, trailer: dict{}, fonts: map[ref]*font{}}
	for at := 0; at < len(data); {
		m := begins.FindSubmatchIndex(data[at:])
		if m == nil {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		lex := &lexer{data, at + m[1]}
		v, err := lex.next(0)
		if m[2] < 0 {
			if d, ok := v.(dict); ok && err == nil {
				f.adopt(d)
			}
			at = max(at+m[1], lex.at)
			continue
		}
		n, _ := strconv.Atoi(string(data[at+m[2] : at+m[3]]))
		if err != nil {
			at += m[1]
			continue
		}
		if d, ok := v.(dict); ok {
			if raw, end, ok := body(data, lex.at, d); ok {
				v, lex.at = stream{d, raw}, end
			}
		}
		f.objects[ref(n)] = v
		at = lex.at
	}
	if err := f.unfold(); err != nil {
		return nil, err
	}
	return f, nil
}

// adopt takes what the end of a file says about the whole. A later one replaces an earlier one.
func (f *file) adopt(d dict) {
	for _, key := range []name{"Root", "Info", "Encrypt"} {
		if v, ok := d[key]; ok {
			f.trailer[key] = v
		}
	}
}

// body is what stands between "stream" and "endstream": as long as it says, if "endstream" follows there.
func body(data []byte, at int, d dict) ([]byte, int, bool) {
	l := lexer{data, at}
	l.skip()
	if !bytes.HasPrefix(data[l.at:], []byte("stream")) {
		return nil, 0, false
	}
	at = l.at + len("stream")
	if bytes.HasPrefix(data[at:], []byte("\r\n")) {
		at += 2
	} else if at < len(data) && (data[at] == '\n' || data[at] == '\r') {
		at++
	}
	if n, ok := d["Length"].(float64); ok && n >= 0 && n <= float64(len(data)-at) {
		end := at + int(n)
		if rest := bytes.TrimLeft(data[end:min(end+16, len(data))], " \r\n\t"); bytes.HasPrefix(rest, []byte("endstream")) {
			return data[at:end], end, true
		}
	}
	n := bytes.Index(data[at:], []byte("endstream"))
	if n < 0 {
		return data[at:], len(data), true
	}
	return bytes.TrimRight(data[at:at+n], "\r\n"), at + n, true
}

// unfold takes the objects out of streams that hold several. One that also stands in the file itself is older there, or the same.
func (f *file) unfold() error {
	for _, v := range f.objects {
		s, ok := v.(stream)
		switch {
		case !ok:
		case s.dict["Type"] == name("XRef"):
			f.adopt(s.dict)
		}
	}
	if f.trailer["Encrypt"] != nil {
		return nil
	}
	for _, v := range snapshot(f.objects) {
		s, ok := v.(stream)
		if !ok || s.dict["Type"] != name("ObjStm") {
			continue
		}
		data, err := f.unpack(s)
		if err != nil {
			return err
		}
		f.several(data, int(f.number(s.dict["N"])), int(f.number(s.dict["First"])))
	}
	return nil
}

func snapshot(m map[ref]any) []any {
	out := make([]any, 0, len(m))
	for _, v := range m {
		out = append(out, v)
	}
	return out
}

func (f *file) several(data []byte, n, first int) {
	head := lexer{data: data}
	for range min(n, len(data)/4) {
		num, err1 := head.next(0)
		off, err2 := head.next(0)
		number, ok1 := num.(float64)
		offset, ok2 := off.(float64)
		if err1 != nil || err2 != nil || !ok1 || !ok2 || offset < 0 || first < 0 || int(offset) > len(data)-first {
			return
		}
		l := lexer{data, first + int(offset)}
		if v, err := l.next(0); err == nil {
			if _, there := f.objects[ref(number)]; !there {
				f.objects[ref(number)] = v
			}
		}
	}
}

// at follows references to the thing itself.
func (f *file) at(v any) any {
	for range 16 {
		r, ok := v.(ref)
		if !ok {
			return v
		}
		v = f.objects[r]
	}
	return nil
}

func (f *file) number(v any) float64 { n, _ := f.at(v).(float64); return n }

func (f *file) array(v any) array { a, _ := f.at(v).(array); return a }

func (f *file) name(v any) name { n, _ := f.at(v).(name); return n }

func (f *file) dict(v any) dict {
	switch d := f.at(v).(type) {
	case dict:
		return d
	case stream:
		return d.dict
	}
	return nil
}
