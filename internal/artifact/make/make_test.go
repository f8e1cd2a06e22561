package make

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/artifact/check"
	"tandem/internal/testenv"
)

// dot is a picture of one pixel.
var dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func sample() *Document {
	rows := [][]any{}
	for i := range 20 {
		rows = append(rows, []any{"task <b> & " + string(rune('a'+i)), float64(i), true})
	}
	d := &Document{Title: `Week 42 & "more" <script>alert(1)</script>`, Subtitle: "What happened", Sections: []Section{
		{Title: "Summary", Text: "Twelve tasks are done [1].\n\nTwo are late [9].\nA second line.", Notes: "Say it slowly.\nThen wait."},
		{Title: "Points", Bullets: []string{"one", "=two", "![x](https://x.example/p.png)"}},
		{Title: "Numbers", Chart: &Chart{Kind: "bar", Labels: []string{"mon", "tue"}, Series: []Series{{"done", []float64{3, -1.5}},
			{"late", []float64{0, 2}}}}},
		{Title: "Way", Chart: &Chart{Kind: "line", Labels: []string{"mon", "tue"}, Series: []Series{{"done", []float64{3, 4}}}}},
		{Title: "Parts", Chart: &Chart{Kind: "pie", Labels: []string{"a", "b"}, Series: []Series{{"share", []float64{3, 1}}}}},
		{Title: "Tasks", Table: &Table{Columns: []string{"task", "days", "done"}, Rows: rows}},
		{Title: "Picture", Image: &Image{Data: dot, Alt: `a "dot"`}},
		{Title: "The end", Layout: "section"},
	}, Sources: []Cited{{"The board", "https://example.com/board?a=1&b=2"}}}
	return d
}

// as is a document as a value that came from a model.
func as(t *testing.T, d any) any {
	t.Helper()
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func made(t *testing.T, kind string, v any) Made {
	t.Helper()
	m, err := To(kind, v, true)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Slides open in python-pptx, which reads back every text, number, table, picture and note; and LibreOffice turns them into pages.
func TestSlidesOpen(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "deck.pptx")
	m := made(t, "pptx", as(t, sample()))
	if again := made(t, "pptx", as(t, sample())); string(again.Data) != string(m.Data) {
		t.Error("the same document gave other bytes")
	}
	if err := os.WriteFile(file, m.Data, 0o600); err != nil {
		t.Fatal(err)
	}
	const script = `
import json, sys
from pptx import Presentation
out = []
for s in Presentation(sys.argv[1]).slides:
    one = {"title": s.shapes.title.text, "layout": s.slide_layout.name,
	"notes": s.notes_slide.notes_text_frame.text if s.has_notes_slide else "",
           "texts": [x.text_frame.text for x in s.shapes if x.has_text_frame], "rows": 0, "charts": [], "pictures": 0}
    for x in s.shapes:
        if x.has_table: one["rows"] += len(x.table.rows)
        if x.has_chart: one["charts"].append([list(x.chart.plots[0].categories), [list(r.values) for r in x.chart.plots[0].series]])
        if x.shape_type == 13: one["pictures"] += 1
    out.append(one)
print(json.dumps(out))`
	cmd := exec.Command(testenv.Tool(t, "python"), "-c", script, file)
	read, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("python-pptx: %v\n%s", err, read)
	}
	var slides []struct {
		Title, Layout, Notes string
		Texts                []string
		Rows, Pictures       int
		Charts               []any
	}
	if err := json.Unmarshal(read, &slides); err != nil {
		t.Fatal(err)
	}
	var rows, charts, pictures int
	var texts, notes, titles string
	for _, s := range slides {
		rows, charts, pictures = rows+s.Rows, charts+len(s.Charts), pictures+s.Pictures
		texts, notes, titles = texts+strings.Join(s.Texts, "\n")+"\n", notes+s.Notes, titles+s.Title+"\n"
		if !strings.Contains(strings.Join(s.Texts, "\n"), byAI) {
			t.Errorf("%s does not say what made it", s.Title)
		}
	}
	if len(slides) != 11 || rows != 22 || charts != 3 || pictures != 1 || notes != "Say it slowly.\nThen wait." {
		t.Errorf("%d slides, %d rows, %d charts, %d pictures, notes %q", len(slides), rows, charts, pictures, notes)
	}
	for _, want := range []string{`Week 42 & "more" <script>alert(1)</script>`, "A second line.", "=two", "[1] The board  " +
		"https://example.com/board?a=1&b=2"} {
		if !strings.Contains(texts, want) {
			t.Errorf("no slide says %q: %s", want, texts)
		}
	}
	if got, _ := json.Marshal(slides[3].Charts); string(got) != `[[["mon","tue"],[[3,-1.5],[0,2]]]]` {
		t.Errorf("the chart has %s", got)
	}
	office(t, file)
}

// office has LibreOffice turn slides into a PDF, page by page.
func office(t *testing.T, file string) {
	t.Helper()
	dir := filepath.Dir(file)
	cmd := exec.CommandContext(t.Context(), testenv.Tool(t, "soffice"), "-env:UserInstallation=file://"+filepath.Join(dir,
		"profile"), "--headless",
		"--convert-to", "pdf", "--outdir", dir, file)
	cmd.Env = append(testenv.Env(t), "HOME="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("LibreOffice: %v\n%s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(dir, "deck.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), "/Type/Page/") + strings.Count(string(data), "/Type/Page\n") + strings.Count(string(data),
		"/Type /Page\n"); n != 11 {
		t.Errorf("LibreOffice made %d pages", n)
	}
}

// A page has what the document says, as text; it has no script and asks for nothing.
func TestPages(t *testing.T) {
	page := string(made(t, "html", as(t, sample())).Data)
	for _, want := range []string{"&lt;script&gt;alert(1)", `<a href="#s1">[1]</a>`, "Two are late [9]", "<svg",
		"data:image/png;base64,", byAI,
		`href="https://example.com/board?a=1&amp;b=2"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, never := range []string{"<script", "onerror=", "<link", `src="http`} {
		if strings.Contains(page, never) {
			t.Errorf("the page has %q", never)
		}
	}
	plain, err := To("html", as(t, sample()), false)
	if err != nil || strings.Contains(string(plain.Data), byAI) {
		t.Errorf("it is marked against the setting: %v", err)
	}
	text := string(made(t, "markdown", as(t, sample())).Data)
	for _, want := range []string{"# Week 42", "&lt;script>", "| task | days | done |", "| mon | 3 | 0 |", "!\\[x](", "[1] The " +
		"board <https://example.com", byAI} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
}

// A table is CSV that no spreadsheet computes; a value is JSON.
func TestTables(t *testing.T) {
	got := string(made(t, "csv", as(t, []any{map[string]any{"b": "=1+1", "a": -2.5}, map[string]any{"a": "-x", "c": "x,\"y"}})).Data)
	if want := "a,b,c\n-2.5,'=1+1,\n'-x,,\"x,\"\"y\"\n"; got != want {
		t.Errorf("the table is %q, not %q", got, want)
	}
	if got := string(made(t, "json", `{"a": [1]}`).Data); got != "{\n  \"a\": [\n    1\n  ]\n}" {
		t.Errorf("the value is %s", got)
	}
}

// Wherever a spreadsheet thinks that cells are parted, none is computed.
func TestNoCellIsAFormula(t *testing.T) {
	for _, cell := range []string{"=1+1", " =1+1", "a;=1+1", "a\t@x", "a\n=1+1", "\n=1", "＝1+1", "a;-x", "a|+x", "a;\t=1", "\"=1\";=2"} {
		made := string(made(t, "csv", as(t, []any{map[string]any{"a": "x", "b": cell}})).Data)
		if wrong := check.Look("csv", made, len(made), check.Want{Checks: []string{"no-active-content"}}, nil); len(wrong) > 0 {
			t.Errorf("%q became %q: %v", cell, made, wrong)
		}
	}
	if made := string(made(t, "csv", as(t, []any{map[string]any{"a": -2, "b": "1;-2"}})).Data); made != "a,b\n-2,\"1;-2\"\n" {
		t.Errorf("numbers became %q", made)
	}
}

// What makers make passes the checks that its automation may ask for, whatever its words are; and no words become code.
func TestWhatIsMadePassesItsChecks(t *testing.T) {
	d := sample()
	d.Sections[0].Title, d.Sections[4].Chart.Labels[0] = "JavaScript: a review", "JavaScript"
	d.Sections[0].Text = "Twelve [1].\n\n[x](javascript:alert(1)) [y][z]\n\n[z]: javascript:alert(1)"
	d.Sections[2].Title, d.Sections[1].Bullets[0] = "JavaScript", "JavaScript: 3 fixes"
	for kind, checks := range map[string][]string{"html": {"no-active-content", "citations"}, "markdown": {"no-active-content", "citations"}} {
		m := made(t, kind, as(t, d))
		if wrong := check.Look(kind, m.Text, len(m.Data), check.Want{Checks: checks}, nil); len(wrong) > 0 {
			t.Errorf("%s: %v\n%s", kind, wrong, m.Text)
		}
	}
}

// What is no document is refused, with all that its writer has to mend.
func TestWhatIsNoDocument(t *testing.T) {
	for name, one := range map[string]struct {
		change func(*Document)
		want   string
	}{
		"no title":       {func(d *Document) { d.Title = " " }, "title is empty"},
		"no section":     {func(d *Document) { d.Sections = nil }, "at least one"},
		"a long bullet":  {func(d *Document) { d.Sections[1].Bullets[0] = strings.Repeat("x", 2000) }, "2000 bytes"},
		"a short row":    {func(d *Document) { d.Sections[5].Table.Rows[1] = []any{1} }, "row 2 of its table"},
		"an odd chart":   {func(d *Document) { d.Sections[2].Chart.Kind = "cake" }, "bar, line or pie"},
		"too few values": {func(d *Document) { d.Sections[2].Chart.Series[0].Values = nil }, "0 values for 2 labels"},
		"no picture": {func(d *Document) { d.Sections[6].Image.Data = base64.StdEncoding.EncodeToString([]byte("<svg/>")) },
			"no PNG"},
		"an odd address":     {func(d *Document) { d.Sources[0].URL = "javascript:alert(1)" }, "https://"},
		"HTML in an address": {func(d *Document) { d.Sources[0].URL = "https://a><svg/onload=alert(1)><b" }, "https://"},
		"no host":            {func(d *Document) { d.Sources[0].URL = "https:///x" }, "https://"},
		"a long column":      {func(d *Document) { d.Sections[5].Table.Columns[0] = strings.Repeat("x", 300) }, "300 bytes"},
		"a long label":       {func(d *Document) { d.Sections[2].Chart.Labels[0] = strings.Repeat("x", 300) }, "300 bytes"},
		"too many slides":    {func(d *Document) { d.Sections[0].Text = strings.Repeat("x\n", 9000) }, "300 slides"},
		"an odd layout":      {func(d *Document) { d.Sections[0].Layout = "spiral" }, "section or content"},
		"a section alone":    {func(d *Document) { d.Sections = make([]Section, 200) }, "200 sections"},
	} {
		d := sample()
		one.change(d)
		if _, err := To("pptx", as(t, d), false); err == nil || !strings.Contains(err.Error(), one.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Read(map[string]any{"title": "x", "slides": 3}); err == nil || !strings.Contains(err.Error(), `"slides"`) {
		t.Errorf("a field that nobody knows: %v", err)
	}
}
