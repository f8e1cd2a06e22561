package source

import (
	"archive/zip"
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/source/wire"
)

// zipped is an archive of names and texts.
func zipped(files ...string) string {
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
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// malformed are documents that no reader should take, by the names that they go by: cut off, broken, locked in each other, or made to
// unpack to more than anybody has room for.
func malformed() map[string]string {
	out := map[string]string{}
	add := func(format string, data string) { out[fmt.Sprintf("bad%03d.%s", len(out), format)] = data }
	sheet := zipped("xl/workbook.xml", `<w xmlns:r="r"><sheet name="a" r:id="r1"/></w>`, "xl/_rels/workbook.xml.rels",
		`<R><Relationship Id="r1" Type="worksheet" Target="s.xml"/></R>`, "xl/s.xml", `<s><row r="1"><c r="A1"><v>1</v></c></row></s>`)
	slides := zipped("ppt/presentation.xml", `<p xmlns:r="r"><sldId id="1" r:id="r1"/></p>`, "ppt/_rels/presentation.xml.rels",
		`<R><Relationship Id="r1" Type="slide" Target="s.xml"/></R>`, "ppt/s.xml", `<s><t>x</t></s>`)
	word := zipped("word/document.xml", "<d><p><r><t>x</t></r></p></d>")
	for format, whole := range map[string]string{"xlsx": sheet, "pptx": slides, "docx": word, "zip": zipped("a.txt", "a", "b.md", "# b")} {
		for cut := range 50 { // without its end an archive has no list of what it holds
			add(format, whole[:len(whole)*cut/55])
		}
	}
	for n := range 40 {
		deep := strings.Repeat("[", 300+n)
		add("json", `{"a": `+deep)
		add("ipynb", `{"cells": [`+strings.Repeat(`{"source":`, n+1))
		add("eml", strings.Repeat("no header\n", n+1))
	}
	for n := range 3 {
		blanks := strings.Repeat(" ", 24<<20+n)
		add("docx", zipped("word/document.xml", "<a>"+blanks))
		add("zip", zipped("a.txt", blanks))
	}
	for n := range 10 {
		add("html", strings.Repeat("<b>", 2000+n))
		add("pdf", "%PDF-1.4\n"+strings.Repeat("1 0 obj<</Length 9999999999>>stream\n", n))
		add("mbox", strings.Repeat("nobody\n", n+1))
		add("txt", "a"+strings.Repeat("\x00", n+1))
	}
	return out
}

// At least 300 malformed and bomb-like documents are in a folder. Each is listed with a reason, none is found, and the process that reads
// them reads what is sound between them.
func TestMalformedDocumentsAreListedWithAReason(t *testing.T) {
	b := newBench(t, filepath.Join(t.TempDir(), "a.db"))
	all := malformed()
	if len(all) < 300 {
		t.Fatalf("there are %d", len(all))
	}
	for name, data := range all {
		b.write(name, data)
	}
	b.write("a-first.md", "The first turnip.")
	b.write("z-last.md", "The last turnip.")
	b.bound(ann, "heap")
	out := b.imported(ann, "heap")
	if out.Bad != len(all) || out.Changed != 2 || len(b.finds(ann, "turnip")) != 2 {
		t.Errorf("of %d it brought %+v", len(all), out)
	}
	rows, err := b.room.DB.Query(t.Context(), "SELECT path, reason FROM source_file ORDER BY path")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	reasons := map[string]int{}
	for rows.Next() {
		var path, reason string
		if err := rows.Scan(&path, &reason); err != nil {
			t.Fatal(err)
		}
		if bad := strings.HasPrefix(path, "bad"); bad != (reason != "") {
			t.Errorf("%s: %q", path, reason)
		}
		reasons[reason]++
	}
	t.Logf("%d documents, %d different reasons", len(all), len(reasons)-1)
	if shown, err := b.room.show(ann, wire.NameIn{Name: "heap"}); err != nil || shown.Bad != len(all) || len(shown.BadFiles) != maxBad {
		t.Errorf("it shows %d of %d, %v", len(shown.BadFiles), shown.Bad, err)
	}
}
