package decode

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTexts(t *testing.T) {
	for name, c := range map[string]struct {
		in, title string
		want      []Part
		left      []string
	}{
		"a.md": {"---\ntitle: \"Guide\"\n---\nHello\n\n# Setup\nGo\n\n```\n# no heading <!-- shown -->\n```\n<!-- not\nshown --> here\n" +
			"Linux\n-----\napt\n# End #\nbye", "Guide", []Part{{"line 4", "Hello"},
			{"Setup, line 6", "# Setup\nGo\n\n```\n# no heading <!-- shown -->\n```\n\n here"}, {"Setup > Linux, line 14", "Linux\n-----\napt"},
			{"End, line 17", "# End #\nbye"}}, []string{"comments, which are not shown"}},
		"a.html": {"<html><head><title> A  page</title><style>x</style></head><body><h1>Top <i>one</i></h1><p>Some <b>bold</b>, and\nmore.</p>" +
			"<ul><li>one<li>two</ul><p hidden>secret<p style='Display: None'>secret<span aria-hidden=true>secret</span><h2>Below</h2><table>" +
			"<tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table><pre>x\n  y</pre><script>no()</script>", "A page",
			[]Part{{"Top one", "Top one\n\nSome bold, and more.\n\n- one\n- two"}, {"Top one > Below", "Below\n\na | b\n1 | 2\n\nx\n  y"}},
			[]string{"hidden text"}},
		"a.csv":   {"name;n\nann;1\n\"b;c\";2\n", "", []Part{{"rows 1-3", "name | n\nann | 1\nb;c | 2"}}, nil},
		"a.tsv":   {"a\tb\n1,5\t2\n", "", []Part{{"rows 1-2", "a | b\n1,5 | 2"}}, nil},
		"a.json":  {`{"a":{"b":[1,{"c":"x"}],"d":null},"e":true}`, "", []Part{{"a.b[0]", "a.b[0]: 1\na.b[1].c: x\ne: true"}}, nil},
		"a.jsonl": {"{\"a\":1}\n{\"a\":2}\n", "", []Part{{"#1.a", "#1.a: 1\n#2.a: 2"}}, nil},
		"a.ipynb": {`{"cells":[{"cell_type":"markdown","source":["# T\n","x"]},{"cell_type":"code","source":"1+1",` +
			`"outputs":[{"data":{"text/plain":["2"],"image/png":"aaaa"}},{"ename":"E","evalue":"no"}]}]}`, "T",
			[]Part{{"cell 1", "# T\nx"}, {"cell 2", "1+1\n\nprinted:\n2\n\nprinted:\nE: no"}}, []string{"pictures that cells made"}},
		"a.go": {"package a\n\n// F does.\nfunc F() {\n}\n\nfunc (x *T) G() {}\n", "a.go",
			[]Part{{"lines 1-2", "package a"}, {"F, lines 3-6", "// F does.\nfunc F() {\n}"}, {"(x *T) G, lines 7-8", "func (x *T) G() {}"}}, nil},
		"a.ts": {"import x\nexport const f = async (a) => 1\nexport default class K {}\n", "a.ts",
			[]Part{{"lines 1-1", "import x"}, {"f, lines 2-2", "export const f = async (a) => 1"},
				{"K, lines 3-4", "export default class K {}"}}, nil},
		"a.txt":  {"\xff\xfea\x00\xe9\x00", "", []Part{{"lines 1-1", "aé"}}, nil},
		"README": {"caf\xe9", "", []Part{{"lines 1-1", "café"}}, nil},
		"page":   {"  <!DOCTYPE html><p>x", "", []Part{{"", "x"}}, nil},
		"a.eml": {"From: =?utf-8?q?J=C3=BCrgen?= <j@example.com>\nSubject: Plan\nContent-Type: multipart/mixed; boundary=B\n\n--B\n" +
			"Content-Type: multipart/alternative; boundary=C\n\n--C\nContent-Type: text/plain; charset=iso-8859-1\n" +
			"Content-Transfer-Encoding: quoted-printable\n\nGr=FC=DFe\n--C\nContent-Type: text/html\n\n<p>no\n--C--\n--B\n" +
			"Content-Type: application/octet-stream\nContent-Disposition: attachment; filename=a.csv\nContent-Transfer-Encoding: base64\n\n" +
			"YSxiCjEsMg==\n--B\nContent-Type: image/png; name=p.png\n\n\x89PNG\n--B--\n", "Plan",
			[]Part{{"attached a.csv, rows 1-2", "a | b\n1 | 2"}, {"", "From: Jürgen <j@example.com>\nSubject: Plan\n\nGrüße"}},
			[]string{"attached p.png: nobody here reads PNG pictures"}},
		"a.mbox": {"From a\nSubject: 1\n\none\n>From here\n\nFrom b\nbroken\n\nFrom c\nSubject: 3\n\nthree\n", "",
			[]Part{{"message 1", "Subject: 1\n\none\nFrom here"}, {"message 3", "Subject: 3\n\nthree"}},
			[]string{"message 2, it is no message: malformed header line: broken"}},
	} {
		got, err := Decode(t.Context(), name, []byte(c.in), Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Title != c.title || !slices.Equal(got.Parts, c.want) || !slices.Equal(got.Left, c.left) {
			t.Errorf("%s is %q %q %q", name, got.Title, got.Parts, got.Left)
		}
	}
}

func zipped(files ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := z.Create(files[i])
		if err == nil {
			_, err = f.Write([]byte(files[i+1]))
		}
		if err != nil {
			panic(err)
		}
	}
	z.Close()
	return b.Bytes()
}

// What is damaged or made to do harm is refused with a reason, quickly.
func TestRefused(t *testing.T) {
	const word = "word/document.xml"
	nested := func(open, shut string, n int) string { return strings.Repeat(open, n) + strings.Repeat(shut, n) }
	for why, c := range map[string]struct {
		name string
		data []byte
		l    Limits
	}{
		"zero bytes":                     {"a.txt", []byte("a\x00b"), Limits{}},
		"damaged: it has no pages":       {"a", []byte("%PDF-1.4"), Limits{}},
		"nobody here reads old Office":   {"a.doc", []byte("\xd0\xcf\x11\xe0"), Limits{}},
		"has 5 bytes, and 4 are":         {"a.txt", []byte("12345"), Limits{Input: 4}},
		"more than 9 bytes of text":      {"a.txt", []byte(strings.Repeat("word ", 9)), Limits{Text: 9}},
		"more than 2 parts":              {"a.md", []byte("# a\n# b\n# c\n"), Limits{Parts: 2}},
		"damaged: zip":                   {"a.docx", []byte("PK\x03\x04"), Limits{}},
		"lacks \"word/document.xml\"":    {"a.docx", zipped("x", "y"), Limits{}},
		"two files called":               {"a.docx", zipped(word, "<a/>", "word//document.xml", "<a/>"), Limits{}},
		"is damaged: XML":                {"a.docx", zipped(word, "<a><b></a>"), Limits{}},
		"unpacks to more than 1000":      {"a.docx", zipped(word, "<a>"+strings.Repeat(" ", 2000)), Limits{Unpacked: 1000}},
		"unpacks to more than":           {"a.docx", zipped(word, "<a>"+strings.Repeat(" ", 30<<20)), Limits{}},
		"nested more than 256":           {"a.docx", zipped(word, nested("<a>", "</a>", 300)), Limits{}},
		"nested more than 10 deep":       {"a.html", []byte(nested("<b>", "</b>", 100)), Limits{Depth: 10}},
		"nested more than 11 deep":       {"a.json", []byte(nested("[", "]", 100)), Limits{Depth: 11}},
		"nested more than 12 deep":       {"a.ipynb", []byte(nested("[", "]", 100)), Limits{Depth: 12}},
		"no JSON":                        {"a.json", []byte(`{"a":`), Limits{}},
		"no notebook":                    {"a.ipynb", []byte(`{"cells":1}`), Limits{}},
		"no message":                     {"a.eml", []byte("nothing"), Limits{}},
		"damaged: zip: not":              {"a.zip", []byte("PK\x03\x04 and no more"), Limits{}},
		"nothing in it can be read":      {"a.zip", zipped("a.png", "\x89PNG", "b/", ""), Limits{}},
		"unpacks to more than 2000":      {"a.zip", zipped("a.txt", strings.Repeat(" ", 3000)), Limits{Unpacked: 2000}},
		"no mailbox":                     {"a.mbox", []byte("nothing"), Limits{}},
		"damaged: unexpected EOF":        {"a.eml", []byte("Content-Type: multipart/mixed; boundary=B\n\n--B\n\nx"), Limits{}},
		"lacks \"ppt/presentation.xml\"": {"a.pptx", zipped("x", "y"), Limits{}},
		"lacks \"ppt/gone.xml\"": {"a.pptx", zipped("ppt/presentation.xml", `<p xmlns:r="r"><sldId id="1" r:id="r1"/></p>`,
			"ppt/_rels/presentation.xml.rels", `<R><Relationship Id="r1" Type="slide" Target="gone.xml"/></R>`), Limits{}},
		"more than 16384 columns": {"a.xlsx", zipped("xl/workbook.xml", `<w xmlns:r="r"><sheet name="a" r:id="r1"/></w>`,
			"xl/_rels/workbook.xml.rels", `<R><Relationship Id="r1" Type="worksheet" Target="s.xml"/></R>`,
			"xl/s.xml", `<s><row r="1"><c r="ZZZZ1"><v>1</v></c></row></s>`), Limits{}},
	} {
		began := time.Now()
		got, err := Decode(t.Context(), c.name, c.data, c.l)
		var refused *Refused
		if !errors.As(err, &refused) || !strings.Contains(refused.Reason, why) {
			t.Errorf("%q: %v, %.200v", why, err, got)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%q took %v", why, took)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Decode(ctx, "a.txt", []byte("x"), Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after its caller went away: %v", err)
	}
}

// An archive is read as what it holds: each document by its name in it, keys not at all, and archives in archives count together.
func TestArchives(t *testing.T) {
	inner := zipped("deep.txt", "a turnip")
	data := zipped("b/notes.md", "# Soil\n\nLoam.", "a.txt", "First.", "id_rsa", "key", "x.png", "\x89PNG", "in.zip", string(inner),
		"bomb.docx", string(zipped("word/document.xml", "<a>"+strings.Repeat(" ", 30<<20))))
	got, err := Decode(t.Context(), "all.zip", data, Limits{Skip: func(name string) bool { return name == "/id_rsa" }})
	if err != nil {
		t.Fatal(err)
	}
	want := []Part{{"a.txt, lines 1-1", "First."}, {"b/notes.md, Soil, line 1", "# Soil\n\nLoam."},
		{"in.zip, deep.txt, lines 1-1", "a turnip"}}
	if !slices.Equal(got.Parts, want) || len(got.Left) != 2 || strings.Contains(fmt.Sprint(got), "id_rsa") {
		t.Errorf("it holds %q, left %q", got.Parts, got.Left)
	}
	nest := []byte("x")
	for range 6 {
		nest = zipped("a.zip", string(nest))
	}
	var refused *Refused
	if _, err := Decode(t.Context(), "a.zip", nest, Limits{}); !errors.As(err, &refused) ||
		!strings.Contains(refused.Reason, "inside too many others") {
		t.Errorf("archives in archives: %v", err)
	}
	var many []string // each of them is within the limit, and all together are not
	for n := range 20 {
		many = append(many, fmt.Sprintf("%02d.zip", n), string(zipped("a.txt", strings.Repeat("word ", 200))))
	}
	if _, err := Decode(t.Context(), "a.zip", zipped(many...), Limits{Unpacked: 8000}); !errors.As(err, &refused) {
		t.Errorf("many small ones: %v", err)
	}
}

// A document that does not fit into an archive's room any more was left out, or refused all of the archive, by chance of its size: its name
// stands before each place, and was not counted when it was read by itself. It is left out, and stops nothing.
func TestAnArchiveOfMoreTextThanAllowed(t *testing.T) {
	first, last := "a.txt, lines 1-1first", "c.txt, lines 1-1last"
	data := zipped("a.txt", "first", "b.txt", strings.Repeat("b", 60), "c.txt", "last")
	for room := len(first); room < 150; room++ {
		got, err := Decode(t.Context(), "a.zip", data, Limits{Text: room})
		if err != nil {
			t.Fatalf("within %d: %v", room, err)
		}
		size, fits := 0, 3
		for _, p := range got.Parts {
			size += len(p.Place) + len(p.Text)
		}
		if whole := len(first+last) + 60 + len("b.txt, lines 1-1"); room < whole {
			fits = 2
		}
		if room < len(first+last) {
			fits = 1
		}
		if size > room || len(got.Parts) != fits || len(got.Parts)+len(got.Left) != 3 {
			t.Errorf("within %d: %q, left %q", room, got.Parts, got.Left)
		}
	}
	many := zipped("a.txt", "first", "b.md", "# one\n\nx\n\n# two\n\ny", "c.txt", "last")
	got, err := Decode(t.Context(), "a.zip", many, Limits{Parts: 2})
	if err != nil || len(got.Parts) != 2 || len(got.Left) != 1 {
		t.Errorf("within 2 parts: %+v, %v", got, err)
	}
}

// Whatever the bytes are, there is an answer, within the limits.
func FuzzDecode(f *testing.F) {
	sheet := zipped("xl/workbook.xml", `<w xmlns:r="r"><sheet name="a" r:id="r1"/></w>`, "xl/_rels/workbook.xml.rels",
		`<R><Relationship Id="r1" Type="worksheet" Target="s.xml"/></R>`, "xl/s.xml", `<s><row r="1"><c r="A1"><v>1</v></c></row></s>`)
	for i, seed := range []string{"%PDF-1.4\n1 0 obj<</Type/Page/Contents 2 0 " +
		"R/Resources<</Font<</F<</Subtype/Type1/BaseFont/Times>>>>>>>>endobj\n" +
		"2 0 obj<</Length 40>>stream\nBT /F 12 Tf 1 0 0 1 9 9 Tm [(ab) -300 (c)] TJ ET\nendstream endobj", "# a\n<!--", "<p hidden>x<table><td>y",
		"a,b\n\"1", `{"a":[1,{"b":"c"}]}`, `{"cells":[{"source":["x"]}]}`,
		"From a\nSubject: =?x?q?y?=\n\nz", "Content-Type: multipart/mixed; boundary=B\n\n--B\n\nx\n--B--", "func F() {}", string(sheet),
		string(zipped("a.md", "# a", "b.zip", string(zipped("c.txt", "d")))),
		string(zipped("word/document.xml", "<d><p><r><t>x</t></r></p><tbl><tr><tc><p/></tc></tr></tbl></d>"))} {
		f.Add(uint8(i), []byte(seed))
	}
	names := []string{"a"}
	for _, one := range formats() {
		names = append(names, "a"+one.ends[0])
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		late := time.AfterFunc(30*time.Second, func() { panic("it takes too long") })
		defer late.Stop()
		l := Limits{Input: 1 << 20, Unpacked: 1 << 20, Text: 1 << 16, Parts: 100, Depth: 50}
		got, err := Decode(t.Context(), names[int(which)%len(names)], data, l)
		var refused *Refused
		switch {
		case err != nil && !errors.As(err, &refused):
			t.Fatalf("no reason: %v", err)
		case err == nil && (len(got.Parts) > l.Parts || len(fmt.Sprint(got.Parts)) > l.Text+3*l.Parts+2):
			t.Fatalf("%d parts", len(got.Parts))
		}
	})
}

// A zero byte that a document writes as an escape, or in two bytes, is none that a database refuses.
func TestZeroBytesAreShownAsSuch(t *testing.T) {
	for name, in := range map[string]string{"a.json": `{"a\u0000b": "x\u0000y"}`,
		"a.ipynb": `{"cells":[{"cell_type":"code","source":"1\u0000"}]}`, "a.txt": "\xff\xfea\x00\x00\x00b\x00"} {
		got, err := Decode(t.Context(), name, []byte(in), Limits{})
		if err != nil || len(got.Parts) != 1 {
			t.Errorf("%s: %+v, %v", name, got, err)
			continue
		}
		if p := got.Parts[0]; strings.ContainsRune(p.Place+p.Text, 0) || !strings.Contains(p.Text, "\ufffd") {
			t.Errorf("%s: %q", name, p)
		}
	}
}
