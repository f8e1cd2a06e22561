package config

import (
	"testing"
	"time"
)

func TestDefaultsParse(t *testing.T) {
	start := time.Now()
	s, err := Defaults()
	if err != nil {
		t.Fatal(err)
	}
	t.Log("parsed in", time.Since(start))
	if got := s.Str("ui.color"); got != "auto" {
		t.Errorf("ui.color = %q", got)
	}
	if c, err := Colours(); err != nil || c.Root.Get("colors") == nil {
		t.Error(err)
	}
}

func TestLayersMerge(t *testing.T) {
	s := &Stack{}
	for i, src := range []string{"a.x = 1\na.y = 2\nb = 'low'", "[a]\ny = 3\n[a.z]\nq = true"} {
		tab, err := ParseTOML(src)
		if err != nil {
			t.Fatal(err)
		}
		s.Add(Layer{Source: Source(i), Root: tab})
	}
	if got := s.Get("a").Text(); got != "{ x = 1, y = 3, z = { q = true } }" {
		t.Error(got)
	}
	if s.Str("b") != "low" {
		t.Error("b is lost")
	}
}

func TestTOML(t *testing.T) {
	src := "a = \"x\\ty\" # c\n'k 1'.b = [1, 2.5,\n true, ]\n[[t]]\nv = '''\nraw\\n'''\n[[t]]\nw = { p = 1, q.r = 2 }\n"
	tab, err := ParseTOML(src)
	if err != nil {
		t.Fatal(err)
	}
	if got := (&Value{V: tab}).Text(); got != `{ a = "x\ty", "k 1" = { b = [1, 2.5,`+"\n true, ]"+` }, t = [{ v = '''`+"\nraw\\n'''"+
		` }, { w = { p = 1, q.r = 2 } }] }` {
		t.Error(got)
	}
	for _, bad := range []string{"a = ", "a", "[a", "a = 'x", "a = 1\na = 2", "a = b"} {
		if _, err := ParseTOML(bad); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
}

func FuzzTOML(f *testing.F) {
	f.Add("a = [1, {b = 'c'}]\n[x.y]\n")
	f.Fuzz(func(t *testing.T, s string) {
		if tab, err := ParseTOML(s); err == nil {
			_ = (&Value{V: tab}).Text()
		} else if err.Error() == "" {
			t.Fatal("silent error")
		}
		ParseName(s)
	})
}
