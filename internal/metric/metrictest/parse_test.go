package metrictest

import (
	"math"
	"strings"
	"testing"

	"tandem/internal/metric"
)

// What is written reads back as what was counted, whatever a label or a help text holds.
func TestWhatIsWrittenIsTheFormat(t *testing.T) {
	var s metric.Set
	c := s.Counter("a_total", "Back\\slash and\nline.", "what")
	c.Add(1, "plain")
	c.Add(2.5, "quo\"te back\\slash new\nline")
	s.Counter("none_total", "Nothing yet.").Add(0)
	h := s.Histogram("took_seconds", "How long.", []float64{0.1, 1}, "class")
	for _, v := range []float64{0.05, 0.1, 0.5, 7} {
		h.Observe(v, "read")
	}
	s.Gauge("odd", "Odd numbers.", func(tell func(float64, ...string)) {
		tell(math.Inf(1), "a")
		tell(math.NaN(), "b")
		tell(1e21, "c")
	}, "n")
	var b strings.Builder
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := Parse(b.String())
	if err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	for line, want := range map[string]float64{
		`a_total{what="plain"}`:                         1,
		`a_total{what="quo\"te back\\slash new\nline"}`: 2.5,
		`none_total`: 0,
		`took_seconds_bucket{class="read",le="0.1"}`:  2,
		`took_seconds_bucket{class="read",le="1"}`:    3,
		`took_seconds_bucket{class="read",le="+Inf"}`: 4,
		`took_seconds_count{class="read"}`:            4,
		`took_seconds_sum{class="read"}`:              7.65,
		`odd{n="a"}`:                                  math.Inf(1),
		`odd{n="c"}`:                                  1e21,
	} {
		if v, ok := got[line]; !ok || math.Abs(v-want) > 1e-9 && v != want {
			t.Errorf("%s is %v (there: %v), not %v", line, v, ok, want)
		}
	}
}

// The exam refuses what Prometheus refuses.
func TestTheExamRefuses(t *testing.T) {
	for _, bad := range []string{
		"a 1", // no newline at the end
		"# TYPE a counter\n# TYPE a counter\na 1\n", // told twice
		"a 1\n# TYPE a counter\n",                   // told too late
		"# TYPE a wrong\n",
		"1a 1\n",
		"a{1b=\"x\"} 1\n",
		"a{b=\"x} 1\n",
		"a{b=\"\\q\"} 1\n",
		"a x\n",
		"a 1\na 1\n", // the same sample twice
		"# TYPE a counter\na 1\nb 1\na{x=\"y\"} 1\n", // lines of one name apart
		"# TYPE a counter\na -1\n",
		"# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 1\n",
		"# TYPE h histogram\nh_bucket{le=\"1\"} 1\nh_sum 1\nh_count 1\n",
		"# TYPE h histogram\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 2\n",
	} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("taken: %q", bad)
		}
	}
}
