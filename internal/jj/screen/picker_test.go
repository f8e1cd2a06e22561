package screen

import (
	"fmt"
	"strings"
	"testing"
)

func newPicker() *Picker {
	return &Picker{Title: "t", Files: []File{
		{Title: "a", Groups: []Group{
			{Lines: []Line{{' ', "1\n", false}, {' ', "2\n", false}, {' ', "3\n", false}, {' ', "4\n", false}, {' ', "5\n", false}}},
			{Title: "from line 6", Pick: true, Lines: []Line{{'-', "old\n", false}, {'+', "new\tx\n", false}}},
		}},
		{Title: "b", Groups: []Group{{Title: "the whole file", Pick: true}}},
	}}
}

func press(p *Picker, keys string) {
	for _, k := range strings.Fields(keys) {
		p.Key(k, 20)
	}
}

func chosen(p *Picker) string {
	out := ""
	for i := range p.Files {
		on, all := p.Files[i].Picked()
		out += fmt.Sprintf("%s %d/%d ", p.Files[i].Title, on, all)
	}
	return strings.TrimSpace(out)
}

func TestPickerKeys(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"space", "a 2/2 b 0/1"},
		{"space space", "a 0/2 b 0/1"},
		{"down space", "a 2/2 b 0/1"},      // the stretch
		{"down down space", "a 1/2 b 0/1"}, // its first line
		{"down down enter enter", "a 2/2 b 0/1"},
		{"end space", "a 0/2 b 1/1"},
		{"f down space", "a 0/2 b 1/1"}, // a folded file is one row
		{"f f down space", "a 2/2 b 0/1"},
		{"a", "a 2/2 b 1/1"},
		{"a a", "a 0/2 b 0/1"},
		{"? x space", "a 2/2 b 0/1"}, // any key ends the help
		{"up pageup home space", "a 2/2 b 0/1"},
	} {
		p := newPicker()
		press(p, c.keys)
		if got := chosen(p); got != c.want {
			t.Errorf("%s: %s, want %s", c.keys, got, c.want)
		}
	}
	p := newPicker()
	press(p, "space q")
	if !p.ended || !p.cancel {
		t.Error("q does not give up")
	}
}

func TestPickerWantsAChoice(t *testing.T) {
	p := &Picker{Files: []File{{Title: "a", Groups: []Group{
		{Title: "side", Pick: true, Choice: 1, Lines: []Line{{'+', "x\n", false}}}, {Title: "nothing", Pick: true, Choice: 1},
	}}}}
	press(p, "c")
	if p.ended || !strings.Contains(strings.Join(p.View(60, 10), "\n"), "choose something for conflict 1") {
		t.Error("a conflict can be left open")
	}
	press(p, "end space c")
	if !p.ended || p.cancel {
		t.Error("nothing is not a choice")
	}
}

func TestPickerView(t *testing.T) {
	p := newPicker()
	press(p, "space")
	plain := escape().ReplaceAllString(strings.Join(p.View(40, 14), "\n"), "")
	for _, want := range []string{"[x] a", "          1", "… 2 lines", "  [x] from line 6", "    [x] - old", "    [x] + new    x", "[ ] b",
		"  [ ] the whole file"} {
		if !strings.Contains(plain, want) {
			t.Errorf("%q is not on the screen:\n%s", want, plain)
		}
	}
	// On a small screen the cursor stays in sight.
	press(p, "end")
	if v := p.View(40, 4); len(v) != 4 || !strings.Contains(v[2], "the whole file") {
		t.Errorf("%q", v)
	}
}

func TestPager(t *testing.T) {
	p := &Pager{}
	for i := range 30 {
		p.Add(fmt.Sprintf("\x1b[31mline %d\x1b[0m", i))
	}
	p.ended = true
	top := func(keys string) int {
		for _, k := range strings.Fields(keys) {
			p.Key(k, 20, 10)
		}
		return p.top
	}
	for _, c := range []struct {
		keys string
		want int
	}{{"down down", 2}, {"up", 1}, {"space", 9}, {"b", 1}, {"G", 21}, {"down", 21}, {"g", 0}, {"/ 1 7 enter", 17}, {"/ 2 enter", 20},
		{"N", 12}, {"g / z enter", 0}} {
		if got := top(c.keys); got != c.want {
			t.Errorf("%s: at %d, want %d", c.keys, got, c.want)
		}
	}
	if !strings.Contains(p.View(40, 10)[9], `"z" is not there`) {
		t.Error("a search without a hit says nothing")
	}
	if p.Fits(20, 10) || !p.Fits(20, 40) {
		t.Error("one page is counted wrongly")
	}
	if top("q"); !p.quit {
		t.Error("q does not quit")
	}
}

func TestWrap(t *testing.T) {
	got := wrap("\x1b[1mabcdefg\x1b[0m日本", 3)
	want := []string{"\x1b[1mabc", "\x1b[1mdef", "\x1b[1mg\x1b[0m日", "本"}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("%q", got)
	}
}

func TestKeys(t *testing.T) {
	got := strings.Join(keysIn("j\x1b[A\x1b[6~ \r\x03é\x1b"), " ")
	if got != "j up pagedown space enter ctrl-c é escape" {
		t.Error(got)
	}
}
