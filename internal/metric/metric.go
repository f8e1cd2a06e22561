package metric

import (
	"fmt"
	"io"
	"math"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// ContentType is what a scraper is told it gets.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Set is a program's metrics, in the order in which they were made.
type Set struct {
	all []writer
}

type writer interface{ write(b *strings.Builder) }

// family is what the lines of one name share.
type family struct {
	name, help, kind string
	labels           []string
}

func (f family) head(b *strings.Builder) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", f.name, helpText.Replace(f.help), f.name, f.kind)
}

// line writes one sample. extra is a label of the format's own, as le.
func (f family) line(b *strings.Builder, suffix string, values []string, extra string, v float64) {
	b.WriteString(f.name + suffix)
	var parts []string
	for i, l := range f.labels {
		parts = append(parts, l+`="`+labelText.Replace(values[i])+`"`)
	}
	if extra != "" {
		parts = append(parts, extra)
	}
	if len(parts) > 0 {
		b.WriteString("{" + strings.Join(parts, ",") + "}")
	}
	b.WriteString(" " + number(v) + "\n")
}

var (
	helpText  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelText = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

func number(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	case math.IsNaN(v):
		return "NaN"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Counter only grows.
type Counter struct {
	family
	mu   sync.Mutex
	rows map[string]*row
}

type row struct {
	values []string
	n      float64
	counts []uint64 // of a histogram: how many fell into each bucket, the last one without a bound
}

// Counter makes a counter; its name ends in _total.
func (s *Set) Counter(name, help string, labels ...string) *Counter {
	c := &Counter{family: family{name, help, "counter", labels}, rows: map[string]*row{}}
	s.all = append(s.all, c)
	return c
}

// Add counts n more.
func (c *Counter) Add(n float64, values ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at(c.rows, c.family, values, 0).n += n
}

// at is the row of some labels' values. As many as there are labels, or it is a bug.
func at(rows map[string]*row, f family, values []string, buckets int) *row {
	if len(values) != len(f.labels) {
		panic(fmt.Sprintf("metric %s has %d labels, not %d", f.name, len(f.labels), len(values)))
	}
	key := strings.Join(values, "\x00")
	r := rows[key]
	if r == nil {
		r = &row{values: append([]string(nil), values...), counts: make([]uint64, buckets)}
		rows[key] = r
	}
	return r
}

func sorted(rows map[string]*row) []*row {
	keys := make([]string, 0, len(rows))
	for k := range rows {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	out := make([]*row, len(keys))
	for i, k := range keys {
		out[i] = rows[k]
	}
	return out
}

func (c *Counter) write(b *strings.Builder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.head(b)
	for _, r := range sorted(c.rows) {
		c.line(b, "", r.values, "", r.n)
	}
	if len(c.labels) == 0 && len(c.rows) == 0 {
		c.line(b, "", nil, "", 0)
	}
}

// Histogram counts how long things took.
type Histogram struct {
	family
	bounds []float64
	mu     sync.Mutex
	rows   map[string]*row
}

// Histogram makes a histogram with these upper bounds, which grow.
func (s *Set) Histogram(name, help string, bounds []float64, labels ...string) *Histogram {
	h := &Histogram{family: family{name, help, "histogram", labels}, bounds: bounds, rows: map[string]*row{}}
	s.all = append(s.all, h)
	return h
}

// Observe counts one value.
func (h *Histogram) Observe(v float64, values ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := at(h.rows, h.family, values, len(h.bounds)+1)
	r.n += v
	r.counts[sort.SearchFloat64s(h.bounds, v)]++
}

func (h *Histogram) write(b *strings.Builder) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.head(b)
	for _, r := range sorted(h.rows) {
		var sum uint64
		for i, n := range r.counts {
			sum += n
			bound := math.Inf(1)
			if i < len(h.bounds) {
				bound = h.bounds[i]
			}
			h.line(b, "_bucket", r.values, `le="`+number(bound)+`"`, float64(sum))
		}
		h.line(b, "_sum", r.values, "", r.n)
		h.line(b, "_count", r.values, "", float64(sum))
	}
}

// sampled is read when somebody scrapes.
type sampled struct {
	family
	read func(tell func(v float64, values ...string))
}

// Gauge makes a gauge that is read when somebody scrapes; read tells nothing where it does not know.
func (s *Set) Gauge(name, help string, read func(tell func(v float64, values ...string)), labels ...string) {
	s.all = append(s.all, &sampled{family{name, help, "gauge", labels}, read})
}

// Total makes a counter that somebody else keeps.
func (s *Set) Total(name, help string, read func(tell func(v float64, values ...string)), labels ...string) {
	s.all = append(s.all, &sampled{family{name, help, "counter", labels}, read})
}

func (g *sampled) write(b *strings.Builder) {
	g.head(b)
	g.read(func(v float64, values ...string) {
		if len(values) != len(g.labels) {
			panic("metric " + g.name + ": a label is missing")
		}
		g.line(b, "", values, "", v)
	})
}

// Write writes all of it.
func (s *Set) Write(w io.Writer) error {
	var b strings.Builder
	for _, m := range s.all {
		m.write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
