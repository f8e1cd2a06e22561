package make

import (
	"encoding/base64"
	"fmt"
	"html"
	"regexp"
	"strings"
)

// style needs no file from elsewhere, and follows the reader's choice of light or dark.
const style = `:root{color-scheme:light dark;--ink:#1c2430;--dim:#5b6675;--line:#d5dbe3;--card:#f6f8fa;--paper:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#e6eaf0;--dim:#9aa5b4;--line:#333c48;--card:#1b222b;--paper:#12171d}}
body{margin:0 auto;max-width:60rem;padding:2rem 1rem;font:16px/1.55 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
h1{margin:0 0 .25rem}header p,footer,figcaption,.notes{color:var(--dim)}
section{margin:1.5rem 0;padding:1rem 1.25rem;border:1px solid var(--line);border-radius:.5rem;background:var(--card);overflow-x:auto}
h2{margin:0 0 .5rem;font-size:1.2rem}table{border-collapse:collapse}
th,td{padding:.3rem .8rem;border-bottom:1px solid var(--line);text-align:left}
td.n{text-align:right;font-variant-numeric:tabular-nums}
img,svg{max-width:100%;height:auto}svg text{fill:var(--ink);font:12px system-ui,sans-serif}
figure{margin:1rem 0}`

var esc = html.EscapeString

var mark = regexp.MustCompile(`\[([0-9]{1,3})\]`)

// cited is a text whose marks lead to the sources.
func (d *Document) cited(s string) string {
	return mark.ReplaceAllStringFunc(esc(s), func(m string) string {
		n := 0
		fmt.Sscanf(m, "[%d]", &n) //nolint:errcheck // the form says that it is a number
		if n < 1 || n > len(d.Sources) {
			return m
		}
		return fmt.Sprintf(`<a href="#s%d">%s</a>`, n, m)
	})
}

// html is the document as one page: no script, nothing from elsewhere.
func (d *Document) html(ai bool) string {
	var b strings.Builder
	b.WriteString("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n" +
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
	if ai {
		fmt.Fprintf(&b, "<meta name=\"generator\" content=\"%s\">\n", byAI)
	}
	fmt.Fprintf(&b, "<title>%s</title>\n<style>%s</style>\n</head>\n<body>\n<header><h1>%s</h1>", esc(d.Title), style, esc(d.Title))
	if d.Subtitle != "" {
		fmt.Fprintf(&b, "<p>%s</p>", esc(d.Subtitle))
	}
	b.WriteString("</header>\n<main>\n")
	for i := range d.Sections {
		d.section(&b, &d.Sections[i])
	}
	if len(d.Sources) > 0 {
		b.WriteString("<section><h2>Sources</h2><ul style=\"list-style: none; padding: 0\">\n")
		for i, s := range d.Sources {
			fmt.Fprintf(&b, "<li id=\"s%d\">[%d] <a href=\"%s\" rel=\"noreferrer\">%s</a></li>\n", i+1, i+1, esc(s.URL), esc(s.Title))
		}
		b.WriteString("</ul></section>\n")
	}
	b.WriteString("</main>\n")
	if ai {
		fmt.Fprintf(&b, "<footer><p>%s</p></footer>\n", byAI)
	}
	b.WriteString("</body>\n</html>\n")
	return b.String()
}

func (d *Document) section(b *strings.Builder, s *Section) {
	fmt.Fprintf(b, "<section><h2>%s</h2>\n", esc(s.Title))
	for _, p := range paragraphs(s.Text) {
		fmt.Fprintf(b, "<p>%s</p>\n", strings.ReplaceAll(d.cited(p), "\n", "<br>"))
	}
	if len(s.Bullets) > 0 {
		b.WriteString("<ul>\n")
		for _, one := range s.Bullets {
			fmt.Fprintf(b, "<li>%s</li>\n", d.cited(one))
		}
		b.WriteString("</ul>\n")
	}
	if s.Chart != nil {
		fmt.Fprintf(b, "<figure>%s</figure>\n", s.Chart.svg(s.Title))
	}
	if s.Table != nil {
		s.Table.html(b, d.cited)
	}
	if s.Image != nil {
		fmt.Fprintf(b, "<figure><img alt=\"%s\" src=\"data:image/%s;base64,%s\"></figure>\n", esc(s.Image.Alt), s.Image.format,
			base64.StdEncoding.EncodeToString(s.Image.bytes))
	}
	if s.Notes != "" {
		fmt.Fprintf(b, "<p class=\"notes\">%s</p>\n", esc(s.Notes))
	}
	b.WriteString("</section>\n")
}

func (t *Table) html(b *strings.Builder, text func(string) string) {
	b.WriteString("<table><thead><tr>")
	for _, c := range t.Columns {
		fmt.Fprintf(b, "<th>%s</th>", text(c))
	}
	b.WriteString("</tr></thead><tbody>\n")
	for _, r := range t.Rows {
		b.WriteString("<tr>")
		for _, v := range r {
			class := ""
			if _, number := v.(float64); number {
				class = ` class="n"`
			}
			fmt.Fprintf(b, "<td%s>%s</td>", class, text(cell(v)))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table>\n")
}
