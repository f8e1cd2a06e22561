package decode

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// readPPTX makes a part of each slide, in their order, and of its notes.
func readPPTX(w *writer, data []byte) error {
	p, err := w.unpack(data)
	if err != nil {
		return err
	}
	if err := p.titled(); err != nil {
		return err
	}
	const main = "ppt/presentation.xml"
	ids := []string{}
	if err := p.walk(main, func(t xml.Token) error {
		if e, ok := t.(xml.StartElement); ok && e.Name.Local == "sldId" {
			for _, a := range e.Attr { // both have the name "id": that of the relation has a space
				if a.Name.Local == "id" && a.Name.Space != "" {
					ids = append(ids, a.Value)
				}
			}
		}
		return nil
	}); err != nil {
		return err
	}
	slides, err := p.relations(main)
	if err != nil {
		return err
	}
	for i, id := range ids {
		if err := p.slide(i+1, slides[id].name); err != nil {
			return err
		}
	}
	return nil
}

func (p *packed) slide(number int, name string) error {
	place := fmt.Sprintf("slide %d", number)
	text, shown, err := p.drawn(name)
	if err != nil {
		return err
	}
	if !shown {
		p.w.left("%s, which is hidden", place)
		return nil
	}
	if err := p.w.part(place, text); err != nil {
		return err
	}
	around, err := p.relations(name)
	if err != nil {
		return err
	}
	for _, r := range around {
		if r.kind != "notesSlide" {
			continue
		}
		if text, _, err = p.drawn(r.name); err != nil {
			return err
		}
		if err := p.w.part(place+", notes", text); err != nil {
			return err
		}
	}
	return nil
}

// drawn is the text of a slide, a line for each paragraph and each row of a table, and whether the slide is shown.
func (p *packed) drawn(name string) (string, bool, error) {
	var b, paragraph strings.Builder
	shown, reading, skip, inRow, field := true, false, 0, false, false
	err := p.walk(name, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			switch {
			case skip > 0 || t.Name.Local == "Fallback":
				skip++
			case t.Name.Local == "sld" && value(t, "show") == "0":
				shown = false
			case t.Name.Local == "t":
				reading = true
			case t.Name.Local == "br":
				paragraph.WriteByte('\n')
			case t.Name.Local == "tr":
				inRow = true
			case t.Name.Local == "fld":
				field = value(t, "type") == "slidenum"
			}
		case xml.CharData:
			if reading && skip == 0 && !field {
				paragraph.Write(t)
			}
		case xml.EndElement:
			switch {
			case skip > 0:
				skip--
			case t.Name.Local == "t":
				reading = false
			case t.Name.Local == "fld":
				field = false
			case t.Name.Local == "p" && inRow:
				paragraph.WriteByte(' ')
			case t.Name.Local == "tc":
				paragraph.WriteString("| ")
			case t.Name.Local == "p" || t.Name.Local == "tr":
				b.WriteString(strings.TrimRight(paragraph.String(), "| ") + "\n")
				paragraph.Reset()
				inRow = false
			}
		}
		return nil
	})
	return b.String(), shown, err
}
