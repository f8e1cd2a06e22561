package peer

import (
	"bufio"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/testenv"
)

// A crowd in one space on one host. Delivery is from the call of send
// until the words are opened and stored by the slowest of all other members;
// beside it, in the same run, a bare relay on loopback that stores, checks and
// seals nothing, which is the limit. Whole (50 members, 10,000 messages, 2,000
// tasks) with TANDEM_SOAK=1, else a small part.
func TestACrowd(t *testing.T) {
	peers, messages, tasks := 12, 24, 6
	if testenv.Soak() {
		peers, messages, tasks = 50, 10_000, 2_000
	}
	h := newHouse(t)
	do[Created](h, "p0", "space.create", CreateIn{Name: "crowd", MaxPeers: int64(peers), PerMinute: 100_000})
	joining := time.Now()
	for i := 1; i < peers; i++ {
		do[Joined](h, fmt.Sprintf("p%d", i), "space.join", JoinIn{Code: do[Invited](h, "p0", "space.invite", InviteIn{}).Code})
	}
	t.Logf("%d joins took %s", peers-1, time.Since(joining).Round(time.Millisecond))
	h.refused("late", "space.join", JoinIn{Code: do[Invited](h, "p0", "space.invite", InviteIn{}).Code}, fault.Denied)

	var took []time.Duration
	var half uint64
	for i := range messages {
		from := fmt.Sprintf("p%d", i%peers)
		begin := time.Now()
		sent := do[Said](h, from, "space.send", SendIn{Type: "chat", Message: fmt.Sprintf("number %d", i)})
		h.arrives(sent.ID)
		took = append(took, time.Since(begin))
		if i == messages/2 {
			half = heap()
		}
	}
	for i := range tasks {
		who := fmt.Sprintf("p%d", i%peers)
		id := do[Tasked](h, who, "board.add", AddIn{Title: fmt.Sprintf("task %d", i)}).ID
		do[Tasked](h, who, "board.claim", TaskIn{TaskID: id})
	}
	bare := relay(t, peers, min(messages, 1000))
	t.Logf("delivery to all %d others: p50 %s, p99 %s; a bare relay: p50 %s, p99 %s (intandem allows 5 peers and 30 messages a minute)",
		peers-1, percentile(took, 50), percentile(took, 99), percentile(bare, 50), percentile(bare, 99))
	t.Logf("heap at half %d MB, at the end %d MB", half>>20, heap()>>20)
	if n := len(do[BoardOut](h, "p7", "board.show", BoardIn{All: true}).Tasks); n != tasks {
		t.Errorf("%d tasks, want %d", n, tasks)
	}
	hashes := map[string]bool{}
	for _, s := range h.peers.all() {
		s.mu.Lock()
		h.peers.fresh(t.Context(), s)
		hashes[s.hash] = true
		if s.state != active {
			t.Errorf("%s is %s: %s", s.owner, s.state, s.why)
		}
		s.mu.Unlock()
	}
	if len(hashes) != 1 {
		t.Errorf("%d different histories", len(hashes))
	}
}

// arrives waits until every member has opened a message.
func (h *house) arrives(id string) {
	var seq int64
	for _, s := range h.peers.all() {
		s.mu.Lock()
		seq = max(seq, s.posted.at[id])
		s.mu.Unlock()
	}
	h.t.Helper()
	end := time.Now().Add(30 * time.Second)
	for _, s := range h.peers.all() {
		for {
			s.mu.Lock()
			ok := s.seq >= seq
			bell := s.changed
			s.mu.Unlock()
			if ok {
				break
			}
			select {
			case <-bell:
			case <-time.After(time.Until(end)):
				h.t.Fatalf("%s never reached %s", id, s.owner)
			}
		}
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func percentile(d []time.Duration, p int) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[min(len(d)-1, len(d)*p/100)].Round(10 * time.Microsecond)
}

// relay is the least that could carry a message: a line in, the line out to
// everybody, no storage, no keys.
func relay(t *testing.T, peers, messages int) []time.Duration {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var mu sync.Mutex
	var conns []net.Conn
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
			go func() {
				for scan := bufio.NewScanner(c); scan.Scan(); {
					mu.Lock()
					for _, to := range conns {
						fmt.Fprintln(to, scan.Text())
					}
					mu.Unlock()
				}
			}()
		}
	}()
	var clients []net.Conn
	got := make(chan struct{}, peers*2)
	for range peers {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		clients = append(clients, c)
		go func() {
			for scan := bufio.NewScanner(c); scan.Scan(); {
				got <- struct{}{}
			}
		}()
	}
	testenv.Eventually(t, "all are connected", time.Minute, func() bool { mu.Lock(); defer mu.Unlock(); return len(conns) == peers })
	var took []time.Duration
	for i := range messages {
		begin := time.Now()
		fmt.Fprintln(clients[i%peers], strings.Repeat("x", 300))
		for range peers {
			<-got
		}
		took = append(took, time.Since(begin))
	}
	return took
}
