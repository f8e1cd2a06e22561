package contextrun

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tandem/internal/contextrun/wire"
	"tandem/internal/testenv"
)

// The law of this room: whatever workers do in whatever order, and whatever of it is refused, the rows of a run are what its events make
// of it, from the first event and from any checkpoint, and the state after any event is what it was then.
func TestRowsAreWhatEventsMakeOfThem(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		b := openedBy(t, filepath.Join(dir, fmt.Sprint(n, ".db")))
		defer b.db.Close()
		b.begin("r")
		tokens := map[string]string{}
		count := 0
		var then []byte
		var thenSeq int64
		id := rapid.Custom(func(t *rapid.T) string { return fmt.Sprint("t", rapid.IntRange(1, max(1, count)).Draw(t, "nr")) })
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			b.now = b.now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "seconds")) * time.Second)
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0, 1:
				in := wire.AppendIn{ID: "r", Type: rapid.SampledFrom([]string{"step_started", "step_completed", "said"}).Draw(t, "type"),
					Step:   rapid.SampledFrom([]string{"", "build", "new"}).Draw(t, "step"),
					Status: rapid.SampledFrom([]wire.Status{"", wire.Running, wire.Paused, wire.Failed}).Draw(t, "status")}
				in.Payload, _ = json.Marshal(map[string]any{"why_next_step": rapid.String().Draw(t, "why"), "error": "e",
					"steps": []wire.Step{{ID: "more", Stage: wire.Runnable}}, "replace_steps": rapid.Bool().Draw(t, "replace")})
				_, _ = do(b, ann, b.room.append, in)
			case 2, 3:
				var list []wire.TaskIn
				for range rapid.IntRange(1, 4).Draw(t, "tasks") {
					task := wire.TaskIn{ID: fmt.Sprint("t", count+len(list)+1), Kind: "k", MaxAttempts: rapid.IntRange(0, 3).Draw(t, "most"),
						Priority: rapid.IntRange(-1, 1).Draw(t, "priority"), Payload: json.RawMessage(`{"a": [1,  2]}`)}
					for range rapid.IntRange(0, 3).Draw(t, "needs") {
						task.After = append(task.After, id.Draw(t, "need"))
					}
					list = append(list, task)
				}
				if _, err := do(b, ann, b.room.add, wire.AddIn{ID: "r", Tasks: list}); err == nil {
					count += len(list)
				}
			case 4, 5:
				if out, err := do(b, ben, b.room.claim, wire.ClaimIn{ID: "r", Agent: "a", LeaseMS: 20_000}); err == nil && out.Task != nil {
					tokens[out.Task.ID] = out.Task.Token
				}
			case 6, 7:
				task := id.Draw(t, "task")
				_, _ = do(b, ann, b.room.transition, wire.TransitionIn{ID: "r", Task: task, Token: tokens[task], Error: "why",
					Action:  rapid.SampledFrom([]string{"heartbeat", "complete", "fail", "block", "release", "retry", "status"}).Draw(t, "action"),
					Stage:   rapid.SampledFrom(wire.Stages).Draw(t, "stage"),
					AfterMS: rapid.SampledFrom([]int64{0, 30_000}).Draw(t, "after")})
			case 8:
				_, _ = do(b, ann, b.room.patch, wire.PatchIn{ID: "r", Op: rapid.SampledFrom(sections).Draw(t, "op"), Path: "p",
					Text: rapid.String().Draw(t, "text"), Item: rapid.SampledFrom([]string{"", "same"}).Draw(t, "item")})
			case 9:
				_, _ = do(b, ann, b.room.checkpoint, wire.CheckpointIn{ID: "r"})
				_, _ = do(b, ann, b.room.next, wire.NextIn{ID: "r"})
			}
			if thenSeq == 0 && rapid.Bool().Draw(t, "remember") {
				out := b.sound("r")
				then, _ = json.Marshal(State{Run: out.Run, Board: out.Board, Tasks: byID(out.Tasks)})
				thenSeq = out.Run.Events
			}
		}
		b.sound("r")
		if thenSeq > 0 {
			out, err := b.room.replay(ann, wire.ReplayIn{ID: "r", Upto: thenSeq})
			if err != nil {
				t.Fatal(err)
			}
			now, _ := json.Marshal(State{Run: out.Run, Board: out.Board, Tasks: byID(out.Tasks)})
			if string(now) != string(then) {
				t.Fatalf("after event %d it was\n%s\nand is replayed as\n%s", thenSeq, then, now)
			}
		}
	})
}

func byID(all []*wire.Task) map[string]*wire.Task {
	out := map[string]*wire.Task{}
	for _, t := range all {
		out[t.ID] = t
	}
	return out
}

// TestKilled is the worker of TestKilledAtAnyInstant: it works until it is killed, and says what was answered.
func TestKilled(t *testing.T) {
	path := os.Getenv("TANDEM_TEST_CONTEXT_DB")
	if path == "" {
		return // nobody kills it
	}
	b := opened(t, path)
	b.now = time.Now()
	for i := 0; ; i++ {
		b.now = time.Now()
		step := fmt.Sprint("s", i%7)
		out, err := do(b, ann, b.room.append, wire.AppendIn{ID: "r", Type: "step_started", Step: step})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(out.Event.Seq)
		if i%5 == 0 {
			must(b, ann, b.room.add, wire.AddIn{ID: "r", Tasks: []wire.TaskIn{{Kind: "k"}}})
			if got := must(b, ann, b.room.claim, wire.ClaimIn{ID: "r"}); got.Task != nil {
				must(b, ann, b.room.transition, wire.TransitionIn{ID: "r", Task: got.Task.ID, Action: "complete", Token: got.Task.Token})
			}
			must(b, ann, b.room.patch, wire.PatchIn{ID: "r", Op: "add_fact", Text: step})
		}
	}
}

// A worker is killed with signal 9 at any instant, twelve times. What was answered is there, and nothing is there half.
func TestKilledAtAnyInstant(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	b := opened(t, path)
	b.begin("r")
	b.db.Close()
	for i := range 12 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), "TANDEM_TEST_CONTEXT_DB="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		if !lines.Scan() {
			t.Fatal("the worker did not begin")
		}
		var answered int64
		kill := time.AfterFunc(time.Duration(rand.IntN(150_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		for ok := true; ok; ok = lines.Scan() {
			var seq int64
			if n, _ := fmt.Sscanf(lines.Text()+".", "%d.", &seq); n == 1 {
				answered = max(answered, seq)
			}
		}
		_ = cmd.Wait()
		kill.Stop()
		after := opened(t, path)
		if r := after.sound("r").Run; r.Events < answered {
			t.Errorf("kill %d: event %d was answered, and %d are there", i, answered, r.Events)
		}
		after.db.Close()
	}
}

// An event costs the same however many there are: behind 3,800 of them 50 take at most four times as long as at the beginning,
// where reading them all again would take many times that.
func TestAnEventCostsTheSame(t *testing.T) {
	b := opened(t, filepath.Join(t.TempDir(), "a.db"))
	b.begin("r")
	took := func(n int) time.Duration {
		began := time.Now()
		for range n {
			must(b, ann, b.room.append, wire.AppendIn{ID: "r", Type: "said", Payload: json.RawMessage(`{"text":"hello"}`)})
		}
		return time.Since(began)
	}
	first, last := time.Hour, time.Duration(0)
	for range 4 { // the shortest counts: another process may have the machine
		first = min(first, took(50))
	}
	took(3600)
	if !testenv.Within(time.Minute, func() bool { last = took(50); return last < 4*first }) {
		t.Errorf("of the first 200, 50 took %v, and of the last %v", first, last)
	}
	t.Logf("of the first 200, 50 took %v, and of the last %v", first, last)
}
