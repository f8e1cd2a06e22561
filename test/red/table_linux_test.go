package red

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"tandem/internal/testenv"
)

const threats = "../../docs/THREATS.md"

// table is one of the generated tables of docs/THREATS.md.
type table struct {
	begin, end string
	columns    []string
	rows       []string // chapter and way of each, in order
}

var (
	boxTable   = table{"<!-- red cell: generated -->\n", "<!-- end of the red cell -->\n", boxTitles(), wayRows()}
	agentTable = table{"<!-- red agents: generated -->\n", "<!-- end of the red agents -->\n", agentTitles(), wayRows()}
	houseTable = table{"<!-- red house: generated -->\n", "<!-- end of the red house -->\n", []string{"as it is"}, trialRows()}
)

func boxTitles() (out []string) {
	for _, b := range boxes {
		out = append(out, b.title)
	}
	return out
}

func agentTitles() (out []string) {
	for _, a := range agents {
		out = append(out, a.title)
	}
	return out
}

func wayRows() (out []string) {
	for _, w := range ways {
		out = append(out, key(w.chapter, w.name))
	}
	return out
}

func trialRows() (out []string) {
	for _, w := range trials {
		out = append(out, key(w.chapter, w.name))
	}
	return out
}

func key(chapter, name string) string { return chapter + " | " + name }

func word(worked bool) string {
	if worked {
		return "**open**"
	}
	return "held"
}

// borne tells whether what was found bears out what is written. In a sample, on a machine that may be busy, a way that is written down as
// open may for once not get through; that it never does any more is for the whole run to say.
func borne(written, found string) bool {
	a, b := strings.Split(written, " | "), strings.Split(found, " | ")
	return slices.EqualFunc(a, b, func(a, b string) bool { return a == b || !testenv.Soak() && a == word(true) })
}

// read is the table as it stands: chapter and way, and what was found.
func (x table) read(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(threats)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), x.begin)
	body, _, also := strings.Cut(rest, x.end)
	if !ok || !also {
		t.Fatalf("%s has no place for the table after %q", threats, x.begin)
	}
	rows := map[string]string{}
	for line := range strings.Lines(body) {
		cells := strings.SplitN(strings.Trim(strings.TrimSpace(line), "| "), " | ", 3)
		if len(cells) == 3 && cells[0] != "chapter" {
			rows[cells[0]+" | "+cells[1]] = cells[2]
		}
	}
	return rows
}

// save writes the table anew.
func (x table) save(t *testing.T, found map[string][]string) {
	t.Helper()
	text, err := os.ReadFile(threats)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), x.begin)
	_, tail, _ := strings.Cut(rest, x.end)
	var b strings.Builder
	b.WriteString("| chapter | way | " + strings.Join(x.columns, " | ") + " |\n|---|---" + strings.Repeat("|---", len(x.columns)) + "|\n")
	held, all := 0, 0
	for _, row := range x.rows {
		for _, word := range found[row] {
			all++
			if word == "held" {
				held++
			}
		}
		fmt.Fprintf(&b, "| %s | %s |\n", row, strings.Join(found[row], " | "))
	}
	t.Logf("%d of %d held", held, all)
	if err := os.WriteFile(threats, []byte(head+x.begin+b.String()+x.end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The tables name the ways that there are, no more and no less.
func TestTheTableNamesEveryWay(t *testing.T) {
	for _, x := range []table{boxTable, agentTable, houseTable} {
		rows := x.read(t)
		for i, row := range x.rows {
			if slices.Contains(x.rows[:i], row) {
				t.Errorf("two ways are called %s", row)
			}
			if rows[row] == "" && os.Getenv("TANDEM_UPDATE") == "" {
				t.Errorf("%s is not in docs/THREATS.md: run TANDEM_UPDATE=1 make soak ROOM=./test/red", row)
			}
		}
		for row := range rows {
			if !slices.Contains(x.rows, row) {
				t.Errorf("docs/THREATS.md has a row %q, which is no way", row)
			}
		}
	}
}

// Many ways of one cause show little: there are at least 150, and eight in every chapter.
func TestEveryChapterHasEightWays(t *testing.T) {
	count := map[string]int{}
	for _, row := range slices.Concat(boxTable.rows, houseTable.rows) {
		chapter, _, _ := strings.Cut(row, " | ")
		count[chapter]++
	}
	for chapter, n := range count {
		if n < 8 {
			t.Errorf("the chapter %s has %d ways", chapter, n)
		}
	}
	if n := len(boxTable.rows) + len(houseTable.rows); n < 150 {
		t.Errorf("there are %d ways", n)
	}
}
