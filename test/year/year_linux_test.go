package year

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// lives are the houses: which release wrote the folder that it begins with, and where its rows are from then on.
var lives = []struct{ began, database string }{
	{"first-schema", "sqlite"},
	{"v0.1.0", "postgres"},
	{"v0.2.0", "pgbouncer"},
}

// patient is how long the sample of make test goes on with new weeks.
const patient = 30 * time.Second

// A year passes for houses that began with earlier releases. In make test a few weeks pass for one of them.
func TestYear(t *testing.T) {
	r := testenv.Random(t)
	program := moving(t)
	if !testenv.Soak() {
		l := lives[r.IntN(len(lives))]
		t.Run(l.began+", "+l.database, func(t *testing.T) { live(t, r, program, l.began, l.database, 52) })
		return
	}
	for _, l := range lives {
		own := rand.New(rand.NewPCG(r.Uint64(), r.Uint64()))
		t.Run(l.began+", "+l.database, func(t *testing.T) { live(t, own, program, l.began, l.database, 52) })
	}
}

// moving is the program with a clock that a file moves. Beside such a build the one that people run reads no such file.
func moving(t *testing.T) string {
	t.Helper()
	path := filepath.Join(testenv.Dir(t), "tandem")
	cmd := exec.Command("go", "build", "-trimpath", "-tags", "movedclock", "-o", path, "./cmd/tandem")
	cmd.Dir, cmd.Env = checkout(t), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

func checkout(t *testing.T) string {
	t.Helper()
	gomod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(strings.TrimSpace(string(gomod)))
}

// world is a house, those who use it, and what its operator has.
type world struct {
	*house
	crew   *crew
	ledger *ledger
	anchor []string // checkpoints that were kept elsewhere
	told   map[string]int
	bounds bounds
}

func live(t *testing.T, r *rand.Rand, program, began, database string, weeks int) {
	w := &world{house: newHouse(t, r, program), told: map[string]int{}}
	w.unpack(filepath.Join(checkout(t), "internal", "daemon", "testdata", began+".tar.gz"))
	if database != "sqlite" {
		w.pg = testenv.NewCluster(t)
		address := w.pg.Address()
		if database == "pgbouncer" {
			address = testenv.PgBouncer(t, address, "transaction")
		}
		w.start() // what the release before wrote is brought to the present first
		w.stop()
		if out, err := w.typed("server", "move", address); err != nil {
			t.Fatalf("move: %v\n%s", err, out)
		}
	}
	w.start()
	w.crew, w.ledger = newCrew(t, w.house), newLedger(w.house)
	w.kept()
	start, deck := time.Now(), deckOf(r, database)
	week := 0
	for ; week < weeks && (testenv.Soak() || week < 2 || time.Since(start) < patient); week++ {
		if len(deck) == 0 {
			deck = deckOf(r, database)
		}
		tr := deck[0]
		deck = deck[1:]
		at := time.Now()
		t.Logf("week %2d: %s", week, tr.name)
		w.crew.work()
		w.ledger.load()
		w.troubled(tr)
		w.week()
		if t.Failed() {
			t.Fatalf("in week %d: %s", week, tr.name)
		}
		t.Logf("         %s", time.Since(at).Round(100*time.Millisecond))
	}
	w.kept()
	commits, keys := w.crew.there(), w.ledger.there(0)
	w.sound()
	w.bounds.hold(t)
	t.Logf("%d weeks in %s: %d commits of three agents and %d keys that were acknowledged are there", week,
		time.Since(start).Round(time.Second), commits, keys)
	t.Logf("what went wrong, and where it was named: %v", w.told)
	t.Logf("%s", w.bounds)
}

// week ends a week: everybody rests, the house is found sound, a week passes, and it starts again.
func (w *world) week() {
	w.t.Helper()
	w.ledger.calm()
	w.crew.rest()
	w.crew.settled()
	w.crew.there()
	w.ledger.there(w.ledger.mark() - 200)
	w.bounds.measure(w)
	w.crew.leave()
	if w.r.IntN(2) == 0 {
		w.kill()
	} else {
		w.stop()
	}
	w.moved += time.Duration(6*24+w.r.IntN(48)) * time.Hour
	w.setClock()
	w.start()
}

// kept checks what the release before wrote.
func (w *world) kept() {
	w.t.Helper()
	var got struct{ Value string }
	if err := w.call("resource.get", map[string]any{"key": "kept/value"}, &got); err != nil || got.Value != "from the first schema" {
		w.t.Fatalf("what the release before wrote: %+v, %v", got, err)
	}
}

// sound verifies the whole journal against every checkpoint kept elsewhere, the repository, and asks the doctor.
func (w *world) sound() {
	w.t.Helper()
	if out, err := w.run("audit", "verify", "--whole"); err != nil {
		w.t.Errorf("audit verify --whole: %v\n%s", err, out)
	}
	var report struct {
		OK       bool
		Findings []any
	}
	if err := w.call("audit.verify", map[string]any{"anchors": w.anchor}, &report); err != nil || len(report.Findings) > 0 {
		w.t.Errorf("the journal against %d checkpoints kept elsewhere: %+v, %v", len(w.anchor), report, err)
	}
	if out, err := w.run("repo", "check", "project"); err != nil {
		w.t.Errorf("repo check: %v\n%s", err, out)
	}
	var out string
	var err error
	if !testenv.Within(20*time.Second, func() bool { out, err = w.run("doctor"); return err == nil }) {
		w.t.Errorf("the doctor: %v\n%s", err, out)
	}
}

// unpack puts a frozen data folder onto the small disk.
func (w *world) unpack(file string) {
	w.t.Helper()
	data := w.see(".tandem")
	if err := os.Mkdir(data, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if out, err := exec.Command("tar", "xzf", file, "-C", data, "--no-same-owner").CombinedOutput(); err != nil {
		w.t.Fatalf("%s: %v\n%s", file, err, out)
	}
}

// bounds are what a house uses, week by week.
type bounds struct{ memory, files, disk, project, copies []int64 }

func (b *bounds) measure(w *world) {
	w.t.Helper()
	pid := w.pid()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		w.t.Fatal(err)
	}
	var kb int64
	for line := range strings.Lines(string(status)) {
		fmt.Sscanf(line, "VmRSS: %d kB", &kb)
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		w.t.Fatal(err)
	}
	b.memory, b.files = append(b.memory, kb>>10), append(b.files, int64(len(open)))
	mb := w.megabytes(".tandem", "project", "copies")
	b.disk, b.project, b.copies = append(b.disk, mb[0]), append(b.project, mb[1]), append(b.copies, mb[2])
	if mb[2] > 3*(mb[0]+mb[1])+20 { // two are kept, and one is in the making
		w.t.Errorf("%d MB of copies of %d MB", mb[2], mb[0]+mb[1])
	}
}

// megabytes is what folders of the small disk hold, one after the other; a folder that is not there holds nothing.
func (w *world) megabytes(names ...string) (out []int64) {
	w.t.Helper()
	for _, name := range names {
		var mb int64
		if text, err := exec.Command("du", "-sm", w.see(name)).Output(); err == nil {
			if _, err := fmt.Sscan(string(text), &mb); err != nil {
				w.t.Fatalf("du: %v %s", err, text)
			}
		}
		out = append(out, mb)
	}
	return out
}

func most(of []int64) (n int64) {
	for _, v := range of {
		n = max(n, v)
	}
	return n
}

// hold fails when something grows from the first half of the weeks to the second beyond what the rows themselves explain.
func (b *bounds) hold(t *testing.T) {
	t.Helper()
	if most(b.memory) > 400 || most(b.files) > 200 || most(b.disk) > 160 {
		t.Errorf("beyond all bounds: %s", b)
	}
	half := len(b.memory) / 2
	if half < 8 {
		return
	}
	if first, second := most(b.memory[:half]), most(b.memory[half:]); second > first*3/2+40 {
		t.Errorf("memory grows from %d to %d MB: %v", first, second, b.memory)
	}
	if first, second := most(b.files[:half]), most(b.files[half:]); second > first+40 {
		t.Errorf("open files grow from %d to %d: %v", first, second, b.files)
	}
}

func (b bounds) String() string {
	return fmt.Sprintf("at most %d MB of memory, %d open files, %d MB in the data folder, %d MB of repository, %d MB of copies",
		most(b.memory), most(b.files), most(b.disk), most(b.project), most(b.copies))
}
