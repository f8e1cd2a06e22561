package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tandem/internal/client"
)

// The size of the crowd: what is promised, unless the environment makes it
// smaller for a try.
func crowd() (peers, messages, tasks int) {
	if v := strings.Split(os.Getenv("BENCH_CROWD"), ","); len(v) == 3 {
		p, errP := strconv.Atoi(v[0])
		m, errM := strconv.Atoi(v[1])
		t, errT := strconv.Atoi(v[2])
		if errors.Join(errP, errM, errT) == nil {
			return p, m, t
		}
	}
	return 50, 10_000, 2_000
}

// A slow machine gets this long for each part, and the results say how far it
// came.
const longest = 3 * time.Minute

// inFlight is how many members speak, all at the same time.
const inFlight = 4

// spaces measures a crowd in one space on one host: every member waits as an
// agent's wake hook does, and a message has arrived when that wait answers with
// its id. A bare relay passes the same number of bytes on in the same run.
func spaces(int) (section, error) {
	peers, messages, tasks := crowd()
	s := section{title: "A crowd in a space",
		how: fmt.Sprintf("%d members on one host, %d sealed messages to all from %d of them at once, %d tasks added and claimed. "+
			"Delivery is from the call of send until another member's wake hook has the message's id: sealed, signed, checked, "+
			"stored and synced by the host, opened, checked, stored and synced by each member. "+
			"Beside it a WebSocket relay on loopback that stores, checks and seals nothing. intandem allows 5 peers and 30 messages a minute.",
			peers,
			messages, inFlight, tasks)}
	bare, err := measureRelay(peers, min(messages, 2000))
	if err != nil {
		return s, err
	}
	p, err := startProgram("TANDEM_WAKES_PER_HOUR=1000000")
	if err != nil {
		return s, err
	}
	defer p.stop()
	c, err := newCrowd(p, peers)
	if err != nil {
		return s, err
	}
	joined := time.Since(c.began)
	began := time.Now()
	said, took, rss, err := c.talk(messages)
	if err != nil {
		return s, err
	}
	talked := time.Since(began)
	began = time.Now()
	did, err := c.work(tasks)
	if err != nil {
		return s, err
	}
	worked := time.Since(began)
	third, fourth := average(rss[len(rss)/2:len(rss)*3/4]), average(rss[len(rss)*3/4:])
	s.figures = []figure{
		{what: "delivery, p50", value: ms(took, 50), compared: ms(bare, 50) + " (bare relay)"},
		{what: "delivery, p99", value: ms(took, 99), compared: ms(bare, 99) + " (bare relay)"},
		{what: fmt.Sprintf("messages to all others, %d of %d", said, messages), value: perSecond(float64(said) / talked.Seconds()),
			compared: "0.5/s a peer (intandem's limit)"},
		{what: fmt.Sprintf("tasks added and claimed, %d of %d", did, tasks), value: perSecond(float64(did) / worked.Seconds())},
		{what: fmt.Sprintf("joins by code, %d members", peers), value: perSecond(float64(peers-1) / joined.Seconds()),
			compared: "5 members at most (intandem)"},
		{what: "memory, third and last quarter of the messages", value: fmt.Sprintf("%.0f MB, %.0f MB", third, fourth), target: "grows < 10 %",
			met: fourth < third*1.1},
	}
	return s, nil
}

type seatOf struct {
	c    *client.Client
	name string
}

type crowdOf struct {
	p     *program
	seats []seatOf
	began time.Time

	mu   sync.Mutex
	sent map[string]time.Time // by id
	took []time.Duration
	here sync.WaitGroup
	got  atomic.Int64
}

func newCrowd(p *program, peers int) (*crowdOf, error) {
	c := &crowdOf{p: p, began: time.Now(), sent: map[string]time.Time{}}
	ctx := context.Background()
	for i := range peers {
		s := seatOf{client.Socket(filepath.Join(p.dir, "data", "tandem.sock")).
			WithClient(client.About{ID: fmt.Sprintf("%d.%d.peer%d", os.Getpid(), os.Getppid(), i), Folder: p.dir, Agent: "bench"}),
			fmt.Sprintf("peer%d", i)}
		var made struct{ Code string }
		var err error
		if i == 0 {
			err = s.c.Call(ctx, "space.create", map[string]any{"name": "crowd", "max_peers": peers, "messages_per_minute": 100_000}, &made)
		} else if err = c.seats[0].c.Call(ctx, "space.invite", map[string]any{}, &made); err == nil {
			err = s.c.Call(ctx, "space.join", map[string]any{"code": made.Code}, nil)
		}
		if err != nil {
			return nil, fmt.Errorf("member %d: %w", i, err)
		}
		c.seats = append(c.seats, s)
	}
	return c, nil
}

// listen waits as a hook does, again and again.
func (c *crowdOf) listen(ctx context.Context, s seatOf) {
	for ctx.Err() == nil {
		var out struct{ IDs []string }
		if err := s.c.Call(ctx, "space.wait", map[string]any{"seconds": 30}, &out); err != nil {
			return
		}
		now := time.Now()
		c.mu.Lock()
		for _, id := range out.IDs {
			if at, ok := c.sent[id]; ok {
				c.took = append(c.took, now.Sub(at))
			} else {
				c.sent[id+"/"+s.name] = now // it arrived before its sender had the answer
			}
		}
		c.mu.Unlock()
		c.got.Add(int64(len(out.IDs)))
	}
}

func (c *crowdOf) talk(messages int) (said int, took []time.Duration, rss []float64, err error) {
	end := time.Now().Add(longest)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ears := c.seats[inFlight:] // who speaks hears of messages with the answers to its own
	for _, s := range ears {
		c.here.Go(func() { c.listen(ctx, s) })
	}
	var n, sent atomic.Int64
	var failed atomic.Value
	var senders sync.WaitGroup
	for k := range inFlight {
		senders.Go(func() {
			for {
				i := int(n.Add(1)) - 1
				if i >= messages || failed.Load() != nil || time.Now().After(end) {
					return
				}
				sent.Add(1)
				s := c.seats[k]
				var out struct{ ID, State string }
				began := time.Now()
				if err := s.c.Call(ctx, "space.send", map[string]any{"type": "chat",
					"message": fmt.Sprintf("number %d %s", i, strings.Repeat("x", 200))}, &out); err != nil {
					failed.Store(err)
					return
				}
				c.mu.Lock()
				c.sent[out.ID] = began
				for _, to := range ears {
					if at, ok := c.sent[out.ID+"/"+to.name]; ok {
						c.took = append(c.took, at.Sub(began))
						delete(c.sent, out.ID+"/"+to.name)
					}
				}
				if i%max(1, messages/40) == 0 {
					if mb, err := c.p.memory(); err == nil {
						rss = append(rss, mb)
					}
				}
				c.mu.Unlock()
			}
		})
	}
	senders.Wait()
	if err, ok := failed.Load().(error); ok {
		return 0, nil, nil, err
	}
	want := sent.Load() * int64(len(ears))
	for end := time.Now().Add(30 * time.Second); c.got.Load() < want && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	c.here.Wait()
	if got := c.got.Load(); got != want {
		return 0, nil, nil, fmt.Errorf("%d of %d deliveries arrived", got, want)
	}
	return int(sent.Load()), c.took, rss, nil
}

// work fills the board.
func (c *crowdOf) work(tasks int) (int, error) {
	end := time.Now().Add(longest / 2)
	var n, did atomic.Int64
	errs := make(chan error, inFlight)
	for k := range inFlight {
		go func() {
			for {
				i := int(n.Add(1)) - 1
				if i >= tasks || time.Now().After(end) {
					errs <- nil
					return
				}
				did.Add(1)
				s := c.seats[(i*inFlight+k)%len(c.seats)]
				var out struct{ ID string }
				err := s.c.Call(context.Background(), "board.add", map[string]any{"title": fmt.Sprintf("task %d", i)}, &out)
				if err == nil {
					err = s.c.Call(context.Background(), "board.claim", map[string]any{"task_id": out.ID}, nil)
				}
				if err != nil {
					errs <- err
					return
				}
			}
		}()
	}
	var err error
	for range inFlight {
		err = errors.Join(err, <-errs)
	}
	return int(did.Load()), err
}

// measureRelay has the same crowd speak through a bare relay.
func measureRelay(peers, messages int) ([]time.Duration, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	cmd := exec.Command(self, "-relay", addr)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	up := false
	for range 500 {
		if resp, err := http.Get("http://" + addr); err == nil {
			resp.Body.Close()
			up = true
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !up {
		return nil, errors.New("the relay does not answer")
	}
	type message struct {
		At   int64
		Text string
	}
	var mu sync.Mutex
	var took []time.Duration
	var got atomic.Int64
	var all []*socket
	for range peers {
		s, err := dialSocket(addr)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		all = append(all, s)
		go func() {
			for {
				data, err := s.read()
				if err != nil {
					return
				}
				var m message
				if json.Unmarshal(data, &m) == nil {
					mu.Lock()
					took = append(took, time.Since(time.UnixMicro(m.At)))
					mu.Unlock()
					got.Add(1)
				}
			}
		}()
	}
	for i := range messages {
		data, err := json.Marshal(message{time.Now().UnixMicro(), strings.Repeat("x", 300)})
		if err != nil {
			return nil, err
		}
		if err := all[i%peers].write(data); err != nil {
			return nil, err
		}
		for want, end := int64((i+1-inFlight)*(peers-1)), time.Now().Add(10*time.Second); got.Load() < want; {
			if time.Now().After(end) {
				return nil, errors.New("the relay lost a message")
			}
			time.Sleep(20 * time.Microsecond)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	return slices.Clone(took), nil
}

func ms(d []time.Duration, p int) string {
	d = slices.Sorted(slices.Values(d))
	if len(d) == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%.1f ms", float64(d[min(len(d)-1, len(d)*p/100)].Microseconds())/1000)
}

func average(v []float64) float64 {
	var sum float64
	for _, x := range v {
		sum += x
	}
	return sum / float64(max(1, len(v)))
}
