package year

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/internal/testenv"
)

// trouble is something that goes wrong, or that an operator does, while everybody works.
type trouble struct {
	name string
	only string // of houses with this database; "" is any
	do   func(*world)
}

var troubles = []trouble{
	{"nothing but work", "", func(w *world) { w.ledger.writes(10 * time.Second) }},
	{"kill -9, three times", "", (*world).killed},
	{"kill -9 in the midst of a copy", "", (*world).killedInCopy},
	{"the disk is full", "", (*world).diskFull},
	{"the journal's key is replaced", "", func(w *world) { w.rotated("journal") }},
	{"the secrets' key is replaced", "", func(w *world) { w.rotated("secret") }},
	{"the key of seats in spaces is replaced", "", func(w *world) { w.rotated("space") }},
	{"the TLS key is replaced", "", func(w *world) { w.rotated("tls") }},
	{"the default tokens are replaced", "", func(w *world) { w.rotated("tokens") }},
	{"kill -9 in the midst of a rotation", "", (*world).killedInRotation},
	{"a copy is restored while it runs", "", (*world).restored},
	{"the machine is lost, and a copy is restored", "", (*world).machineLost},
	{"the clock is set", "", (*world).clockSet},
	{"a key is lost, and put back", "", (*world).keyLost},
	{"the database file is damaged, and a copy is restored", "sqlite", (*world).damaged},
	{"PostgreSQL restarts", "postgres", func(w *world) { w.databaseEnds(w.pg.Stop) }},
	{"PostgreSQL crashes", "postgres", func(w *world) { w.databaseEnds(w.pg.Crash) }},
}

// deckOf is every trouble of such a house once, in an order of chance.
func deckOf(r *rand.Rand, database string) (out []trouble) {
	for _, tr := range troubles {
		if tr.only == "" || (tr.only == "sqlite") == (database == "sqlite") {
			out = append(out, tr)
		}
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// troubled lets one trouble happen among the work; writing goes on after it.
func (w *world) troubled(tr trouble) {
	w.t.Helper()
	w.ledger.writes(20 * time.Second)
	tr.do(w)
	w.ledger.writes(30 * time.Second)
}

// within waits a moment of chance, so that the next thing comes in the midst of others.
func (w *world) within(most time.Duration) { time.Sleep(time.Duration(w.r.Int64N(int64(most)))) }

func (w *world) killed() {
	for range 3 {
		w.within(time.Second)
		w.kill()
		w.start()
	}
}

func (w *world) killedInCopy() {
	path := filepath.Join(w.home, "cut.backup")
	ended := make(chan error, 1)
	go func() { ended <- w.call("server.backup", map[string]any{"path": path}, nil) }()
	w.within(400 * time.Millisecond)
	w.kill()
	err := <-ended
	w.start()
	if _, there := os.Stat(w.see("cut.backup")); err != nil && there == nil {
		w.must("server", "check", path) // it was whole before anybody was told
	}
	os.Remove(w.see("cut.backup"))
	left, _ := filepath.Glob(w.see(".tandem-*"))
	if len(left) > 0 {
		w.t.Errorf("half a copy is left behind: %v", left)
	}
}

// named expects one of these words where an operator looks, while the trouble lasts: /ready, the doctor and the log.
func (w *world) named(part string, words ...string) {
	w.t.Helper()
	says := func(text string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
	}
	var said error
	if !testenv.Within(20*time.Second, func() bool {
		ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Second)
		defer cancel()
		said = w.local().Call(ctx, "server.ready", nil, nil)
		return said != nil && says(said.Error())
	}) {
		w.t.Errorf("%s: /ready says %v", part, said)
	}
	var out string
	var err error
	if !testenv.Within(20*time.Second, func() bool {
		out, err = w.run("doctor")
		return err != nil && says(out)
	}) {
		w.t.Errorf("%s: the doctor says %v\n%s", part, err, out)
	}
	if !testenv.Within(20*time.Second, func() bool {
		return slices.ContainsFunc(strings.Split(w.log(), "\n"), func(line string) bool {
			return strings.Contains(line, `"not ready"`) && says(line)
		})
	}) {
		w.t.Errorf("%s: the log does not name it", part)
	}
	w.told[part]++
}

func (w *world) log() string {
	log, err := os.ReadFile(w.see(".tandem/tandem.log"))
	if err != nil {
		w.t.Error(err)
	}
	return string(log)
}

// ready expects that the server says so by itself when the trouble is over.
func (w *world) ready() {
	w.t.Helper()
	var err error
	if !testenv.Within(30*time.Second, func() bool { err = w.call("server.ready", nil, nil); return err == nil }) {
		w.t.Errorf("it is not ready again: %v", err)
	}
}

func (w *world) diskFull() {
	ballast := w.see("ballast")
	f, err := os.Create(ballast)
	if err != nil {
		w.t.Fatal(err)
	}
	for size := 1 << 20; size >= 1<<12; size /= 4 { // to the last page
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
	f.Close()
	w.named("disk", "disk")
	var said error
	if w.pg != nil { // its rows are on another disk, and keys are still taken
		w.ledger.writes(10 * time.Second)
	} else if !testenv.Within(20*time.Second, func() bool { said = w.ledger.put(60_000); return said != nil }) {
		w.t.Error("writes go on although the disk is full")
	} else if !strings.Contains(said.Error(), "disk is full") {
		w.t.Errorf("a program is told of the full disk: %v", said)
	}
	if w.r.IntN(2) == 0 { // it crashes on a full disk, too
		w.kill()
		if err := os.Remove(ballast); err != nil {
			w.t.Error(err)
		}
		w.start()
	} else if err := os.Remove(ballast); err != nil {
		w.t.Error(err)
	}
	w.ready()
}

// clockSet moves the clock of a server that runs; the crew's machines have a clock of their own, as far as this week goes.
func (w *world) clockSet() {
	by := time.Duration(2+w.r.IntN(30)) * time.Hour
	if w.r.IntN(2) == 0 {
		by = -by
	}
	was := w.moved
	w.moved += by
	w.setClock()
	w.named("clock", "clock")
	w.moved = was
	w.setClock()
	w.ready()
	var out string
	if !testenv.Within(10*time.Second, func() bool {
		out = w.must("audit", "log", "--rows", "--type", "server.clock")
		return strings.Contains(out, "server.clock")
	}) {
		w.t.Errorf("the journal does not tell of the clock:\n%s", out)
	}
}

func (w *world) keyLost() {
	name := []string{"journal.key", "space.key"}[w.r.IntN(2)]
	if err := os.Rename(w.see(".tandem/"+name), w.see("aside")); err != nil {
		w.t.Fatal(err)
	}
	w.named(name, name)
	w.stop()
	if err := w.tryStart(); err == nil {
		w.t.Errorf("it starts without %s", name)
	}
	if out, err := w.run("doctor"); err == nil || !strings.Contains(out, name) {
		w.t.Errorf("without %s the doctor says: %v\n%s", name, err, out)
	}
	if err := os.Rename(w.see("aside"), w.see(".tandem/"+name)); err != nil {
		w.t.Fatal(err)
	}
	w.start()
}

// databaseEnds stops the database for some seconds.
func (w *world) databaseEnds(how func()) {
	how()
	w.within(time.Second)
	w.named("database", "PostgreSQL", "the database")
	w.pg.Start()
	w.ready()
}

func (w *world) pid() int {
	var st struct {
		PID int `json:"pid"`
	}
	if err := w.call("server.status", nil, &st); err != nil || st.PID == 0 {
		w.t.Fatalf("status: %+v %v", st, err)
	}
	return st.PID
}
