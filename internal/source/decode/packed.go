package decode

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"strings"
)

// packed is a zip file of named parts, as Office writes them.
type packed struct {
	w     *writer
	files map[string]*zip.File
}

func (w *writer) unpack(data []byte) (*packed, error) {
	const most = 10_000
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, refused("it is damaged: %v", err)
	}
	if len(z.File) > most {
		return nil, refused("it holds more than %d files", most)
	}
	p := &packed{w: w, files: make(map[string]*zip.File, len(z.File))}
	for _, f := range z.File {
		name := strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(f.Name, `\`, "/")), "/")
		if _, twice := p.files[name]; twice {
			return nil, refused("it holds two files called %.100q", name)
		}
		p.files[name] = f
	}
	return p, nil
}

// read is one file of it, unless that is larger or more tightly packed than allowed. What the archive says of sizes is not believed.
func (p *packed) read(name string) ([]byte, error) {
	f := p.files[name]
	if f == nil {
		return nil, refused("it lacks %.100q", name)
	}
	if err := p.w.ctx.Err(); err != nil {
		return nil, err
	}
	r, err := f.Open()
	if err != nil {
		return nil, refused("%.100q in it is damaged: %v", name, err)
	}
	defer r.Close()
	room := p.w.limits.Unpacked - p.w.unpacked
	if packedTo := int(min(f.CompressedSize64, 1<<40)) * p.w.limits.Ratio; packedTo+1<<20 < room {
		room = packedTo + 1<<20
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(room)+1))
	if err != nil {
		return nil, refused("%.100q in it is damaged: %v", name, err)
	}
	p.w.unpacked += len(data) // what is refused was unpacked all the same
	if len(data) > room {
		return nil, refused("%.100q in it unpacks to more than %d bytes", name, room)
	}
	return data, nil
}

// walk hands every element and text of an XML file to see, with the elements around it.
func (p *packed) walk(name string, see func(xml.Token) error) error {
	data, err := p.read(name)
	if err != nil {
		return err
	}
	return p.w.xml(name, data, see)
}

func (w *writer) xml(name string, data []byte, see func(xml.Token) error) error {
	d := xml.NewDecoder(bytes.NewReader(data))
	for depth, n := 0, 0; ; n++ {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return refused("%.100q in it is damaged: %v", name, err)
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
		if err := w.deep(depth); err != nil {
			return err
		}
		if n%4096 == 0 && w.ctx.Err() != nil {
			return w.ctx.Err()
		}
		if err := see(token); err != nil {
			return err
		}
	}
}

// relations of a part: what each id in it names, as a name in the archive. A part without any has none.
func (p *packed) relations(name string) (map[string]relation, error) {
	at := path.Dir(name) + "/_rels/" + path.Base(name) + ".rels"
	out := map[string]relation{}
	if p.files[at] == nil {
		return out, nil
	}
	return out, p.walk(at, func(t xml.Token) error {
		if e, ok := t.(xml.StartElement); ok && e.Name.Local == "Relationship" && value(e, "TargetMode") != "External" {
			target := value(e, "Target")
			if !strings.HasPrefix(target, "/") {
				target = path.Join("/", path.Dir(name), target)
			}
			out[value(e, "Id")] = relation{path.Base(value(e, "Type")), strings.TrimPrefix(path.Clean(target), "/")}
		}
		return nil
	})
}

type relation struct{ kind, name string }

// value is an attribute's, by its name without its space.
func value(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// titled takes the title from an Office file's properties, where they have one.
func (p *packed) titled() error {
	const name = "docProps/core.xml"
	if p.files[name] == nil {
		return nil
	}
	in := false
	return p.walk(name, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			in = t.Name.Local == "title"
		case xml.EndElement:
			in = false
		case xml.CharData:
			if in {
				p.w.doc.Title = clip(p.w.doc.Title + string(t))
			}
		}
		return nil
	})
}
