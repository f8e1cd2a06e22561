package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// readJSON writes one line for each value, with the way to it: "servers[0].name: a". A file may hold several values, one after the other.
func readJSON(w *writer, data []byte) error {
	s, err := plain(data)
	if err != nil {
		return err
	}
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	f := &flat{w: w, d: d}
	for i := 0; ; i++ {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return f.flush()
		}
		if err != nil {
			return refused("it is no JSON: %v", err)
		}
		at := ""
		if i > 0 || d.More() && f.several(s) {
			at = fmt.Sprintf("#%d", i+1)
		}
		if err := f.value(token, at, 0); err != nil {
			return err
		}
	}
}

// flat writes values as lines.
type flat struct {
	w    *writer
	d    *json.Decoder
	text bytes.Buffer
	at   string // where the part began
}

// several tells whether a line of the file is a whole value, as in JSON lines.
func (f *flat) several(s string) bool {
	first, rest, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return json.Valid([]byte(first)) && strings.TrimSpace(rest) != ""
}

func (f *flat) value(token json.Token, at string, depth int) error {
	if err := f.w.deep(depth); err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		return f.inside(t, at, depth)
	case string:
		return f.line(at, t)
	case nil:
		return nil
	default:
		return f.line(at, fmt.Sprint(t))
	}
}

func (f *flat) inside(open json.Delim, at string, depth int) error {
	for i := 0; f.d.More(); i++ {
		token, err := f.d.Token()
		if err != nil {
			return refused("it is no JSON: %v", err)
		}
		way := fmt.Sprintf("%s[%d]", at, i)
		if open == '{' {
			key, _ := token.(string)
			way = strings.TrimPrefix(at+"."+clip(key), ".")
			if token, err = f.d.Token(); err != nil {
				return refused("it is no JSON: %v", err)
			}
		}
		if len(way) > 1000 {
			return refused("a name in it is longer than 1000 bytes")
		}
		if err := f.value(token, way, depth+1); err != nil {
			return err
		}
	}
	if _, err := f.d.Token(); err != nil {
		return refused("it is no JSON: %v", err)
	}
	return nil
}

func (f *flat) line(at, text string) error {
	if f.text.Len() == 0 {
		f.at = at
	}
	fmt.Fprintf(&f.text, "%s: %s\n", at, strings.TrimSpace(text))
	if f.text.Len() < 4<<10 {
		return nil
	}
	return f.flush()
}

func (f *flat) flush() error {
	err := f.w.part(f.at, strings.ReplaceAll(f.text.String(), "\n: ", "\n"))
	f.text.Reset()
	return err
}
