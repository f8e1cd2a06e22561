package unified

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWhatOfALineIsAnother(t *testing.T) {
	for _, c := range []struct{ was, is, want string }{
		{"return fetch(url, 3)", "return fetch(url, 5)", "return fetch(url, [3]) → return fetch(url, [5])"},
		{"var name = one", "var names = one", "var [name] = one → var [names] = one"},
		{"a := b", "a := b + c", "a := b → a := b[ + c]"},
		{"grün ist gut", "grau ist gut", "[grün] ist gut → [grau] ist gut"},
		{"nothing alike", "wholly different", "nothing alike → wholly different"},
		{"same", "same", "same → same"},
	} {
		lines := Marked([]Line{{Op: ' ', Text: "x"}, {Op: '-', Text: c.was}, {Op: '+', Text: c.is}, {Op: '@', Text: "y"}})
		if got := marked(lines[1]) + " → " + marked(lines[2]); got != c.want {
			t.Errorf("%q and %q: %s, want %s", c.was, c.is, got, c.want)
		}
	}
}

func marked(l Line) string {
	out := l.Text
	for _, m := range l.Marks {
		out = out[:m.From] + "[" + out[m.From:m.To] + "]" + out[m.To:]
	}
	return out
}

// What is not marked is the same in both, and marks and spans lie within the line, in order, at whole characters.
func TestMarksAndSpansLieWithinTheLine(t *testing.T) {
	text := rapid.StringOf(rapid.SampledFrom([]rune("ab_ 1\"'/#é\u202e\t()")))
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "was"), text.Draw(t, "is")
		of, in := differs(a, b)
		if len(of)+len(in) > 0 {
			rest := func(s string, marks []Mark) string {
				for _, m := range marks {
					if m.From < 0 || m.To > len(s) || m.From >= m.To {
						t.Fatalf("%v in %q", m, s)
					}
					s = s[:m.From] + s[m.To:]
				}
				return s
			}
			if rest(a, of) != rest(b, in) {
				t.Errorf("%q %v and %q %v differ elsewhere, too", a, of, b, in)
			}
		}
		at := 0
		for _, s := range Spans(rapid.SampledFrom([]string{"a.go", "Makefile", "x/b.SQL", "c.txt"}).Draw(t, "file"), a) {
			if s.From < at || s.To <= s.From || s.To > len(a) || strings.ToValidUTF8(a[s.From:s.To], "!") != a[s.From:s.To] {
				t.Errorf("%v in %q", s, a)
			}
			at = s.To
		}
	})
}

func TestWhatAWordOfCodeIs(t *testing.T) {
	names := map[Kind]string{Keyword: "word", Quoted: "text", Number: "number", Remark: "remark"}
	for line, want := range map[string]string{
		"a.go:\treturn \"a \\\" b\" + 12 // why":   `word return, text "a \" b", number 12, remark // why`,
		"a.py:def f(x): return 'it' # so":          "word def, word return, text 'it', remark # so",
		"run.sh:echo $#":                           "word echo",
		"q.sql:SELECT 'a' -- b":                    "word SELECT, text 'a', remark -- b",
		"a.c:/* one */ int don't":                  "remark /* one */, word int",
		"notes.txt:return 1":                       "",
		"Makefile:all: # \"x\"":                    `remark # "x"`,
		"a.go:" + strings.Repeat("x", 3000) + " 1": "",
	} {
		file, text, _ := strings.Cut(line, ":")
		var got []string
		for _, s := range Spans(file, text) {
			got = append(got, fmt.Sprint(names[s.Kind], " ", text[s.From:s.To]))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%.80s: %s, want %s", line, strings.Join(got, ", "), want)
		}
	}
}

// How much is looked at grows with the line, whatever an agent writes into it: also where nothing that begins there ends.
func TestALineIsReadOnce(t *testing.T) {
	for _, unit := range []string{`'\`, `"'`, "\"`'", `/'*"`, `'a"`, "`\\'"} {
		for _, file := range []string{"a.go", "a.py", "a.sql"} {
			line := strings.Repeat(unit, 2000/len(unit))
			r := reading{tongue: tongues[file[1:]], line: line}
			for i := 0; i < len(line); {
				n, _ := r.next(i)
				i += n
			}
			if most := (1 + len(r.quotes)) * len(line); r.read > most {
				t.Errorf("%s, %q: %d bytes are looked at, want at most %d", file, unit, r.read, most)
			}
		}
	}
}
