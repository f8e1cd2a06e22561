package make

import (
	"fmt"
	"strings"
)

// inert takes the effect out of what a text could do in Markdown: raw HTML, pictures that are fetched, and links that lead to no page.
var inert = strings.NewReplacer("<", "&lt;", "![", "!\\[", "](https://", "](https://", "](http://", "](http://", "](", "]\\(", "]:", "]\\:")

// linked is an address as it stands between < and >.
var linked = strings.NewReplacer("<", "%3C", ">", "%3E", " ", "%20", `\`, "%5C")

// plain is a text on one line.
func plain(s string) string { return inert.Replace(strings.Join(strings.Fields(s), " ")) }

// markdown is the document as a report, and as the text by which other kinds are compared.
func (d *Document) markdown(mark bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", plain(d.Title))
	if d.Subtitle != "" {
		fmt.Fprintf(&b, "\n%s\n", plain(d.Subtitle))
	}
	for i := range d.Sections {
		d.Sections[i].markdown(&b)
	}
	if len(d.Sources) > 0 {
		b.WriteString("\n## Sources\n\n")
		for i, s := range d.Sources {
			fmt.Fprintf(&b, "[%d] %s <%s>\n\n", i+1, plain(s.Title), linked.Replace(s.URL))
		}
	}
	if mark {
		fmt.Fprintf(&b, "\n---\n\n*%s*\n", byAI)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func (s *Section) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s\n", plain(s.Title))
	for _, p := range paragraphs(s.Text) {
		fmt.Fprintf(b, "\n%s\n", inert.Replace(p))
	}
	if len(s.Bullets) > 0 {
		b.WriteString("\n")
		for _, one := range s.Bullets {
			fmt.Fprintf(b, "- %s\n", plain(one))
		}
	}
	if s.Table != nil {
		s.Table.markdown(b)
	}
	if s.Chart != nil {
		s.Chart.table().markdown(b)
	}
	if s.Image != nil {
		fmt.Fprintf(b, "\n(image: %s)\n", plain(s.Image.Alt))
	}
	if s.Notes != "" {
		fmt.Fprintf(b, "\n> %s\n", plain(s.Notes))
	}
}

func (t *Table) markdown(b *strings.Builder) {
	line := func(values []string) {
		for _, v := range values {
			fmt.Fprintf(b, "| %s ", strings.ReplaceAll(plain(v), "|", `\|`))
		}
		b.WriteString("|\n")
	}
	b.WriteString("\n")
	line(t.Columns)
	b.WriteString(strings.Repeat("|---", len(t.Columns)) + "|\n")
	for _, r := range t.Rows {
		texts := make([]string, len(r))
		for i, v := range r {
			texts[i] = cell(v)
		}
		line(texts)
	}
}

// table is a chart as its numbers.
func (c *Chart) table() *Table {
	t := &Table{Columns: []string{""}}
	for _, s := range c.Series {
		t.Columns = append(t.Columns, s.Name)
	}
	for i, label := range c.Labels {
		row := []any{label}
		for _, s := range c.Series {
			row = append(row, s.Values[i])
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
