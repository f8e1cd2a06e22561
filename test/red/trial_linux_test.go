package red

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// trial is a way that needs no shell: something hostile that is handed to the house or to a part of it. It is tried where the guard is
// opened on purpose, and as the house is, and says of each whether it worked.
type trial struct {
	chapter, name string
	try           func(s *stage) (opened, guarded bool)
}

// trials are all of them, in the order of the table.
var trials = slices.Concat(requestTrials, ruleTrials, epochTrials, scriptTrials, hostTrials, connectorTrials)

// stage is what trials share, made when the first of them needs it.
type stage struct {
	*testing.T
	rooms map[string]any
	whole bool // not a sample
}

// shared is the stage's one thing of that name.
func shared[T any](s *stage, name string, make func() T) T {
	if s.rooms[name] == nil {
		s.rooms[name] = make()
	}
	return s.rooms[name].(T)
}

// must ends a trial that could not be set up.
func must[T any](s *stage) func(v T, err error) T {
	return func(v T, err error) T {
		s.Helper()
		if err != nil {
			s.Fatal(err)
		}
		return v
	}
}

// child names the trial whose half a process of this test is to run, so that one that never ends can be ended.
const child = "TANDEM_RED_TRIAL"

// halves are what children run: the trial's name, and what it does with the guard opened and as it is.
var halves = map[string][2]func(){}

// dear is a trial of something that costs too much: it worked when it has not ended well after a few seconds.
func dear(chapter, name string, opened, guarded func()) trial {
	halves[name] = [2]func(){opened, guarded}
	return trial{chapter, name, func(s *stage) (bool, bool) { return s.lasts(name+"/0", dearly), s.lasts(name+"/1", 10*dearly) }}
}

// lasts reports whether a half did not end well, or took longer of a processor's time than is dear. A machine that does other things may
// need patience until then.
func (s *stage) lasts(half string, patience time.Duration) bool {
	s.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHalf$")
	cmd.Env = testenv.Env(s.T, child+"="+half, "GOMAXPROCS=1", "GOMEMLIMIT=1GiB")
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return err != nil || cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime() > dearly
	case <-time.After(patience):
		cmd.Process.Kill() //nolint:errcheck // it may have ended meanwhile
		<-ended
		return true
	}
}

// dearly is how long something may take before it counts as a way to stop the house.
const dearly = 3 * time.Second

// TestHalf is what a child runs.
func TestHalf(t *testing.T) {
	half := os.Getenv(child)
	if half == "" {
		t.Skip("it runs in a process of a trial's")
	}
	for name, both := range halves {
		if half == name+"/0" {
			both[0]()
		}
		if half == name+"/1" {
			both[1]()
		}
	}
}

// TestTrials tries what needs no shell. What the table in docs/THREATS.md says is what is found.
func TestTrials(t *testing.T) {
	began, write := time.Now(), os.Getenv("TANDEM_UPDATE") != ""
	whole := testenv.Soak() || write
	order := slices.Clone(trials)
	if only := os.Getenv("TANDEM_RED_CHAPTER"); only != "" { // while a chapter is written
		order = slices.DeleteFunc(order, func(w trial) bool { return w.chapter != only })
		whole = true
	}
	if !whole {
		r := testenv.Random(t)
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		order = order[:len(order)/3]
	}
	found, table := map[string][]string{}, houseTable.read(t)
	s := &stage{T: t, rooms: map[string]any{}, whole: whole}
	for _, w := range order {
		if !whole && time.Since(began) > patient {
			t.Logf("the sample ends here: %s", time.Since(began).Round(time.Second))
			break
		}
		opened, guarded := w.try(s)
		if !opened {
			t.Errorf("%s, %s: it does not work even with the guard opened, so it shows nothing", w.chapter, w.name)
		}
		row := key(w.chapter, w.name)
		found[row] = []string{word(guarded)}
		if table[row] != word(guarded) && !write {
			t.Errorf("%s: %s, but docs/THREATS.md says %q. If this is meant: TANDEM_UPDATE=1 make soak ROOM=./test/red", row, word(guarded),
				table[row])
		}
	}
	if write {
		houseTable.save(t, found)
	}
	t.Logf("%d trials in %s", len(found), time.Since(began).Round(time.Second))
}
