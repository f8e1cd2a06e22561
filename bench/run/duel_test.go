package main

import (
	"strings"
	"testing"
)

func TestAmounts(t *testing.T) {
	for value, want := range map[string]struct {
		n    float64
		more bool
		ok   bool
	}{
		"4589/s":                {4589, true, true},
		"3.88 ms":               {3.88, false, true},
		"125ms":                 {125, false, true},
		"1.863s":                {1863, false, true},
		"482 ns, 2 allocations": {482e-6, false, true},
		"42 MB":                 {42000, false, true},
		"20 of 20":              {0, false, false},
		"":                      {0, false, false},
	} {
		if n, more, ok := amount(value); ok != want.ok || ok && (n < want.n*0.999 || n > want.n*1.001 || more != want.more) {
			t.Errorf("%q is %v, %t, %t", value, n, more, ok)
		}
	}
}

const sampled = "# Measurements\n\nMade …\n\n## One thing\nhow\n\n| what | measured | compared with | target | met " +
	"|\n|---|---|---|---|---|\n" +
	"| read, 1 caller(s) | 6382/s | 1/s | | |\n| start | 125ms |  | < 300 ms | yes |\n\n" +
	"## Another\nhow\n\n| what | measured | compared with | target | met |\n" +
	"|---|---|---|---|---|\n| start | 2 ms |  |  |  |\n"

func TestReadings(t *testing.T) {
	got := readings(sampled)
	if len(got) != 3 || got["One thing: read, 1 caller(s)"] != "6382/s" || got["Another: start"] != "2 ms" {
		t.Errorf("%q", got)
	}
}

// A row is worse when the median is, and every round says so.
func TestWorseIsSaidFirst(t *testing.T) {
	even := outcome{row: row{name: "even"}, ours: []float64{1, 1.2, 1.2}, theirs: []float64{1.1, 1, 1}}
	slow := outcome{row: row{name: "slow"}, ours: []float64{1.1, 1.2, 1.3}, theirs: []float64{1, 1, 1}}
	if even.worse() || !slow.worse() || even.agree() != "2 slower, 1 faster" || slow.agree() != "all slower" {
		t.Errorf("%s, %s", even.agree(), slow.agree())
	}
	text := duelText([]outcome{even, slow}, []float64{1, 2, 3}, "b13b6e2", 3)
	if strings.Index(text, "**worse** slow") > strings.Index(text, "| even") || !strings.Contains(text, "**worse** slow") {
		t.Error(text)
	}
}

func TestSpread(t *testing.T) {
	if m, low, high := spread([]float64{3, 1, 2, 10}); m != 2.5 || low != 1 || high != 10 {
		t.Errorf("%v %v %v", m, low, high)
	}
}
