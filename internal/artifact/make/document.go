package make

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math"
	"net/url"
	"strings"
)

// Document is what reports, pages and slides are made from.
type Document struct {
	Title    string    `json:"title"`
	Subtitle string    `json:"subtitle,omitempty"`
	Sections []Section `json:"sections"`
	Sources  []Cited   `json:"sources,omitempty"` // cited in texts as [1], [2], …
}

// Section is a part of a document, and a slide.
type Section struct {
	Layout  string   `json:"layout,omitempty"` // section for a slide with a title alone; by its content when left out
	Title   string   `json:"title"`
	Text    string   `json:"text,omitempty"` // paragraphs
	Bullets []string `json:"bullets,omitempty"`
	Table   *Table   `json:"table,omitempty"`
	Chart   *Chart   `json:"chart,omitempty"`
	Image   *Image   `json:"image,omitempty"`
	Notes   string   `json:"notes,omitempty"` // for whoever speaks
}

// Table has a row of names and rows of as many values.
type Table struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
}

// Chart draws a value for each label, once for each series.
type Chart struct {
	Kind   string   `json:"kind"` // bar, line or pie
	Labels []string `json:"labels"`
	Series []Series `json:"series"`
}

// Series is one row of numbers.
type Series struct {
	Name   string    `json:"name"`
	Values []float64 `json:"values"`
}

// Image is a PNG or JPEG.
type Image struct {
	Data string `json:"data"` // base64
	Alt  string `json:"alt"`

	bytes         []byte
	format        string
	width, height int
}

// Cited is one source.
type Cited struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

// How large a document may be.
const (
	maxSections = 100
	maxBullets  = 40
	maxText     = 20_000
	maxLine     = 1000
	maxLabel    = 200
	maxColumns  = 20
	maxRows     = 500
	maxSeries   = 8
	maxLabels   = 60
	maxImage    = 1 << 20
	maxPixels   = 16_000_000 // of an image
	maxImages   = 10
	maxSources  = 200
	maxSlides   = 300
)

// Read reads a document from a value, or says what is wrong with it so that its writer can mend it.
func Read(v any) (*Document, error) {
	data, ok := []byte(nil), false
	if s, is := v.(string); is {
		data, ok = []byte(s), true
	}
	if !ok {
		var err error
		if data, err = json.Marshal(v); err != nil {
			return nil, err
		}
	}
	var d Document
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return nil, fmt.Errorf("it is no document: %w", err)
	}
	return &d, d.check()
}

func (d *Document) check() error {
	var wrong []error
	no := func(format string, args ...any) {
		if len(wrong) < 20 {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	line := func(what, s string) {
		if len(s) > maxLine {
			no("%s has %d bytes; %d are allowed", what, len(s), maxLine)
		}
	}
	if strings.TrimSpace(d.Title) == "" {
		no("title is empty")
	}
	line("title", d.Title)
	line("subtitle", d.Subtitle)
	if len(d.Sections) == 0 || len(d.Sections) > maxSections {
		no("there are %d sections; there is at least one, and at most %d", len(d.Sections), maxSections)
	}
	if len(d.Sources) > maxSources {
		no("there are %d sources; %d are allowed", len(d.Sources), maxSources)
	}
	for i, c := range d.Sources {
		line(fmt.Sprintf("the title of source %d", i+1), c.Title)
		if line(fmt.Sprintf("the url of source %d", i+1), c.URL); !page(c.URL) {
			no("the url of source %d is no address of a page, as https://example.com/page", i+1)
		}
	}
	images := 0
	for i := range d.Sections {
		s := &d.Sections[i]
		s.check(func(format string, args ...any) { no("section %d: "+format, append([]any{i + 1}, args...)...) }, line)
		if s.Image != nil {
			images++
		}
	}
	if images > maxImages {
		no("there are %d images; %d are allowed", images, maxImages)
	}
	return errors.Join(wrong...)
}

// page reports whether an address is one of a page, and nothing else can be made of it.
func page(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil &&
		!strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || strings.ContainsRune("<>\"`", r) })
}

func (s *Section) check(no func(string, ...any), line func(what, s string)) {
	if strings.TrimSpace(s.Title) == "" {
		no("its title is empty")
	}
	line("a title", s.Title)
	switch {
	case s.Layout != "" && s.Layout != "section" && s.Layout != "content":
		no("its layout is %.20q; it is section or content, or left out", s.Layout)
	case len(s.Text) > maxText || len(s.Notes) > maxText:
		no("its text and its notes have at most %d bytes each", maxText)
	case len(s.Bullets) > maxBullets:
		no("it has %d bullets; %d are allowed", len(s.Bullets), maxBullets)
	}
	for _, b := range s.Bullets {
		line("a bullet", b)
	}
	if s.Table != nil {
		s.Table.check(no)
	}
	if s.Chart != nil {
		s.Chart.check(no)
	}
	if s.Image != nil {
		line("the alt of an image", s.Image.Alt)
		s.Image.read(no)
	}
}

func (t *Table) check(no func(string, ...any)) {
	if len(t.Columns) == 0 || len(t.Columns) > maxColumns || len(t.Rows) > maxRows {
		no("a table has 1 to %d columns and at most %d rows; this has %d and %d", maxColumns, maxRows, len(t.Columns), len(t.Rows))
	}
	for _, c := range t.Columns {
		if len(c) > maxLabel {
			no("a column of its table has a name of %d bytes; %d are allowed", len(c), maxLabel)
		}
	}
	for i, r := range t.Rows {
		if len(r) != len(t.Columns) {
			no("row %d of its table has %d values for %d columns", i+1, len(r), len(t.Columns))
			return
		}
		for _, v := range r {
			if len(cell(v)) > maxLine {
				no("a value in row %d of its table has more than %d bytes", i+1, maxLine)
				return
			}
		}
	}
}

func (c *Chart) check(no func(string, ...any)) {
	if c.Kind != "bar" && c.Kind != "line" && c.Kind != "pie" {
		no("its chart is a %.20q; it is bar, line or pie", c.Kind)
	}
	if len(c.Labels) == 0 || len(c.Labels) > maxLabels || len(c.Series) == 0 || len(c.Series) > maxSeries ||
		c.Kind == "pie" && len(c.Series) > 1 {
		no("a chart has 1 to %d labels and 1 to %d series, a pie one; this has %d and %d", maxLabels, maxSeries, len(c.Labels),
			len(c.Series))
	}
	for _, l := range c.Labels {
		if len(l) > maxLabel {
			no("a label of its chart has %d bytes; %d are allowed", len(l), maxLabel)
		}
	}
	for _, s := range c.Series {
		if len(s.Name) > maxLabel {
			no("a series of its chart has a name of %d bytes; %d are allowed", len(s.Name), maxLabel)
		}
		if len(s.Values) != len(c.Labels) {
			no("the series %.40q of its chart has %d values for %d labels", s.Name, len(s.Values), len(c.Labels))
		}
		for _, v := range s.Values {
			if math.IsNaN(v) || math.Abs(v) > 1e15 || v < 0 && c.Kind == "pie" {
				no("the series %.40q of its chart has a value that cannot be drawn", s.Name)
			}
		}
	}
}

func (m *Image) read(no func(string, ...any)) {
	data, err := base64.StdEncoding.DecodeString(m.Data)
	if err != nil || len(data) > maxImage {
		no("its image is no base64, or has more than %d bytes", maxImage)
		return
	}
	shape, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || shape.Width < 1 || shape.Height < 1 || shape.Width > 10_000 || shape.Height > 10_000 ||
		shape.Width*shape.Height > maxPixels {
		no("its image is no PNG or JPEG of a usual size")
		return
	}
	if data, err = redrawn(data, format); err != nil || len(data) > maxImage {
		no("its image is cut or damaged, or has more than %d bytes", maxImage)
		return
	}
	m.bytes, m.format, m.width, m.height = data, format, shape.Width, shape.Height
}

// redrawn is an image of its pixels alone: a cut one is refused, and what else was in the file does not come along.
func redrawn(data []byte, format string) ([]byte, error) {
	picture, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if format == "jpeg" {
		err = jpeg.Encode(&out, picture, &jpeg.Options{Quality: 92})
	} else {
		err = png.Encode(&out, picture)
	}
	return out.Bytes(), err
}

// cell is a value of a table as text.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}

// paragraphs are the texts between empty lines.
func paragraphs(text string) (out []string) {
	for _, p := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

// byAI is what stands in what a model had a hand in.
const byAI = "Made with AI by an automation. A person should check it."
