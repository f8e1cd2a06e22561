package red

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/internal/testenv"
)

const patient = 18 * time.Second // how long a sample of one table may last

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
	table := boxTable.read(t)
	for _, w := range order {
		if !testenv.Soak() && !write && time.Since(began) > patient {
			t.Logf("the sample ends here: %s", time.Since(began).Round(time.Second))
			break
		}
		if !open.works(t, w) {
			t.Errorf("%s, %s: it does not work even without a box, so it shows nothing", w.chapter, w.name)
		}
		row := key(w.chapter, w.name)
		for i := range boxes {
			found[row] = append(found[row], word(cells[i].works(t, w)))
		}
		if have, want := strings.Join(found[row], " | "), table[row]; !borne(want, have) && !write {
			t.Errorf("%s: %s, but docs/THREATS.md says %q. If this is meant: TANDEM_UPDATE=1 make soak ROOM=./test/red", row, have, want)
		}
	}
	if write {
		boxTable.save(t, found)
	}
}
