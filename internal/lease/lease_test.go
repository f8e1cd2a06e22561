package lease

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"src/f": "src/f", "src/./f": "src/f", "src//f": "src/f", "./src/f/": "src/f", `src\f`: "src/f", "src/**/*.go": "src/**/*.go",
		"": "", ".": "", "./": "", "/etc/passwd": "", "../x": "", "a/../b": "", "a\nb": "", strings.Repeat("a/", 100): "",
	} {
		got, err := Clean(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q %v, want %q", in, got, err, want)
		}
	}
}

func TestSplit(t *testing.T) {
	for in, want := range map[string][2]string{"src/a": {"src/a", ""}, "src/*.go": {"src", "*.go"}, "**": {"", "**"},
		"pri?/x/*": {"", "pri?/x/*"}} {
		if plain, pattern := Split(in); plain != want[0] || pattern != want[1] {
			t.Errorf("%s: %q and %q", in, plain, pattern)
		}
	}
}

func TestWhatALeaseCovers(t *testing.T) {
	for _, c := range []struct {
		leased, file string
		want         bool
	}{
		{"src", "src/a/b.go", true}, {"src", "src", true}, {"src", "srcs/a", false}, {"src/a", "src", false},
		{"src/*.go", "src/a.go", true}, {"src/*.go", "src/b/a.go", false}, {"src/**/*.go", "src/b/c/a.go", true},
		{"src/**/*.go", "src/a.go", true}, {"**/test_?.py", "x/test_1.py", true}, {"**/test_?.py", "x/test_12.py", false},
		{"pages/[id].tsx", "pages/[id].tsx", true}, {"pages/[id].tsx", "pages/i.tsx", false},
		{"a/**", "a/x", true}, {"*", "anything/below", true}, {"x*y*z", "x1y2z", true}, {"x*y*z", "x1z2y", false},
	} {
		if got := Covers(c.leased, c.file); got != c.want {
			t.Errorf("%s covers %s: %v", c.leased, c.file, got)
		}
	}
}

func TestWhatGetsInEachOthersWay(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"src", "src/auth/f", true}, {"src/auth", "src/authority", false}, {"src/*.go", "src/a.go", true}, {"src/*.go", "src/a.py", false},
		{"src/*.go", "src", true}, {"**/a", "x/y/a/b", true}, {"x/**", "y/**", false}, {"*.go", "*.py", true},
		{strings.Repeat("**/a/", 30) + "b", strings.Repeat("a/", 60) + "c", true},
	} {
		if got, back := Overlap(c.a, c.b), Overlap(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%s and %s: %v, %v", c.a, c.b, got, back)
		}
	}
	if got := strings.Join(Above("a/b/c/d"), " "); got != "a/b/c a/b a" {
		t.Error(got)
	}
	if got := strings.Join(Above("a/*/c/d"), " "); got != "a" {
		t.Error(got)
	}
}

// A lease covers a file by whichever spelling a system that does not count case would open it, and gets in the way of the same leases.
func TestCaseDoesNotPartALease(t *testing.T) {
	word := rapid.SampledFrom([]string{"src", "auth.rs", "*.go", "a?", "**", "größe", "Kelvin", "x*y"})
	path := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(word, 1, 4).Draw(t, "words"), "/") })
	rapid.Check(t, func(t *rapid.T) {
		a, b := path.Draw(t, "a"), path.Draw(t, "b")
		other := strings.Map(func(r rune) rune {
			for range rapid.IntRange(0, 2).Draw(t, "spelling") {
				r = unicode.SimpleFold(r)
			}
			return r
		}, b)
		if Overlap(a, b) != Overlap(a, other) || Covers(a, b) != Covers(a, other) || Covers(b, a) != Covers(other, a) {
			t.Fatalf("%s and %s, or %s", a, b, other)
		}
	})
}
