package make

import (
	"fmt"
	"strconv"
	"strings"
)

// part is a table on a slide.
func (t *Table) part() string {
	var b strings.Builder
	b.WriteString(`<a:tbl><a:tblPr firstRow="1" bandRow="1"/><a:tblGrid>`)
	for range t.Columns {
		fmt.Fprintf(&b, `<a:gridCol w="%d"/>`, contentW/len(t.Columns))
	}
	b.WriteString(`</a:tblGrid>`)
	const height = 340000
	line := func(values []string, style, fill string) {
		fmt.Fprintf(&b, `<a:tr h="%d">`, height)
		for _, v := range values {
			fmt.Fprintf(&b, `<a:tc><a:txBody><a:bodyPr/><a:lstStyle/><a:p><a:r><a:rPr lang="en-US" sz="1200"%s</a:rPr><a:t>%s</a:t>`+
				`</a:r></a:p>`+
				`</a:txBody><a:tcPr>%s</a:tcPr></a:tc>`, style, x(v), fill)
		}
		b.WriteString(`</a:tr>`)
	}
	line(t.Columns, ` b="1"><a:solidFill><a:schemeClr val="bg1"/></a:solidFill>`, `<a:solidFill><a:schemeClr val="accent1"/></`+
		`a:solidFill>`)
	for i, r := range t.Rows {
		texts := make([]string, len(r))
		for i, v := range r {
			texts[i] = cell(v)
		}
		line(texts, `>`, []string{`<a:solidFill><a:srgbClr val="EEF2F7"/></a:solidFill>`, `<a:noFill/>`}[i%2])
	}
	return b.String() + `</a:tbl>`
}

// picture is an image on a slide, as large as fits.
func (m *Image) picture() string {
	w, h := contentW, contentW*m.height/m.width
	if h > contentH {
		w, h = contentH*m.width/m.height, contentH
	}
	return fmt.Sprintf(`<p:pic><p:nvPicPr><p:cNvPr id="4" name="Image" descr="%s"/><p:cNvPicPr><a:picLocks noChangeAspect="1"/></`+
		`p:cNvPicPr><p:nvPr/>`+
		`</p:nvPicPr><p:blipFill><a:blip r:embed="rId2"/><a:stretch><a:fillRect/></a:stretch></p:blipFill><p:spPr><a:xfrm><a:off x="`+
		`%d" y="%d"/>`+
		`<a:ext cx="%d" cy="%d"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr></p:pic>`, x(m.Alt), (slideW-w)/2,
		contentY, w, h)
}

// part is a chart with its numbers in it; no workbook lies behind it.
func (c *Chart) part() string {
	kinds := map[string][2]string{
		"bar": {`<c:barChart><c:barDir val="col"/><c:grouping val="clustered"/><c:varyColors val="0"/>`, `<c:gapWidth val="60"/>` +
			`` + axisIDs + `</c:barChart>`},
		"line": {`<c:lineChart><c:grouping val="standard"/><c:varyColors val="0"/>`, `<c:marker val="1"/>` + axisIDs + `</c:lineChart>`},
		"pie":  {`<c:pieChart><c:varyColors val="1"/>`, `<c:firstSliceAng val="0"/></c:pieChart>`},
	}
	var b strings.Builder
	b.WriteString(head + `<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" ` +
		`xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="` + relOffice + `"><c:roundedCorners val="0"/>` +
		`<c:chart>` +
		`<c:autoTitleDeleted val="1"/><c:plotArea><c:layout/>` + kinds[c.Kind][0])
	for i, s := range c.Series {
		c.series(&b, i, s)
	}
	b.WriteString(kinds[c.Kind][1])
	if c.Kind != "pie" {
		b.WriteString(axes)
	}
	return b.String() + `</c:plotArea><c:legend><c:legendPos val="b"/><c:overlay val="0"/></c:legend><c:plotVisOnly val="1"/>` +
		`<c:dispBlanksAs val="gap"/></c:chart></c:chartSpace>`
}

const (
	axisIDs = `<c:axId val="111"/><c:axId val="112"/>`
	axes    = `<c:catAx><c:axId val="111"/><c:scaling><c:orientation val="minMax"/></c:scaling><c:delete val="0"/><c:axPos val="b"/>` +
		`<c:majorTickMark val="none"/><c:minorTickMark val="none"/><c:tickLblPos val="low"/><c:crossAx val="112"/><c:crosses val="` +
		`autoZero"/></c:catAx>` +
		`<c:valAx><c:axId val="112"/><c:scaling><c:orientation val="minMax"/></c:scaling><c:delete val="0"/><c:axPos val="l"/>` +
		`<c:majorGridlines/>` +
		`<c:majorTickMark val="none"/><c:minorTickMark val="none"/><c:tickLblPos val="nextTo"/><c:crossAx val="111"/>` +
		`<c:crosses val="autoZero"/></c:valAx>`
)

func (c *Chart) series(b *strings.Builder, i int, s Series) {
	colour := fmt.Sprintf(`<a:solidFill><a:srgbClr val="%s"/></a:solidFill>`, palette[i%len(palette)])
	fmt.Fprintf(b, `<c:ser><c:idx val="%d"/><c:order val="%d"/><c:tx><c:strRef><c:f>Sheet1!$%c$1</c:f><c:strCache><c:ptCount val="1"/>`+
		`<c:pt idx="0"><c:v>%s</c:v></c:pt></c:strCache></c:strRef></c:tx>`, i, i, 'B'+i, x(s.Name))
	switch c.Kind {
	case "bar":
		b.WriteString(`<c:spPr>` + colour + `</c:spPr><c:invertIfNegative val="0"/>`)
	case "line":
		b.WriteString(`<c:spPr><a:ln w="28575">` + colour + `</a:ln></c:spPr><c:marker><c:symbol val="none"/></c:marker>`)
	}
	fmt.Fprintf(b, `<c:cat><c:strRef><c:f>Sheet1!$A$2:$A$%d</c:f><c:strCache><c:ptCount val="%d"/>`, len(c.Labels)+1, len(c.Labels))
	for n, label := range c.Labels {
		fmt.Fprintf(b, `<c:pt idx="%d"><c:v>%s</c:v></c:pt>`, n, x(label))
	}
	fmt.Fprintf(b, `</c:strCache></c:strRef></c:cat><c:val><c:numRef><c:f>Sheet1!$%c$2:$%c$%d</c:f><c:numCache><c:formatCode>`+
		`General</c:formatCode>`+
		`<c:ptCount val="%d"/>`, 'B'+i, 'B'+i, len(c.Labels)+1, len(c.Labels))
	for n, v := range s.Values {
		fmt.Fprintf(b, `<c:pt idx="%d"><c:v>%s</c:v></c:pt>`, n, strconv.FormatFloat(v, 'g', -1, 64))
	}
	b.WriteString(`</c:numCache></c:numRef></c:val>`)
	if c.Kind == "line" {
		b.WriteString(`<c:smooth val="0"/>`)
	}
	b.WriteString(`</c:ser>`)
}

// note is what whoever speaks reads beside the newest slide.
func (k *deck) note(text string) {
	name := fmt.Sprintf("ppt/notesSlides/notesSlide%d.xml", k.slides)
	k.put(name, "officedocument.presentationml.notesSlide", fmt.Sprintf(head+`<p:notes %s><p:cSld><p:spTree>%s<p:sp><p:nvSpPr>`+
		`<p:cNvPr id="2" name="Slide"/><p:cNvSpPr><a:spLocks noGrp="1" noRot="1" noChangeAspect="1"/></p:cNvSpPr><p:nvPr>`+
		`<p:ph type="sldImg"/></p:nvPr>`+
		`</p:nvSpPr><p:spPr/></p:sp><p:sp><p:nvSpPr><p:cNvPr id="3" name="Notes"/><p:cNvSpPr><a:spLocks noGrp="1"/></p:cNvSpPr><p:nvPr>`+
		`<p:ph type="body" idx="1"/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:lstStyle/>%s</p:txBody></p:sp></p:spTree></`+
		`p:cSld>`+
		`<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:notes>`, spaces, group, lines(strings.Split(text, "\n"), true)))
	k.rels(name, rel{"notesMaster", "../notesMasters/notesMaster1.xml"}, rel{"slide", fmt.Sprintf("../slides/slide%d.xml", k.slides)})
}
