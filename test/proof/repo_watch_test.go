package proof

import (
	"bufio"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// Whoever watches a repository has a new head no later than 50 ms after the
// command that made it is told that it is safe. A watcher that comes back asks
// for what it missed.
func TestWatchersHearAtOnce(t *testing.T) {
	f := newFleet(t, 1)
	a := f.agents[0]
	heard := make(chan heard, 100)
	first := f.watch(t, "", heard)
	var late []time.Duration
	var last string
	for range testenv.Rounds(100) {
		out := f.must(t, a.dir, "new", "-m", "again")
		safe := time.Now()
		if strings.Contains(out, "to be sent") {
			t.Fatal(out)
		}
		head := f.heads(a)
		for h := range heard {
			if last = h.version; h.head == head {
				late = append(late, h.at.Sub(safe))
				break
			}
		}
	}
	slices.Sort(late)
	t.Logf("heard after the command ended: median %s, last %s", late[len(late)/2], late[len(late)-1])
	if median := late[len(late)/2]; median > 50*time.Millisecond {
		t.Errorf("half of the heads were heard %s or later after their command had ended", median)
	}
	first()
	f.must(t, a.dir, "new", "-m", "missed")
	defer f.watch(t, last, heard)()
	if h := <-heard; h.head != f.heads(a) || h.version <= last && len(h.version) <= len(last) {
		t.Errorf("after version %s came %+v; the head is %s", last, h, f.heads(a))
	}
}

// heard is a head that a watcher was told of.
type heard struct {
	head, version string
	at            time.Time
}

// watch follows the served repository from a version on; the function it gives
// ends that.
func (f *fleet) watch(t *testing.T, after string, to chan<- heard) func() {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, f.server.url+"/repo/project/watch", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+apiToken)
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("watch: %v %v", err, resp)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var id string
		for in := bufio.NewScanner(resp.Body); in.Scan(); {
			if v, ok := strings.CutPrefix(in.Text(), "id: "); ok {
				id = v
			}
			data, ok := strings.CutPrefix(in.Text(), "data: ")
			if !ok {
				continue
			}
			var c struct{ Heads []string }
			if json.Unmarshal([]byte(data), &c) == nil && len(c.Heads) == 1 {
				to <- heard{c.Heads[0], id, time.Now()}
			}
		}
	}()
	return func() { resp.Body.Close(); <-done }
}
