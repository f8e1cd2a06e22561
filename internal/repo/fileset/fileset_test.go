package fileset

import (
	"testing"

	"tandem/internal/repo"
)

func TestMatch(t *testing.T) {
	paths := Paths{Cwd: "/ws/cur", Root: "/ws"}
	for _, c := range []struct {
		expr string
		yes  []repo.Path
		no   []repo.Path
	}{
		{"foo", []repo.Path{"cur/foo", "cur/foo/bar"}, []repo.Path{"foo", "cur/foobar"}},
		{"*.c", []repo.Path{"cur/a.c", "cur/x.c/y"}, []repo.Path{"cur/d/a.c", "a.c"}},
		{"glob:**/*.c", []repo.Path{"cur/a.c", "cur/d/e/a.c"}, []repo.Path{"cur/a.h"}},
		{"root:.", []repo.Path{"x", "y/z"}, nil},
		{"root-file:cur", nil, []repo.Path{"cur/a"}},
		{"~root:cur", []repo.Path{"x"}, []repo.Path{"cur/x"}},
		{"a | b ~ b/c", []repo.Path{"cur/a", "cur/b/d"}, []repo.Path{"cur/b/c"}},
		{"root-glob-i:'*.TXT'", []repo.Path{"a.txt"}, []repo.Path{"d/a.txt"}},
		{"all() & none()", nil, []repo.Path{"x"}},
		{"with space", []repo.Path{"cur/with space"}, nil},
	} {
		n, err := ParseArgument(c.expr)
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		s, err := Resolve(n, paths)
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		for _, p := range c.yes {
			if !s.Match(p) {
				t.Errorf("%s does not match %s", c.expr, p)
			}
			for d, _ := p.Split(); ; d, _ = d.Split() {
				if !s.Visit(d) {
					t.Errorf("%s would not visit %q on the way to %s", c.expr, d, p)
				}
				if d == "" {
					break
				}
			}
		}
		for _, p := range c.no {
			if s.Match(p) {
				t.Errorf("%s matches %s", c.expr, p)
			}
		}
	}
}

func TestOutside(t *testing.T) {
	paths := Paths{Cwd: "/ws/cur", Root: "/ws"}
	_, err := paths.Parse("../../x")
	if err == nil || err.Error() != `Path "../../x" is not in the repo ".."` {
		t.Error(err)
	}
}

func TestFormatCopy(t *testing.T) {
	p := Paths{Cwd: "/w", Root: "/w"}
	for _, c := range [][3]repo.Path{
		{"a/b", "a/c", "a/{b => c}"}, {"x", "y", "{x => y}"}, {"a/b", "a/x/b", "a/{ => x}/b"}, {"d/a/f", "d/b/f", "d/{a => b}/f"},
		{"same", "same", "same"},
	} {
		if got := p.FormatCopy(c[0], c[1]); got != string(c[2]) {
			t.Errorf("%s to %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a|b&~c", "glob:'*'", "f(a,b,)", "((", `"\x`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := ParseArgument(s); err == nil {
			Resolve(n, Paths{Cwd: "/w", Root: "/w"})
		}
		ParseDecl(s)
	})
}
