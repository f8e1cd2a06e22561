package ui

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"tandem/internal/foreign"
)

func TestPlainShowsWhatHides(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain text", "plain text"},
		{"résumé naïve 日本 🙂", "résumé naïve 日本 🙂"},
		{"rm -rf /\u202e txt", "rm -rf /⟨U+202E⟩ txt"},
		{"pay\u200bpal", "pay⟨U+200B⟩pal"},
		{"a\x1b[31mred", "a⟨U+001B⟩[31mred"},
		{"two\nlines", "two⟨U+000A⟩lines"},
		{"tag\U000E0041", "tag⟨U+E0041⟩"},
		{"fill\u3164er", "fill⟨U+3164⟩er"},
		{"bad\xffbyte", "bad⟨\\xff⟩byte"},
		{"\u2066hidden\u2069", "⟨U+2066⟩hidden⟨U+2069⟩"},
	} {
		if got := Plain(c.in); got != c.want {
			t.Errorf("Plain(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestVisibleKeepsLinesWhereAsked(t *testing.T) {
	p := Visible("one\n\ttwo\r", true)
	if len(p) != 2 || p[0].Text != "one\n\ttwo" || !p[1].Odd || p[1].Text != "U+000D" {
		t.Fatalf("got %+v", p)
	}
}

func TestShortCutsByCharacters(t *testing.T) {
	if got := Short("日本語のテキスト", 4); got != "日本語…" {
		t.Errorf("got %q", got)
	}
	if got := Short("short", 5); got != "short" {
		t.Errorf("got %q", got)
	}
}

// Whatever comes in, nothing hidden comes out and nothing readable is lost.
func FuzzVisible(f *testing.F) {
	f.Add("a\u202eb\u200bc\xff\x00")
	f.Fuzz(func(t *testing.T, s string) {
		out := Plain(s)
		if !utf8.ValidString(out) {
			t.Fatalf("Plain(%q) is not UTF-8", s)
		}
		for _, r := range out {
			if unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) {
				t.Fatalf("Plain(%q) lets %U through", s, r)
			}
		}
		var kept, want strings.Builder
		for _, p := range Visible(s, false) {
			if !p.Odd {
				kept.WriteString(p.Text)
			}
		}
		for i := 0; i < len(s); {
			r, n := utf8.DecodeRuneInString(s[i:])
			if !(r == utf8.RuneError && n == 1) && !foreign.Hides(r) {
				want.WriteString(s[i : i+n])
			}
			i += n
		}
		if kept.String() != want.String() {
			t.Fatalf("readable text changed: %q, want %q", kept.String(), want.String())
		}
	})
}

func TestJSONTextSaysTheSame(t *testing.T) {
	in := `{"a":"x` + "\u202e\U000E0041\ufeff" + `y","b":"日本"}`
	out := JSONText(in)
	if strings.ContainsAny(out, "\u202e\U000E0041\ufeff") {
		t.Fatalf("hidden characters stayed: %q", out)
	}
	var a, b any
	if err := json.Unmarshal([]byte(in), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(out), &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Fatalf("%v became %v", a, b)
	}
}
