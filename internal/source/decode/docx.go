package decode

import (
	"encoding/xml"
	"path"
	"slices"
	"strconv"
	"strings"
)

// readDOCX makes a part of each section of the text, then of notes, headers and footers.
func readDOCX(w *writer, data []byte) error {
	p, err := w.unpack(data)
	if err != nil {
		return err
	}
	if err := p.titled(); err != nil {
		return err
	}
	const main = "word/document.xml"
	levels, err := p.headingStyles()
	if err != nil {
		return err
	}
	if err := p.words(main, "", levels); err != nil {
		return err
	}
	others := []string{}
	for name := range p.files {
		base := strings.TrimSuffix(strings.TrimRight(strings.TrimSuffix(path.Base(name), ".xml"), "0123456789"), ".xml")
		if path.Dir(name) == "word" && slices.Contains([]string{"footnotes", "endnotes", "header", "footer"}, base) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	for _, name := range others {
		if err := p.words(name, strings.TrimSuffix(path.Base(name), ".xml"), nil); err != nil {
			return err
		}
	}
	if p.files["word/comments.xml"] != nil {
		w.left("comments")
	}
	return nil
}

// headingStyles are the styles whose paragraphs are headings, by id: the names of styles are translated, their outline levels are not.
func (p *packed) headingStyles() (map[string]int, error) {
	levels := map[string]int{}
	for i := 1; i <= 6; i++ {
		levels["Heading"+strconv.Itoa(i)] = i
	}
	levels["Title"] = 1
	const name = "word/styles.xml"
	if p.files[name] == nil {
		return levels, nil
	}
	style := ""
	return levels, p.walk(name, func(t xml.Token) error {
		e, ok := t.(xml.StartElement)
		switch {
		case !ok:
		case e.Name.Local == "style":
			style = value(e, "styleId")
		case e.Name.Local == "outlineLvl":
			if n, err := strconv.Atoi(value(e, "val")); err == nil && n >= 0 && n < 6 {
				levels[style] = n + 1
			}
		}
		return nil
	})
}

// words reads paragraphs and tables of one part. Without levels, all of it is one place.
func (p *packed) words(name, place string, levels map[string]int) error {
	d := &docxText{w: p.w, place: place, levels: levels}
	if err := p.walk(name, d.see); err != nil {
		return err
	}
	return d.flush()
}

type docxText struct {
	w      *writer
	place  string
	levels map[string]int

	path      headings
	text      strings.Builder // of the part
	paragraph strings.Builder
	style     string
	row       []string
	cell      []string
	tables    int // how many are open
	skip      int // how many elements deep we are inside one that is not read
	reading   bool
	hidden    bool // this run is not shown
}

func (d *docxText) see(t xml.Token) error {
	switch t := t.(type) {
	case xml.StartElement:
		d.begin(t)
	case xml.CharData:
		if d.reading && d.skip == 0 {
			if d.hidden {
				d.w.left("hidden text")
			} else {
				d.paragraph.Write(t)
			}
		}
	case xml.EndElement:
		return d.end(t)
	}
	return nil
}

func (d *docxText) begin(e xml.StartElement) {
	if d.skip > 0 || e.Name.Local == "Fallback" { // of two spellings of one thing the second is not read
		d.skip++
		return
	}
	switch e.Name.Local {
	case "pStyle":
		d.style = value(e, "val")
	case "r":
		d.hidden = false
	case "vanish", "webHidden":
		d.hidden = !slices.Contains([]string{"0", "false", "off"}, value(e, "val"))
	case "t":
		d.reading = true
	case "tab":
		d.paragraph.WriteByte('\t')
	case "br", "cr":
		d.paragraph.WriteByte('\n')
	case "noBreakHyphen":
		d.paragraph.WriteByte('-')
	case "tbl":
		d.tables++
	case "del", "moveFrom":
		d.w.left("deleted text")
	}
}

func (d *docxText) end(e xml.EndElement) error {
	if d.skip > 0 {
		d.skip--
		return nil
	}
	switch e.Name.Local {
	case "t":
		d.reading = false
	case "p":
		return d.paragraphEnds()
	case "tc":
		if d.tables == 1 {
			d.row, d.cell = append(d.row, strings.Join(d.cell, " ")), nil
		}
	case "tr":
		if d.tables == 1 {
			d.text.WriteString(strings.Join(d.row, " | ") + "\n")
			d.row = nil
		}
	case "tbl":
		if d.tables--; d.tables == 0 {
			d.text.WriteString("\n")
		}
	}
	return nil
}

func (d *docxText) paragraphEnds() error {
	text, level := d.paragraph.String(), d.levels[d.style]
	d.paragraph.Reset()
	d.style = ""
	if d.tables > 0 {
		if text = strings.Join(strings.Fields(text), " "); text != "" {
			d.cell = append(d.cell, text)
		}
		return nil
	}
	if level > 0 && strings.TrimSpace(text) != "" {
		if err := d.flush(); err != nil {
			return err
		}
		d.path.set(level, text)
		if d.w.doc.Title == "" {
			d.w.doc.Title = clip(text)
		}
	}
	d.text.WriteString(text + "\n")
	return nil
}

func (d *docxText) flush() error {
	place := d.place
	if place == "" {
		place = d.path.String()
	}
	err := d.w.part(place, d.text.String())
	d.text.Reset()
	return err
}
