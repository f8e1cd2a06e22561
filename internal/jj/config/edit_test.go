package config

import "testing"

func TestSetKeepsTheRest(t *testing.T) {
	for _, c := range []struct{ src, name, value, want string }{
		{"", "a", "1", "a = 1\n"},
		{FirstLine, "ui.color", `"never"`, FirstLine + "[ui]\ncolor = \"never\"\n"},
		{"# mine\nx = 1 # one\n\n[ui]\ncolor = \"auto\" # colour\n", "ui.color", `"never"`,
			"# mine\nx = 1 # one\n\n[ui]\ncolor = \"never\" # colour\n"},
		{"[ui]\na = 1\n\n[z]\nb = 2\n", "ui.c", "3", "[ui]\na = 1\nc = 3\n\n[z]\nb = 2\n"},
		{"ui.a = 1\n", "ui.b", "2", "ui.a = 1\nui.b = 2\n"},
		{"t = { a = 1 }\n", "t.b", "2", "t = { a = 1, b = 2 }\n"},
		{"t = { a = 1 }\n", "t.a", "2", "t = { a = 2 }\n"},
		{"[z]\nb = 2\n", "a", "1", "a = 1\n\n[z]\nb = 2\n"},
	} {
		keys, err := ParseName(c.name)
		if err != nil {
			t.Fatal(err)
		}
		v, err := ParseBare(c.value)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Set(c.src, keys, v)
		if err != nil || got != c.want {
			t.Errorf("set %s in %q: %q, %v; want %q", c.name, c.src, got, err, c.want)
		}
		root, err := ParseTOML(got)
		if err != nil {
			t.Errorf("set %s in %q: %v", c.name, c.src, err)
			continue
		}
		if back, _ := Look(root, keys); back == nil || back.Text() != v.Text() {
			t.Errorf("set %s in %q is not read back", c.name, c.src)
		}
	}
}

func TestSetRefusesToLoseATable(t *testing.T) {
	v, _ := ParseBare("x")
	for _, c := range []struct{ src, name, want string }{
		{"[a]\nb = 1\n", "a", "Would overwrite entire table a"},
		{"a = 1\n", "a.b", "Would overwrite non-table value with parent table a"},
	} {
		keys, _ := ParseName(c.name)
		if _, err := Set(c.src, keys, v); err == nil || err.Error() != c.want {
			t.Errorf("set %s in %q: %v", c.name, c.src, err)
		}
	}
}

func TestUnset(t *testing.T) {
	for _, c := range []struct {
		src, name, want string
		found           bool
	}{
		{"a = 1\n# two\nb = 2\nc = 3\n", "b", "a = 1\nc = 3\n", true},
		{"[t]\na = 1\n", "t.a", "[t]\n", true},
		{"t = { a = 1, b = 2 }\n", "t.a", "t = { b = 2 }\n", true},
		{"a = 1\n", "b", "a = 1\n", false},
		{"a = 1\n", "a.b", "a = 1\n", false},
	} {
		keys, _ := ParseName(c.name)
		got, found, err := Unset(c.src, keys)
		if err != nil || got != c.want || found != c.found {
			t.Errorf("unset %s in %q: %q, %v, %v", c.name, c.src, got, found, err)
		}
	}
	keys, _ := ParseName("t")
	if _, _, err := Unset("[t]\na = 1\n", keys); err == nil {
		t.Error("a whole table was removed")
	}
}

func FuzzEdit(f *testing.F) {
	f.Add("[ui]\na = 1\n", "ui.b", "x")
	f.Add("t = { a = 1 }", "t.b.c", "[1]")
	f.Fuzz(func(t *testing.T, src, name, value string) {
		keys, err := ParseName(name)
		if err != nil {
			return
		}
		v, err := ParseBare(value)
		if err != nil {
			return
		}
		Unset(src, keys)
		Set(src, keys, v)
	})
}
