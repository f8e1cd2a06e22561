package text

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// red is a palette with which labels can be seen.
var red = NewColours([]Rule{
	{[]string{"error"}, Style{FG: "5;1"}},
	{[]string{"error", "heading"}, Style{Bold: On}},
	{[]string{"link"}, Style{Underline: On, BG: "2;1;2;3"}},
}, false)

func painted(t *testing.T, c *Colours, x *Text) string {
	t.Helper()
	var b strings.Builder
	if err := c.WriteTo(&b, x); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func labelled(parts ...string) *Text {
	x := &Text{Colour: true}
	for i := 0; i < len(parts); i += 2 {
		x.Label(parts[i], parts[i+1])
	}
	return x
}

func TestColours(t *testing.T) {
	x := labelled("error", "bad", "", " ", "error heading", "Head", "", "x", "link", "here\nthere")
	want := "\x1b[38;5;1mbad\x1b[39m \x1b[1m\x1b[38;5;1mHead\x1b[0mx\x1b[4m\x1b[48;2;1;2;3mhere\x1b[24m\x1b[49m\n" +
		"\x1b[4m\x1b[48;2;1;2;3mthere\x1b[24m\x1b[49m"
	if got := painted(t, red, x); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := painted(t, nil, x); got != "bad Headxhere\nthere" {
		t.Errorf("plain: %q", got)
	}
	if got := painted(t, NewColours(nil, true), labelled("a b", "x")); got != "<<a b::x>>" {
		t.Errorf("debug: %q", got)
	}
}

func TestParseColour(t *testing.T) {
	for name, want := range map[string]string{"red": "5;1", "bright blue": "5;12", "default": "default", "ansi-color-200": "5;200",
		"#010203": "2;1;2;3"} {
		if got, err := ParseColour(name); err != nil || got != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "reddish", "bright default", "ansi-color-256", "ansi-color-01", "#12345", "#gggggg"} {
		if got, err := ParseColour(name); err == nil {
			t.Errorf("%s is %q", name, got)
		}
	}
}

func TestShapes(t *testing.T) {
	dots := labelled("", "…")
	for _, c := range []struct {
		name, in, want string
		do             func(x, dst *Text)
	}{
		{"indent", "a\n\nb\n", "> a\n\n> b\n", func(x, dst *Text) { x.Indent(dst, func(o *Text) error { o.Str("> "); return nil }) }},
		{"pad start", "ab", "..ab", func(x, dst *Text) { x.Pad(dst, labelled("", "."), 4, true, false) }},
		{"pad end", "日", "日..", func(x, dst *Text) { x.Pad(dst, labelled("", "."), 4, false, true) }},
		{"centre", "ab", ".ab..", func(x, dst *Text) { x.Pad(dst, labelled("", "."), 5, true, true) }},
		{"no room to pad", "abcdef", "abcdef", func(x, dst *Text) { x.Pad(dst, labelled("", "."), 4, true, true) }},
		{"cut the end", "abcdef", "abc…", func(x, dst *Text) { x.TruncateEnd(dst, dots, 4) }},
		{"cut the start", "abcdef", "…def", func(x, dst *Text) { x.TruncateStart(dst, dots, 4) }},
		{"cut a wide letter", "a日本", "a…", func(x, dst *Text) { x.TruncateEnd(dst, dots, 3) }},
		{"nothing to cut", "abc", "abc", func(x, dst *Text) { x.TruncateEnd(dst, dots, 3) }},
		{"wrap", "aa bb  cc\n\ndddd", "aa\nbb\ncc\n\ndddd", func(x, dst *Text) { x.Wrap(dst, 3) }},
		{"a piece", "abcdef", "cd", func(x, dst *Text) { x.Slice(dst, 2, 4) }},
	} {
		dst := &Text{}
		c.do(labelled("", c.in), dst)
		if got := dst.String(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "日本": 4, "e\u0301": 1, "a\x1b": 1, "✓\ufe0e": 1} {
		if got := Width(s); got != want {
			t.Errorf("%q is %d wide", s, got)
		}
	}
	if got, w := Elide("abcdef", "...", 5); got != "...ef" || w != 5 {
		t.Errorf("%q %d", got, w)
	}
}

func TestFail(t *testing.T) {
	err := errors.New("no luck")
	loose, strict := &Text{}, &Text{Strict: true}
	if loose.Fail(err) != nil || loose.String() != "<Error: no luck>" {
		t.Errorf("%q", loose)
	}
	if strict.Fail(err) != err || strict.Len() != 0 {
		t.Errorf("%q", strict)
	}
}

// TestLaws: cutting and padding keep to the width, and wrapping loses nothing
// but spaces.
func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.SampledFrom([]rune("ab 日\n"))).Draw(t, "s")
		w := rapid.IntRange(0, 12).Draw(t, "w")
		line := strings.ReplaceAll(s, "\n", "")
		for _, cut := range []func(x, dst *Text){
			func(x, dst *Text) { x.TruncateEnd(dst, labelled("", "…"), w) },
			func(x, dst *Text) { x.TruncateStart(dst, labelled("", "…"), w) },
		} {
			dst := &Text{}
			cut(labelled("l", line), dst)
			if Width(dst.String()) > w {
				t.Fatalf("%q cut to %d is %q", line, w, dst)
			}
		}
		dst := &Text{}
		labelled("l", line).Pad(dst, labelled("", "."), w, true, false)
		if got := Width(dst.String()); got != max(w, Width(line)) {
			t.Fatalf("%q padded to %d is %q", line, w, dst)
		}
		dst = &Text{}
		labelled("l", s).Wrap(dst, w)
		if got, want := strings.Join(strings.Fields(dst.String()), ""), strings.Join(strings.Fields(s), ""); got != want {
			t.Fatalf("%q wrapped is %q", s, dst)
		}
	})
}
