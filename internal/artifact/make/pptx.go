package make

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"time"
)

// Sizes on a slide of 13.333 by 7.5 inches, in EMU.
const (
	slideW, slideH      = 12192000, 6858000
	marginX             = 838200
	contentY            = 1600200
	contentW            = slideW - 2*marginX
	contentH            = 4500000
	rowsOnSlide         = 12
	linesOnSlide        = 14
	relOffice, relTypes = "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
		"http://schemas.openxmlformats.org/package/2006/relationships"
	head   = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	spaces = `xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="` + relOffice +
		`" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"`
)

// deck is a presentation being written: its parts by their names, in order.
type deck struct {
	names  []string
	parts  map[string][]byte
	types  []string // of parts, for [Content_Types].xml
	mark   bool
	slides int
	charts int
	images int
}

func (k *deck) put(name, contentType, body string) {
	k.names = append(k.names, name)
	k.parts[name] = []byte(body)
	if contentType != "" {
		k.types = append(k.types, fmt.Sprintf(`<Override PartName="/%s" ContentType="application/vnd.openxmlformats-%s+xml"/>`,
			name, contentType))
	}
}

// rel is one relationship: its kind, and where it leads.
type rel struct{ kind, target string }

// rels writes the relationships of a part; the first is rId1.
func (k *deck) rels(of string, all ...rel) {
	folder, file := "", of
	if i := strings.LastIndex(of, "/"); i >= 0 {
		folder, file = of[:i+1], of[i+1:]
	}
	var b strings.Builder
	b.WriteString(head + `<Relationships xmlns="` + relTypes + `">`)
	for i, r := range all {
		kind := r.kind
		if !strings.HasPrefix(kind, "http") {
			kind = relOffice + "/" + kind
		}
		fmt.Fprintf(&b, `<Relationship Id="rId%d" Type="%s" Target="%s"/>`, i+1, kind, r.target)
	}
	k.put(folder+"_rels/"+file+".rels", "", b.String()+`</Relationships>`)
}

// x is a text inside XML. What XML cannot hold is left out.
func x(s string) string {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(strings.Map(func(r rune) rune { //nolint:errcheck // a buffer takes everything
		if r < ' ' && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)))
	return b.String()
}

// pptx is the document as slides: a title, one for each section and more where it does not fit, and one for the sources.
func (d *Document) pptx(mark bool) ([]byte, error) {
	k := &deck{parts: map[string][]byte{}, mark: mark}
	k.slide(1, d.Title, placed("subTitle", 1, lines([]string{d.Subtitle}, false)), "")
	for i := range d.Sections {
		k.section(&d.Sections[i])
	}
	var sources []string
	for i, s := range d.Sources {
		sources = append(sources, fmt.Sprintf("[%d] %s  %s", i+1, s.Title, s.URL))
	}
	for _, page := range pages(sources, 8) {
		k.slide(2, "Sources", placed("body", 1, lines(page, true)), "")
	}
	if k.slides > maxSlides {
		return nil, fmt.Errorf("it is more than %d slides: shorten its texts and tables", maxSlides)
	}
	k.frame(d)
	return k.zip()
}

// section is one slide for what it says, and one for each table, chart and image where there is more than one thing.
func (k *deck) section(s *Section) {
	said := []string{}
	for _, p := range paragraphs(s.Text) {
		said = append(said, strings.Split(p, "\n")...)
	}
	notes := s.Notes
	once := func() string { n := notes; notes = ""; return n }
	if s.Layout == "section" || len(said)+len(s.Bullets) == 0 && s.Table == nil && s.Chart == nil && s.Image == nil {
		k.slide(3, s.Title, "", once())
	}
	for _, page := range pages(said, linesOnSlide) {
		k.slide(2, s.Title, placed("body", 1, lines(page, false)), once())
	}
	for _, page := range pages(s.Bullets, linesOnSlide) {
		k.slide(2, s.Title, placed("body", 1, lines(page, true)), once())
	}
	if s.Chart != nil {
		k.charts++
		name := fmt.Sprintf("ppt/charts/chart%d.xml", k.charts)
		k.put(name, "officedocument.drawingml.chart", s.Chart.part())
		k.slide(3, s.Title, frame("http://schemas.openxmlformats.org/drawingml/2006/chart",
			`<c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" r:id="rId2"/>`), once(),
			rel{"chart", fmt.Sprintf("../charts/chart%d.xml", k.charts)})
	}
	if s.Table != nil {
		for from := 0; from == 0 || from < len(s.Table.Rows); from += rowsOnSlide {
			rows := s.Table.Rows[from:min(len(s.Table.Rows), from+rowsOnSlide)]
			k.slide(3, s.Title, frame("http://schemas.openxmlformats.org/drawingml/2006/table", (&Table{s.Table.Columns,
				rows}).part()), once())
		}
	}
	if s.Image != nil {
		k.images++
		name := fmt.Sprintf("image%d.%s", k.images, s.Image.format)
		k.put("ppt/media/"+name, "", "")
		k.parts["ppt/media/"+name] = s.Image.bytes
		k.slide(3, s.Title, s.Image.picture(), once(), rel{"image", "../media/" + name})
	}
}

// pages cuts a list into what fits on a slide.
func pages(all []string, most int) (out [][]string) {
	for len(all) > 0 {
		n, used := 0, 0
		for n < len(all) && (n == 0 || used < most) {
			if used += 1 + len([]rune(all[n]))/90; n > 0 && used > most {
				break
			}
			n++
		}
		out, all = append(out, all[:n]), all[n:]
	}
	return out
}

// lines are paragraphs of a text on a slide.
func lines(all []string, bullets bool) string {
	var b strings.Builder
	for _, s := range all {
		none := `<a:pPr marL="0" indent="0"><a:buNone/></a:pPr>`
		if bullets {
			none = ""
		}
		fmt.Fprintf(&b, `<a:p>%s<a:r><a:rPr lang="en-US"/><a:t>%s</a:t></a:r></a:p>`, none, x(s))
	}
	if b.Len() == 0 {
		return `<a:p><a:endParaRPr lang="en-US"/></a:p>`
	}
	return b.String()
}

// placed is a text in a place that the layout has.
func placed(kind string, index int, paragraphs string) string {
	place := fmt.Sprintf(`<p:ph type="%s" idx="%d"/>`, kind, index)
	if kind == "body" {
		place = fmt.Sprintf(`<p:ph idx="%d"/>`, index)
	}
	return fmt.Sprintf(`<p:sp><p:nvSpPr><p:cNvPr id="3" name="Text"/><p:cNvSpPr><a:spLocks noGrp="1"/></p:cNvSpPr><p:nvPr>%s</`+
		`p:nvPr></p:nvSpPr>`+
		`<p:spPr/><p:txBody><a:bodyPr><a:normAutofit/></a:bodyPr><a:lstStyle/>%s</p:txBody></p:sp>`, place, paragraphs)
}

// frame holds a chart or a table, below the title.
func frame(uri, body string) string {
	return fmt.Sprintf(`<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="4" name="Content"/><p:cNvGraphicFramePr>`+
		`<a:graphicFrameLocks noGrp="1"/>`+
		`</p:cNvGraphicFramePr><p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x="%d" y="%d"/><a:ext cx="%d" cy="%d"/></p:xfrm><a:graphic>`+
		`<a:graphicData uri="%s">%s</a:graphicData></a:graphic></p:graphicFrame>`, marginX, contentY, contentW, contentH, uri, body)
}

// slide adds a slide with a layout, its notes and what it refers to; rId1 is the layout, more come behind it.
func (k *deck) slide(layout int, title, body, notes string, more ...rel) {
	if k.slides++; k.slides > maxSlides { // pptx says so
		return
	}
	kind := "title"
	if layout == 1 {
		kind = "ctrTitle"
	}
	foot := ""
	if k.mark {
		foot = fmt.Sprintf(`<p:sp><p:nvSpPr><p:cNvPr id="9" name="Mark"/><p:cNvSpPr txBox="1"/><p:nvPr/></p:nvSpPr><p:spPr><a:xfrm>`+
			`<a:off x="%d" y="%d"/>`+
			`<a:ext cx="%d" cy="300000"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom><a:noFill/></p:spPr><p:txBody>`+
			`<a:bodyPr wrap="square"/>`+
			`<a:lstStyle/><a:p><a:r><a:rPr lang="en-US" sz="1000"/><a:t>%s</a:t></a:r></a:p></p:txBody></p:sp>`, marginX,
			slideH-420000, contentW, byAI)
	}
	name := fmt.Sprintf("ppt/slides/slide%d.xml", k.slides)
	k.put(name, "officedocument.presentationml.slide", fmt.Sprintf(head+`<p:sld %s><p:cSld><p:spTree>%s<p:sp><p:nvSpPr><p:cNvPr id="`+
		`2" name="Title"/>`+
		`<p:cNvSpPr><a:spLocks noGrp="1"/></p:cNvSpPr><p:nvPr><p:ph type="%s"/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr>`+
		`<a:normAutofit/>`+
		`</a:bodyPr><a:lstStyle/>%s</p:txBody></p:sp>%s%s</p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sld>`,
		spaces, group, kind, lines([]string{title}, true), body, foot))
	all := append([]rel{{"slideLayout", fmt.Sprintf("../slideLayouts/slideLayout%d.xml", layout)}}, more...)
	if notes != "" {
		all = append(all, rel{"notesSlide", fmt.Sprintf("../notesSlides/notesSlide%d.xml", k.slides)})
		k.note(notes)
	}
	k.rels(name, all...)
}

func (k *deck) zip() ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range append([]string{"[Content_Types].xml"}, k.names...) {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)})
		if err != nil {
			return nil, err
		}
		body := k.parts[name]
		if name == "[Content_Types].xml" {
			body = []byte(k.contentTypes())
		}
		if _, err := f.Write(body); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func (k *deck) contentTypes() string {
	return head + `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="xml" ContentType="application/xml"/><Default Extension="png" ContentType="image/png"/>` +
		`<Default Extension="jpeg" ContentType="image/jpeg"/>` + strings.Join(k.types, "") + `</Types>`
}
