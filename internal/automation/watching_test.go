package automation

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/testenv"
)

const watches = `
name = "all"
limits = { runs = %d }
[inputs.body]
type = "object"
[inputs.event]
type = "string"
[[trigger]]
id = "in"
%s
[[node]]
id = "a"
%s
`

const marks = "inputs = { body = \"input.body\" }\n[node.operation]\nname = \"mark.add\"\ninput = { text = \"told {{body}}\" }"

// ran is how many runs ticks tell of.
func (h *house) ran() (runs int) { runs, _, _ = h.dealt(); return runs }

// looked waits until a trigger was looked at for the first time: what changes after that begins a run.
func (h *house) looked() {
	h.t.Helper()
	testenv.Eventually(h.t, "the first look", testPatience, func() bool { _, _, rows := h.dealt(); return rows > 0 })
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// real is a folder under its real name.
func real(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Files that change begin one run for all that was written together; what does not fit the pattern begins none, and neither does a look.
func TestFilesBeginARun(t *testing.T) {
	dir := real(t)
	put(t, filepath.Join(dir, "old.csv"), "1")
	h := newHouse(t)
	h.switchOn(fmt.Sprintf(watches, 10, fmt.Sprintf("files = \"**/*.csv\"\nfolder = %q\nquiet = \"300ms\"", dir), marks))
	h.looked()
	if h.ran() != 0 {
		t.Fatal("what was there before began a run")
	}
	for i := range 20 {
		put(t, filepath.Join(dir, "in", fmt.Sprint(i), "new.csv"), "1")
	}
	put(t, filepath.Join(dir, "old.csv"), "22")
	put(t, filepath.Join(dir, "notes.txt"), "not meant")
	put(t, filepath.Join(dir, ".git", "x.csv"), "not meant")
	testenv.Eventually(t, "a run", testPatience, func() bool { return h.ran() == 1 })
	var said string
	testenv.Eventually(t, "its mark", testPatience, func() bool {
		return h.DB.QueryRow(t.Context(), "SELECT text FROM mark").Scan(&said) == nil
	})
	for _, want := range []string{`"in/7/new.csv"`, `"changed":["old.csv"]`, `"files":21`} {
		if !strings.Contains(said, want) {
			t.Errorf("the run was told %s; there is no %s", said, want)
		}
	}
	if strings.Contains(said, "notes") || strings.Contains(said, ".git") {
		t.Errorf("the run was told of what is not meant: %s", said)
	}
	h.must(os.Remove(filepath.Join(dir, "old.csv")))
	testenv.Eventually(t, "a second run", testPatience, func() bool { return h.ran() == 2 })
}

// What changed while the server was away begins one run when it is back, and a restart alone none.
func TestFilesAreNeitherMissedNorDoubledByARestart(t *testing.T) {
	dir := real(t)
	h := newHouse(t)
	h.switchOn(fmt.Sprintf(watches, 10, fmt.Sprintf("files = \"*\"\nfolder = %q\nquiet = \"100ms\"", dir), marks))
	h.looked()
	for round := 1; round <= 3; round++ {
		h.close()
		put(t, filepath.Join(dir, "a"), fmt.Sprint("round ", round, time.Now()))
		h.open(0)
		testenv.Eventually(t, "a run", testPatience, func() bool { return h.ran() == round })
		h.close()
		h.open(0)
		put(t, filepath.Join(dir, "b"), fmt.Sprint(round)) // which one run tells of, and not a again
		round++
		testenv.Eventually(t, "a run", testPatience, func() bool { return h.ran() == round })
	}
	told := 0
	testenv.Eventually(t, "their marks", testPatience, func() bool {
		var all int
		h.must(h.DB.QueryRow(t.Context(), `SELECT count(*), COALESCE(SUM(text LIKE '%"a"%'), 0) FROM mark`).Scan(&all, &told))
		return all == 4
	})
	if told != 2 {
		t.Errorf("%d runs were told of the file that changed twice while the server was away", told)
	}
}

// With the power going at random points, every change is told to one run.
func TestFilesAndKills(t *testing.T) {
	dir := real(t)
	h := newHouse(t)
	h.switchOn(fmt.Sprintf(watches, 1000, fmt.Sprintf("files = \"*\"\nfolder = %q\nquiet = \"100ms\"", dir),
		"[node.operation]\nname = \"mark.add\"\ninput = { text = \"due\" }"))
	h.looked()
	for i := range 12 {
		h.close()
		put(t, filepath.Join(dir, fmt.Sprint("f", i)), "x")
		h.open(int64(1 + i)) // the power goes at one of the first points
		testenv.Eventually(t, "the power goes, or a run", testPatience, func() bool { return h.plug.dead.Load() || h.tickRuns() == i+1 })
		h.close()
		h.open(0)
		testenv.Eventually(t, "a run", testPatience, func() bool { return h.tickRuns() == i+1 })
	}
}

// tickRuns counts the runs that ticks tell of, below the door.
func (h *house) tickRuns() (n int) {
	if err := h.DB.QueryRow(h.t.Context(), "SELECT count(*) FROM automation_tick WHERE run <> ''").Scan(&n); err != nil {
		return -1
	}
	return n
}

// What finds no place waits for one and is told of; nothing of it is lost.
func TestFilesWaitForAPlace(t *testing.T) {
	dir := real(t)
	h := newHouse(t)
	h.switchOn(fmt.Sprintf(watches, 1, fmt.Sprintf("files = \"*\"\nfolder = %q\nquiet = \"100ms\"", dir), "[node.wait]\nfor = \"6h\""))
	h.looked()
	put(t, filepath.Join(dir, "a"), "1")
	testenv.Eventually(t, "a run", testPatience, func() bool { return h.ran() == 1 })
	put(t, filepath.Join(dir, "b"), "1")
	testenv.Eventually(t, "a row that says why", testPatience, func() bool { _, _, rows := h.dealt(); return rows == 3 })
	open := do(h, wire.Runs, wire.RunsIn{Name: "all"}).Runs[0].ID
	do(h, wire.Cancel, wire.RunIn{ID: open})
	testenv.Eventually(t, "the second run", testPatience, func() bool { return h.ran() == 2 })
}

// A bookmark that moves, appears or goes begins a run, also when it moved while the server was away.
func TestABookmarkBeginsARun(t *testing.T) {
	h := newHouse(t)
	h.switchOn(fmt.Sprintf(watches, 10, "bookmark = \"main\"\nrepo = \"app\"", marks))
	h.looked()
	for i, at := range []string{"aaaa", "bbbb", ""} {
		h.bookmark.Store(&at)
		h.Noticed()
		testenv.Eventually(t, "a run", testPatience, func() bool { return h.ran() == i+1 })
		h.Noticed()
	}
	h.close()
	at := "cccc"
	h.bookmark.Store(&at)
	h.open(0)
	testenv.Eventually(t, "a run", testPatience, func() bool { return h.ran() == 4 })
	testenv.Eventually(t, "its mark", testPatience, func() bool {
		var n int
		h.must(h.DB.QueryRow(t.Context(), `SELECT count(*) FROM mark WHERE text LIKE '%"from":"aaaa"%' AND text LIKE '%"to":"bbbb"%'`).Scan(&n))
		return n == 1
	})
}

// Another version that watches the same goes on from where the one before stood.
func TestAnotherVersionWatchesOn(t *testing.T) {
	dir := real(t)
	h := newHouse(t)
	text := fmt.Sprintf(watches, 10, fmt.Sprintf("files = \"*\"\nfolder = %q\nquiet = \"100ms\"", dir), marks)
	h.switchOn(text)
	h.looked()
	h.close()
	put(t, filepath.Join(dir, "a"), "1")
	h.open(1 << 40)
	h.switchOn("title = \"another\"\n" + text)
	testenv.Eventually(t, "a run", testPatience, func() bool { return h.ran() == 1 })
	var at int64
	h.must(h.DB.QueryRow(t.Context(), "SELECT seen_at FROM automation_trigger").Scan(&at))
	if db.Time(at).IsZero() {
		t.Error("it was looked at for the first time again")
	}
}

// Who grants a folder and switches its automation off and on is not made to wait for the look that an earlier failure put off, however
// quickly both were typed.
func TestSwitchedOnAgainIsLookedAtNow(t *testing.T) {
	h := newHouse(t)
	text := fmt.Sprintf(watches, 1, fmt.Sprintf("files = \"*\"\nfolder = %q", real(t)), marks)
	h.switchOn(text)
	h.cancel()
	<-h.ended
	all := map[string]*watcher{}
	h.must(h.watchers(t.Context(), all))
	for _, w := range all {
		w.due = w.due.AddDate(1, 0, 0)
	}
	do(h, wire.Off, wire.NameIn{Name: "all"})
	h.switchOn(text)
	h.must(h.watchers(t.Context(), all))
	for key, w := range all {
		if !w.due.IsZero() {
			t.Errorf("%s waits until %s", key, w.due)
		}
	}
	if len(all) != 1 {
		t.Errorf("%d are watched", len(all))
	}
}
