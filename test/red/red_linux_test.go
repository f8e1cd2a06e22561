package red

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/internal/testenv"
)

const (
	threats = "../../docs/THREATS.md"
	begin   = "<!-- red cell: generated -->\n"
	end     = "<!-- end of the red cell -->\n"
	patient = 80 * time.Second // how long a sample may last
)

// boxes are the columns of the table.
var boxes = []struct {
	title, kind string
	uid         int
}{
	{"bubblewrap, root", "bwrap", 0},
	{"bubblewrap, another user", "bwrap", another},
	{"Landlock, root", "landlock", 0},
	{"Landlock, another user", "landlock", another},
}

// TestRedCell tries the ways in every box. What the table in docs/THREATS.md says is what is found.
func TestRedCell(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("the red cell is root, so that it can be another user, too")
	}
	began, write := time.Now(), os.Getenv("TANDEM_UPDATE") != ""
	order := slices.Clone(ways)
	if !testenv.Soak() && !write {
		r := testenv.Random(t)
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		order = order[:len(order)/3]
	}
	open := enter(t, "none", 0)
	found := map[string][]string{}
	cells := make([]*cell, len(boxes))
	for i, b := range boxes {
		cells[i] = enter(t, b.kind, b.uid)
	}
	table := read(t)
	for _, w := range order {
		if !testenv.Soak() && !write && time.Since(began) > patient {
			t.Logf("the sample ends here: %s", time.Since(began).Round(time.Second))
			break
		}
		if !open.works(t, w) {
			t.Errorf("%s, %s: it does not work even without a box, so it shows nothing", w.chapter, w.name)
		}
		for i := range boxes {
			word := "held"
			if cells[i].works(t, w) {
				word = "**open**"
			}
			found[key(w)] = append(found[key(w)], word)
		}
		if have, want := strings.Join(found[key(w)], " | "), table[key(w)]; have != want && !write {
			t.Errorf("%s: %s, but docs/THREATS.md says %q. If this is meant: TANDEM_UPDATE=1 make soak ROOM=./test/red", key(w), have, want)
		}
	}
	if write {
		save(t, found)
	}
}

// The table names the ways that there are, no more and no less.
func TestTheTableNamesEveryWay(t *testing.T) {
	table, names := read(t), map[string]bool{}
	for _, w := range ways {
		if names[key(w)] {
			t.Errorf("two ways are called %s", key(w))
		}
		names[key(w)] = true
		if table[key(w)] == "" && os.Getenv("TANDEM_UPDATE") == "" {
			t.Errorf("%s is not in docs/THREATS.md: run TANDEM_UPDATE=1 make soak ROOM=./test/red", key(w))
		}
	}
	for row := range table {
		if !names[row] {
			t.Errorf("docs/THREATS.md has a row %q, which is no way", row)
		}
	}
}

func key(w way) string { return w.chapter + " | " + w.name }

// read is the table: chapter and way, and what each box did.
func read(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(threats)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), begin)
	body, _, also := strings.Cut(rest, end)
	if !ok || !also {
		t.Fatalf("%s has no place for the table", threats)
	}
	table := map[string]string{}
	for line := range strings.Lines(body) {
		cells := strings.SplitN(strings.Trim(strings.TrimSpace(line), "| "), " | ", 3)
		if len(cells) == 3 && cells[0] != "chapter" {
			table[cells[0]+" | "+cells[1]] = cells[2]
		}
	}
	return table
}

func save(t *testing.T, found map[string][]string) {
	t.Helper()
	text, err := os.ReadFile(threats)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), begin)
	_, tail, _ := strings.Cut(rest, end)
	var b strings.Builder
	b.WriteString("| chapter | way")
	for _, x := range boxes {
		b.WriteString(" | " + x.title)
	}
	b.WriteString(" |\n|---|---" + strings.Repeat("|---", len(boxes)) + "|\n")
	held, all := 0, 0
	for _, w := range ways {
		row := found[key(w)]
		for _, word := range row {
			all++
			if word == "held" {
				held++
			}
		}
		fmt.Fprintf(&b, "| %s | %s |\n", key(w), strings.Join(row, " | "))
	}
	t.Logf("%d of %d held", held, all)
	if err := os.WriteFile(threats, []byte(head+begin+b.String()+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}
