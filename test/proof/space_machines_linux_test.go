package proof

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// Three daemons with addresses of their own share a space over TLS; the host's
// daemon is killed during traffic and started again, again and again. Nothing
// that was acknowledged is lost or doubled, what could not be sent waits, and
// all three end with the same history. Ten kills with TANDEM_SOAK=1.
func TestMachinesLoseNothingWhenTheHostIsKilled(t *testing.T) {
	const inside = "TANDEM_TEST_MACHINES_INSIDE"
	if os.Getenv(inside) == "" {
		line := append(unshare(t, "-n"), "sh", "-ec", `ip link set lo up
for i in 1 2 3; do ip addr add 10.99.1.$i/32 dev lo; done
exec "$0" "$@"`, os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Env = append(os.Environ(), inside+"=1", "TANDEM_TEST_BINARY="+testenv.Tandem(t), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, l := range strings.Split(string(out), "\n") {
			if strings.Contains(l, "acknowledged") {
				t.Log(strings.TrimSpace(l))
			}
		}
		return
	}
	var boxes []*box
	for i, name := range []string{"ann", "bob", "cy"} {
		b := &box{t: t, name: name, home: testenv.Dir(t), listen: fmt.Sprintf("10.99.1.%d:44%d", i+1, 31+i)}
		b.up()
		t.Cleanup(func() { b.kill() })
		b.must("space", "rename", name)
		boxes = append(boxes, b)
	}
	host := boxes[0]
	var made struct{ Code string }
	host.json(&made, "space", "create", "far", "--messages-per-minute", "100000")
	boxes[1].must("space", "join", made.Code)
	host.json(&made, "space", "invite", "--link")
	boxes[2].must("space", "join", made.Code)

	var mu sync.Mutex
	acked := map[string]bool{}
	stop := make(chan struct{})
	var all sync.WaitGroup
	for _, b := range boxes {
		all.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				text := fmt.Sprintf("%s-%d", b.name, i)
				b.down.RLock()
				out, err := b.try("space", "send", text, "--json")
				b.down.RUnlock()
				var said struct{ State string }
				if err == nil && json.Unmarshal(out, &said) == nil && said.State != "" { // stored or queued: both are promises
					mu.Lock()
					acked[text] = true
					mu.Unlock()
				}
			}
		})
	}
	kills := max(2, testenv.Rounds(10))
	for range kills {
		time.Sleep(700 * time.Millisecond)
		// A command on the host's own machine would start a daemon on demand,
		// which has no address; the traffic in flight is the other machines'.
		host.down.Lock()
		host.kill()
		time.Sleep(300 * time.Millisecond)
		host.up()
		host.down.Unlock()
	}
	close(stop)
	all.Wait()
	if len(acked) < 10 {
		t.Fatalf("only %d messages were acknowledged", len(acked))
	}
	for _, b := range boxes {
		var missing string
		for end := time.Now().Add(40 * time.Second); ; time.Sleep(300 * time.Millisecond) {
			seen := b.history()
			missing = ""
			for text := range acked {
				if n := seen[text]; n != 1 {
					missing = fmt.Sprintf("%s finds %q %d times", b.name, text, n)
				}
			}
			if missing == "" || time.Now().After(end) {
				break
			}
		}
		if missing != "" {
			t.Error(missing)
		}
	}
	t.Logf("%d acknowledged messages over %d kills of the host", len(acked), kills)
	// the same history: the hash of an entry covers all before it
	heads := map[string]bool{}
	for _, b := range boxes {
		var log struct {
			Entries []struct {
				Seq  int64
				Hash string
			}
		}
		at := int64(len(acked)) // all have at least these
		b.json(&log, "space", "log", "--limit", "1", "--before", fmt.Sprint(at+1))
		if len(log.Entries) != 1 || log.Entries[0].Seq != at || log.Entries[0].Hash == "" {
			t.Fatalf("%s has no entry %d: %+v", b.name, at, log.Entries)
		}
		heads[log.Entries[0].Hash] = true
	}
	if len(heads) != 1 {
		t.Errorf("%d different histories", len(heads))
	}
}

// box is a machine: a home and a daemon with an address of its own.
type box struct {
	t                  *testing.T
	name, home, listen string
	down               sync.RWMutex
}

func (b *box) try(args ...string) ([]byte, error) {
	cmd := exec.Command(testenv.Tandem(b.t), args...)
	cmd.Dir = b.home
	cmd.Env = []string{"HOME=" + b.home, "TMPDIR=" + b.home, "PATH=/usr/bin:/bin", "LANG=C.UTF-8"}
	return cmd.Output()
}

func (b *box) must(args ...string) []byte {
	b.t.Helper()
	out, err := b.try(args...)
	if err != nil {
		if e, ok := err.(*exec.ExitError); ok {
			err = fmt.Errorf("%w: %s", err, e.Stderr)
		}
		b.t.Fatalf("%s: tandem %s: %v", b.name, strings.Join(args, " "), err)
	}
	return out
}

func (b *box) json(into any, args ...string) {
	b.t.Helper()
	if err := json.Unmarshal(b.must(append(args, "--json")...), into); err != nil {
		b.t.Fatalf("%s: tandem %s: %v", b.name, strings.Join(args, " "), err)
	}
}

func (b *box) up() {
	b.t.Helper()
	b.must("up", "--listen", b.listen)
}

// kill ends the daemon as a crash does.
func (b *box) kill() {
	var s struct{ PID int }
	out, _ := b.try("status", "--json") // it fails when nothing runs
	if json.Unmarshal(out, &s) != nil || s.PID <= 1 {
		return
	}
	syscall.Kill(s.PID, syscall.SIGKILL)
	for range 300 {
		if _, err := os.Stat(filepath.Join("/proc", fmt.Sprint(s.PID))); err != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// history counts every message this member knows.
func (b *box) history() map[string]int {
	b.t.Helper()
	seen := map[string]int{}
	for before := int64(0); ; {
		var page struct {
			Messages []struct {
				Seq  int64
				Text string
			}
		}
		b.json(&page, "space", "inbox", "--all", "--limit", "200", "--before", fmt.Sprint(before))
		for _, m := range page.Messages {
			seen[m.Text]++
		}
		if len(page.Messages) < 200 {
			return seen
		}
		before = page.Messages[0].Seq
	}
}
