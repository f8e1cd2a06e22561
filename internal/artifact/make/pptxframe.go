package make

import (
	"fmt"
	"strings"
)

// group begins the tree of shapes of every page.
const group = `<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr><a:xfrm><a:off x="0" y="0"/>` +
	`<a:ext cx="0" cy="0"/><a:chOff x="0" y="0"/><a:chExt cx="0" cy="0"/></a:xfrm></p:grpSpPr>`

const colourMap = `bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" accent4="accent4" ` +
	`accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"`

// place is where a layout has a title or a text.
func place(id int, kind, index string, left, top, width, height int, size int) string {
	at := `type="` + kind + `"`
	if kind == "" {
		at = ""
	}
	if index != "" {
		at += ` idx="` + index + `"`
	}
	return fmt.Sprintf(`<p:sp><p:nvSpPr><p:cNvPr id="%d" name="Place %d"/><p:cNvSpPr><a:spLocks noGrp="1"/></p:cNvSpPr><p:nvPr>`+
		`<p:ph %s/></p:nvPr>`+
		`</p:nvSpPr><p:spPr><a:xfrm><a:off x="%d" y="%d"/><a:ext cx="%d" cy="%d"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></`+
		`a:prstGeom></p:spPr>`+
		`<p:txBody><a:bodyPr><a:normAutofit/></a:bodyPr><a:lstStyle><a:lvl1pPr><a:defRPr sz="%d"/></a:lvl1pPr></a:lstStyle>`+
		`<a:p><a:r><a:rPr lang="en-US"/><a:t>Text</a:t></a:r></a:p></p:txBody></p:sp>`, id, id, at, left, top, width, height, size)
}

// layouts are those of the slides: a title alone, a title with a text, a title above something.
var layouts = []struct{ name, kind, places string }{
	{"Title", "title", place(2, "ctrTitle", "", marginX, 2100000, contentW, 1500000, 4400) +
		place(3, "subTitle", "1", marginX, 3700000, contentW, 1000000, 2000)},
	{"Title and text", "obj", place(2, "title", "", marginX, 365000, contentW, 1000000, 3200) +
		place(3, "", "1", marginX, contentY, contentW, contentH, 2000)},
	{"Title alone", "titleOnly", place(2, "title", "", marginX, 365000, contentW, 1000000, 3200)},
}

// frame writes what surrounds the slides: presentation, master, layouts, themes, notes and properties.
func (k *deck) frame(d *Document) {
	k.themes()
	var ids strings.Builder
	all := []rel{}
	for i, l := range layouts {
		name := fmt.Sprintf("ppt/slideLayouts/slideLayout%d.xml", i+1)
		k.put(name, "officedocument.presentationml.slideLayout", fmt.Sprintf(head+`<p:sldLayout %s type="%s" preserve="1">`+
			`<p:cSld name="%s"><p:spTree>%s%s`+
			`</p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sldLayout>`, spaces, l.kind, l.name, group,
			l.places))
		k.rels(name, rel{"slideMaster", "../slideMasters/slideMaster1.xml"})
		fmt.Fprintf(&ids, `<p:sldLayoutId id="%d" r:id="rId%d"/>`, 2147483649+i, i+1)
		all = append(all, rel{"slideLayout", fmt.Sprintf("../slideLayouts/slideLayout%d.xml", i+1)})
	}
	k.put("ppt/slideMasters/slideMaster1.xml", "officedocument.presentationml.slideMaster", fmt.Sprintf(head+`<p:sldMaster %s>`+
		`<p:cSld><p:bg><p:bgRef idx="1001">`+
		`<a:schemeClr val="bg1"/></p:bgRef></p:bg><p:spTree>%s%s%s</p:spTree></p:cSld><p:clrMap %s/><p:sldLayoutIdLst>%s</`+
		`p:sldLayoutIdLst>%s</p:sldMaster>`,
		spaces, group, place(2, "title", "", marginX, 365000, contentW, 1000000, 3200), place(3, "body", "1", marginX, contentY,
			contentW, contentH, 2000),
		colourMap, ids.String(), textStyles))
	k.rels("ppt/slideMasters/slideMaster1.xml", append(all, rel{"theme", "../theme/theme1.xml"})...)
	k.put("ppt/notesMasters/notesMaster1.xml", "officedocument.presentationml.notesMaster", fmt.Sprintf(head+`<p:notesMaster %s>`+
		`<p:cSld><p:bg><p:bgRef idx="1001">`+
		`<a:schemeClr val="bg1"/></p:bgRef></p:bg><p:spTree>%s%s</p:spTree></p:cSld><p:clrMap %s/></p:notesMaster>`, spaces, group,
		place(3, "body", "1", 685800, 4343400, 5486400, 4114800, 1200), colourMap))
	k.rels("ppt/notesMasters/notesMaster1.xml", rel{"theme", "../theme/theme2.xml"})

	all = []rel{{"slideMaster", "slideMasters/slideMaster1.xml"}, {"notesMaster", "notesMasters/notesMaster1.xml"}, {"theme",
		"theme/theme1.xml"}}
	ids.Reset()
	for i := range k.slides {
		fmt.Fprintf(&ids, `<p:sldId id="%d" r:id="rId%d"/>`, 256+i, len(all)+1)
		all = append(all, rel{"slide", fmt.Sprintf("slides/slide%d.xml", i+1)})
	}
	k.put("ppt/presentation.xml", "officedocument.presentationml.presentation.main",
		fmt.Sprintf(head+`<p:presentation %s saveSubsetFonts="1"><p:sldMasterIdLst>`+
			`<p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst><p:notesMasterIdLst><p:notesMasterId r:id="rId2"/></`+
			`p:notesMasterIdLst>`+
			`<p:sldIdLst>%s</p:sldIdLst><p:sldSz cx="%d" cy="%d"/><p:notesSz cx="6858000" cy="9144000"/></p:presentation>`, spaces,
			ids.String(), slideW, slideH))
	k.rels("ppt/presentation.xml", all...)
	about := ""
	if k.mark {
		about = "<dc:description>" + byAI + "</dc:description>"
	}
	k.put("docProps/core.xml", "", fmt.Sprintf(head+`<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/`+
		`metadata/core-properties" `+
		`xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>%s</dc:title><dc:creator>tandem</dc:creator>%s</cp:coreProperties>`,
		x(d.Title), about))
	k.types = append(k.types, `<Override PartName="/docProps/core.xml" ContentType="application/`+
		`vnd.openxmlformats-package.core-properties+xml"/>`)
	k.put("docProps/app.xml", "officedocument.extended-properties", head+`<Properties xmlns="http://schemas.openxmlformats.org/`+
		`officeDocument/2006/`+
		`extended-properties"><Application>tandem</Application></Properties>`)
	k.rels("", rel{"officeDocument", "ppt/presentation.xml"},
		rel{"http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties", "docProps/core.xml"},
		rel{"extended-properties", "docProps/app.xml"})
}

// textStyles are how texts look unless a layout says otherwise.
const textStyles = `<p:txStyles><p:titleStyle><a:lvl1pPr algn="l"><a:defRPr sz="3200" b="1"><a:solidFill><a:schemeClr val="tx1"/></` +
	`a:solidFill>` +
	`<a:latin typeface="+mj-lt"/></a:defRPr></a:lvl1pPr></p:titleStyle><p:bodyStyle><a:lvl1pPr marL="285750" indent="-285750" algn="` +
	`l"><a:spcBef>` +
	`<a:spcPts val="600"/></a:spcBef><a:buFont typeface="Arial"/><a:buChar char="&#8226;"/><a:defRPr sz="2000"><a:solidFill>` +
	`<a:schemeClr val="tx1"/>` +
	`</a:solidFill><a:latin typeface="+mn-lt"/></a:defRPr></a:lvl1pPr></p:bodyStyle><p:otherStyle><a:lvl1pPr><a:defRPr sz="1800"/></` +
	`a:lvl1pPr>` +
	`</p:otherStyle></p:txStyles>`

// themes writes the colours and letters; the notes have the same.
func (k *deck) themes() {
	var colours strings.Builder
	for i, c := range []string{"dk1", "lt1", "dk2", "lt2"} {
		fmt.Fprintf(&colours, `<a:%s><a:srgbClr val="%s"/></a:%s>`, c, []string{"1C2430", "FFFFFF", "33475B", "EEF2F7"}[i], c)
	}
	for i := range 6 {
		fmt.Fprintf(&colours, `<a:accent%d><a:srgbClr val="%s"/></a:accent%d>`, i+1, palette[i], i+1)
	}
	fill := `<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>`
	line := `<a:ln w="9525"><a:solidFill><a:schemeClr val="phClr"/></a:solidFill></a:ln>`
	effect := `<a:effectStyle><a:effectLst/></a:effectStyle>`
	font := func(name string) string {
		return fmt.Sprintf(`<a:%s><a:latin typeface="Calibri"/><a:ea typeface=""/><a:cs typeface=""/></a:%s>`, name, name)
	}
	for i := range 2 {
		k.put(fmt.Sprintf("ppt/theme/theme%d.xml", i+1), "officedocument.theme", fmt.Sprintf(head+`<a:theme xmlns:a="http://`+
			`schemas.openxmlformats.org/drawingml/`+
			`2006/main" name="Tandem"><a:themeElements><a:clrScheme name="Tandem">%s<a:hlink><a:srgbClr val="4477AA"/></a:hlink>`+
			`<a:folHlink>`+
			`<a:srgbClr val="AA3377"/></a:folHlink></a:clrScheme><a:fontScheme name="Tandem">%s%s</a:fontScheme><a:fmtScheme name="`+
			`Tandem">`+
			`<a:fillStyleLst>%s</a:fillStyleLst><a:lnStyleLst>%s</a:lnStyleLst><a:effectStyleLst>%s</a:effectStyleLst>`+
			`<a:bgFillStyleLst>%s</a:bgFillStyleLst>`+
			`</a:fmtScheme></a:themeElements></a:theme>`, colours.String(), font("majorFont"), font("minorFont"), strings.Repeat(fill, 3),
			strings.Repeat(line, 3), strings.Repeat(effect, 3), strings.Repeat(fill, 3)))
	}
}
