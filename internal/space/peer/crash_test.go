package peer

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/op"
	"tandem/internal/testenv"
)

const crashFolder = "TANDEM_TEST_CRASH_FOLDER"

// TestMain lets the test binary be the daemon that gets killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv(crashFolder); dir != "" {
		traffic(dir)
		return
	}
	os.Exit(m.Run())
}

// traffic is a daemon under load: every line it prints was acknowledged to a
// caller before. It never ends by itself.
func traffic(dir string) {
	h := &house{t: new(testing.T), dir: dir}
	h.start()
	say := func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
	call := func(who, name string, in any) (any, error) {
		c := op.CallerFrom(h.asIn(context.Background(), who))
		return h.gate.Invoke(op.WithCaller(context.Background(), c), name, in)
	}
	run := rand.N(1 << 30)
	var all sync.WaitGroup
	for _, who := range []string{"ann", "bob", "cy"} {
		all.Go(func() {
			for i := 0; ; i++ {
				tag := fmt.Sprintf("%s-%d-%d", who, run, i)
				if _, err := call(who, "space.send", SendIn{Type: "chat", Message: tag}); err == nil {
					say("message %s", tag)
				}
				if _, err := call(who, "space.set_var", SetVarIn{Key: tag, Value: tag}); err == nil {
					say("variable %s", tag)
				}
				out, err := call(who, "board.add", AddIn{Title: tag})
				if err != nil {
					continue
				}
				say("task %s", tag)
				if _, err := call(who, "board.claim", TaskIn{TaskID: string(out.(Tasked).Task.ID)}); err == nil {
					say("claim %s %s", tag, who)
				}
			}
		})
	}
	all.Wait()
}

// kill -9 at any instant of the traffic loses nothing acknowledged and doubles
// nothing. Ten rounds with TANDEM_SOAK=1, two otherwise.
func TestKillNineLosesNoAcknowledgedWrite(t *testing.T) {
	rounds := 2
	if os.Getenv("TANDEM_SOAK") != "" {
		rounds = 10
	}
	h := newHouse(t)
	do[Created](h, "ann", "space.create", CreateIn{Name: "crash", PerMinute: 100_000})
	for _, n := range []string{"ann", "bob", "cy"} {
		do[Who](h, n, "space.rename", RenameIn{Name: n})
		if n != "ann" {
			do[Joined](h, n, "space.join", JoinIn{Code: do[Invited](h, "ann", "space.invite", InviteIn{}).Code})
		}
	}
	acked := map[string]bool{}
	for i := 0; i < rounds || len(acked) < 20 && i < 30; i++ { // a busy machine acknowledges less before each kill
		h.stop()
		for line := range killed(t, h.dir, 300*time.Millisecond+rand.N(700*time.Millisecond)) {
			acked[line] = true
		}
		h.start()
	}
	if len(acked) < 20 {
		t.Fatalf("only %d writes were acknowledged before the crashes", len(acked))
	}
	for _, who := range []string{"ann", "bob", "cy"} {
		found := h.everything(who)
		for line := range acked {
			if n := found[line]; n != 1 {
				t.Errorf("%s finds %q %d times", who, line, n)
			}
		}
	}
	t.Logf("%d acknowledged writes over %d crashes", len(acked), rounds)
}

// killed runs the traffic on a folder and kills it after a while. It returns
// what was acknowledged.
func killed(t *testing.T, dir string, after time.Duration) map[string]bool {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{crashFolder + "=" + dir, "HOME=" + dir, "TMPDIR=" + dir}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := map[string]bool{}
	var timer *time.Timer
	for scan := bufio.NewScanner(out); scan.Scan(); {
		if timer == nil { // the clock runs from the first acknowledged write
			timer = time.AfterFunc(after, func() { cmd.Process.Kill() })
		}
		if strings.Count(scan.Text(), " ") >= 1 {
			lines[scan.Text()] = true
		}
	}
	if timer == nil {
		t.Error("the traffic never began")
	}
	testenv.Killed(t, cmd)
	return lines
}

// everything counts what a member sees, as the lines that the traffic printed.
func (h *house) everything(who string) map[string]int {
	h.t.Helper()
	found := map[string]int{}
	for before := int64(0); ; {
		page := do[Inbox](h, who, "space.inbox", InboxIn{All: true, Limit: 200, Before: before})
		for _, m := range page.Messages {
			found["message "+m.Text]++
		}
		if len(page.Messages) < 200 {
			break
		}
		before = page.Messages[0].Seq
	}
	for _, v := range do[Vars](h, who, "space.get_var", GetVarIn{Key: "*"}).Vars {
		found["variable "+v.Key]++
	}
	for _, l := range do[BoardOut](h, who, "board.show", BoardIn{All: true}).Tasks {
		found["task "+l.Title]++
		if l.HolderName != "" {
			found["claim "+l.Title+" "+l.HolderName]++
		}
	}
	return found
}
