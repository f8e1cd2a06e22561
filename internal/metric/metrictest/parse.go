// Package metrictest examines pages of metrics as Prometheus reads them. For tests alone.
package metrictest

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Parse reads what Prometheus reads, and refuses what breaks the format's written rules: names, escapes, a TYPE line before the
// samples of its name and once, the lines of one name together, each sample once, counters that are not negative, histograms whose
// buckets grow and end in +Inf with the count. It is how the program's own page is examined.
func Parse(text string) (map[string]float64, error) {
	if text != "" && !strings.HasSuffix(text, "\n") {
		return nil, fmt.Errorf("the last line does not end")
	}
	p := parser{samples: map[string]float64{}, types: map[string]string{}, done: map[string]bool{}, buckets: map[string][]bucket{}}
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("line %d, %q: %w", n+1, line, err)
		}
	}
	return p.samples, p.histograms()
}

type bucket struct{ le, count float64 }

type parser struct {
	samples map[string]float64
	types   map[string]string
	done    map[string]bool // names whose lines are over
	current string
	buckets map[string][]bucket // by the histogram's name and its other labels
}

var (
	metricName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*`)
	labelPair  = regexp.MustCompile(`^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"`)
	comment    = regexp.MustCompile(`^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*)(?: (.*))?$`)
	kinds      = regexp.MustCompile(`^(counter|gauge|histogram|summary|untyped)$`)
)

func (p *parser) line(line string) error {
	if strings.HasPrefix(line, "#") {
		m := comment.FindStringSubmatch(line)
		if m == nil {
			return nil // any other comment
		}
		if err := p.family(m[2]); err != nil {
			return err
		}
		if m[1] == "TYPE" {
			if !kinds.MatchString(m[3]) {
				return fmt.Errorf("%q is no type", m[3])
			}
			if p.types[m[2]] != "" {
				return fmt.Errorf("its type was told before")
			}
			p.types[m[2]] = m[3]
		}
		return nil
	}
	name := metricName.FindString(line)
	if name == "" {
		return fmt.Errorf("it begins with no name")
	}
	rest, labels, le, err := readLabels(line[len(name):])
	if err != nil {
		return err
	}
	value, _, _ := strings.Cut(strings.TrimPrefix(rest, " "), " ")
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || !strings.HasPrefix(rest, " ") {
		return fmt.Errorf("%q is no number", rest)
	}
	base := p.base(name)
	if err := p.family(base); err != nil {
		return err
	}
	if p.types[base] == "" {
		p.types[base] = "untyped" // a TYPE line that comes now comes too late
	}
	if p.types[base] == "counter" && (v < 0 || math.IsNaN(v)) {
		return fmt.Errorf("a counter is not negative")
	}
	key := line[:len(line)-len(rest)]
	if _, twice := p.samples[key]; twice {
		return fmt.Errorf("it is there twice")
	}
	p.samples[key] = v
	if base != name && strings.HasSuffix(name, "_bucket") {
		bound, err := strconv.ParseFloat(le, 64)
		if err != nil {
			return fmt.Errorf("a bucket needs le")
		}
		set := base + "{" + labels + "}"
		p.buckets[set] = append(p.buckets[set], bucket{bound, v})
	}
	return nil
}

// base is the name that a sample belongs to: a histogram's lines have suffixes.
func (p *parser) base(name string) string {
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if b, ok := strings.CutSuffix(name, suffix); ok && p.types[b] == "histogram" {
			return b
		}
	}
	return name
}

// family says that the lines of a name come together.
func (p *parser) family(name string) error {
	if name == p.current {
		return nil
	}
	if p.done[name] {
		return fmt.Errorf("lines of %s stand apart", name)
	}
	p.done[p.current], p.current = true, name
	return nil
}

// readLabels reads {a="b",…}; le is taken out.
func readLabels(s string) (rest, labels, le string, err error) {
	if !strings.HasPrefix(s, "{") {
		return s, "", "", nil
	}
	var others []string
	for s = s[1:]; !strings.HasPrefix(s, "}"); {
		m := labelPair.FindStringSubmatch(s)
		if m == nil {
			return "", "", "", fmt.Errorf("labels are malformed at %q", s)
		}
		if m[1] == "le" {
			le = m[2]
		} else {
			others = append(others, m[0])
		}
		s = strings.TrimPrefix(s[len(m[0]):], ",")
	}
	return s[1:], strings.Join(others, ","), le, nil
}

func (p *parser) histograms() error {
	for set, all := range p.buckets {
		last := bucket{math.Inf(-1), 0}
		for _, b := range all {
			if b.le <= last.le || b.count < last.count {
				return fmt.Errorf("the buckets of %s do not grow", set)
			}
			last = b
		}
		name, labels, _ := strings.Cut(set, "{")
		count, ok := p.samples[strings.TrimSuffix(name+"_count{"+labels, "{}")]
		if !math.IsInf(last.le, 1) || !ok || count != last.count {
			return fmt.Errorf("the buckets of %s do not end with the count", set)
		}
	}
	return nil
}
