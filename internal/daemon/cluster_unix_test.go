//go:build unix

package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"tandem/internal/approval"
	"tandem/internal/client"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/installation"
	owners "tandem/internal/owner"
	"tandem/internal/testenv"
)

// callers call several servers and keep what they heard.
type callers struct {
	t       *testing.T
	bases   []string
	begin   time.Time
	dead    atomic.Bool // one was killed
	mu      sync.Mutex
	history []porcupine.Operation
}

// post asks one server. sent is false when nobody was there to hear it.
func (c *callers) post(base, name, key string, in any) (out heard, sent bool) {
	body, err := json.Marshal(in)
	if err != nil {
		c.t.Error(err)
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", base+"/op/"+name, bytes.NewReader(body))
	if err != nil {
		c.t.Error(err)
		return out, false
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+walkAPI)
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := http.DefaultClient.Do(req)
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return out, false
	}
	if err != nil {
		return heard{unknown: true}, true
	}
	defer res.Body.Close()
	var said struct {
		Rev   int64  `json:"rev"`
		Value string `json:"value"`
	}
	err = json.NewDecoder(res.Body).Decode(&said)
	switch {
	case res.StatusCode == http.StatusOK && err == nil:
		return heard{ok: true, rev: said.Rev, value: said.Value}, true
	case res.StatusCode == http.StatusConflict, res.StatusCode == http.StatusNotFound, res.StatusCode == http.StatusAccepted:
		return heard{}, true
	case !c.dead.Load():
		c.t.Errorf("%s answered %d", name, res.StatusCode)
	}
	return heard{unknown: true}, true
}

// ask asks a random server and writes down what was heard.
func (c *callers) ask(who int, r *rand.Rand, q asked, name, key string, in any) heard {
	base := c.bases[r.IntN(len(c.bases))]
	call := time.Since(c.begin).Nanoseconds()
	out, sent := c.post(base, name, key, in)
	end := time.Since(c.begin).Nanoseconds()
	if !sent {
		return heard{}
	}
	if out.unknown {
		end = int64(1) << 60 // it may still come about
	}
	c.write(porcupine.Operation{ClientId: who, Input: q, Call: call, Output: out, Return: end})
	return out
}

func (c *callers) write(o porcupine.Operation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history = append(c.history, o)
}

// work does what agents do, until the time is up.
func (c *callers) work(who int, r *rand.Rand, until time.Time) {
	var seen heard
	for i := 0; time.Now().Before(until); i++ {
		mine := fmt.Sprintf("w%d-%d", who, i)
		switch n := r.IntN(2); r.IntN(4) {
		case 0:
			key := fmt.Sprintf("register/%d", n)
			seen = c.ask(who, r, asked{key: key, verb: "get"}, "resource.get", "", obj{"key": key})
		case 1:
			key := fmt.Sprintf("register/%d", n)
			in := obj{"key": key, "value": mine, "if_match_rev": seen.rev}
			if seen.rev == 0 {
				in = obj{"key": key, "value": mine, "if_absent": true}
			}
			c.ask(who, r, asked{key: key, verb: "put", arg: mine, rev: seen.rev}, "resource.put", "", in)
		case 2:
			key := fmt.Sprintf("claim/%d", n)
			got := c.ask(who, r, asked{key: key, verb: "take", arg: mine}, "resource.put", "", obj{"key": key, "value": mine, "if_absent": true})
			if got.ok {
				c.ask(who, r, asked{key: key, verb: "release", arg: mine}, "resource.delete", "", obj{"key": key, "if_match_rev": got.rev})
			}
		case 3:
			key := fmt.Sprintf("once/%d", who%2)
			var twice sync.WaitGroup
			for range 2 { // a client that was not sure, and asks again, maybe elsewhere
				other := rand.New(rand.NewPCG(r.Uint64(), r.Uint64()))
				twice.Go(func() {
					c.ask(who, other, asked{key: key, verb: "do", arg: mine}, "resource.put", mine, obj{"key": key, "value": mine})
				})
			}
			twice.Wait()
		}
	}
}

// Two servers serve one PostgreSQL: each call goes to a random one, and one of them is killed under load. What everybody heard is what one
// server could have said that does one thing after the other: registers, claims, approvals, what is done once for an idempotency
// key. What the dead one was about is settled by the other, and the other's own is not.
func TestTwoServersAreAsOne(t *testing.T) {
	if os.Getenv("CLAIM_DATA") != "" {
		beElsewhere(t)
		return
	}
	t.Setenv("CLAIM_CLUSTER", "team")
	dsn, dir, r := testenv.Postgres(t), testenv.Dir(t), testenv.Random(t)
	a := onFolder(t, filepath.Join(dir, "a"), dsn)
	a.lease = 3 * time.Second
	a.start()
	t.Cleanup(func() { a.stop() }) //nolint:errcheck // it is looked at below
	second := filepath.Join(dir, "b")
	copyKeys(t, filepath.Join(dir, "a"), second)
	at(t, second, "hom_b")
	b := startElsewhere(t, second, dsn, "CLAIM_CLUSTER=team", "CLAIM_LEASE=3s")
	sockets := []*client.Client{client.Socket(SocketPath(filepath.Join(dir, "a"), "")), client.Socket(SocketPath(second, ""))}
	if err := sockets[0].Call(t.Context(), "pin.set", obj{"pin": "246813"}, nil); err != nil {
		t.Fatal(err)
	}
	c := &callers{t: t, bases: []string{"http://" + a.d.listens[0], b.base}, begin: time.Now()}
	c.approvals(a, sockets)

	living, err := owners.Living(t.Context(), a.d.db)
	if err != nil || len(living) != 2 {
		t.Fatalf("%v live, %v", living, err)
	}
	for i, s := range living {
		intend(t, a.d.db, int64(1_000_000+i), s.ID)
	}
	took := time.Duration(testenv.Rounds(40)) * time.Second
	until := time.Now().Add(took)
	var all sync.WaitGroup
	for who := range 4 {
		own := rand.New(rand.NewPCG(r.Uint64(), uint64(who)))
		all.Go(func() { c.work(who, own, until) })
	}
	time.AfterFunc(took/2, func() {
		c.dead.Store(true)
		syscall.Kill(b.pid, syscall.SIGKILL) //nolint:errcheck // it is waited for below
	})
	all.Wait()
	<-b.ended

	known := 0
	for _, o := range c.history {
		if !o.Output.(heard).unknown {
			known++
		}
	}
	t.Logf("%d calls, the answers of %d are known", len(c.history), known)
	if res := porcupine.CheckOperationsTimeout(clusterModel, c.history, time.Minute); res != porcupine.Ok {
		t.Errorf("what was heard is not what one server could have said: %s", res)
	}
	settled(t, a.d.db, living)
}

// approvals are decided and spent at both servers at once: one decision counts, and one call is made with it.
func (c *callers) approvals(a *kept, sockets []*client.Client) {
	t := c.t
	a.must("grant.add", obj{"principal": "service:api", "resource": "resource:/asked", "effect": "ask", "permissions": []string{"edit"}})
	for i := range testenv.Rounds(30) {
		put := obj{"key": fmt.Sprintf("asked/%d", i), "value": "on"}
		if out, sent := c.post(c.bases[i%2], "resource.put", "", put); out.ok || !sent {
			t.Fatalf("the call was not asked for: %+v, %v", out, sent)
		}
		waiting := a.must("approval.list", obj{"state": "pending"}).(approval.ListOut)
		if len(waiting.Asks) != 1 {
			t.Fatalf("%d asks wait", len(waiting.Asks))
		}
		ask := a.must("approval.get", obj{"id": waiting.Asks[0].ID}).(*approval.Ask)
		yes := obj{"id": ask.ID, "decision": "approve", "digest": ask.Digest, "pages": []string{ask.Pages()[0].Digest}}
		both := func(verb string, do func(n int) heard) {
			var all sync.WaitGroup
			for n := range 2 {
				all.Go(func() {
					call := time.Since(c.begin).Nanoseconds()
					out := do(n)
					c.write(porcupine.Operation{ClientId: n, Input: asked{key: "ask/" + ask.ID, verb: verb}, Call: call, Output: out,
						Return: time.Since(c.begin).Nanoseconds()})
				})
			}
			all.Wait()
		}
		both("decide", func(n int) heard {
			err := error(fault.New(fault.Exhausted, "pin", "not tried"))
			for end := time.Now().Add(time.Minute); fault.Is(err, fault.Exhausted) && time.Now().Before(end); { // one proves at a time
				err = sockets[n].WithPIN("246813").Call(t.Context(), "approval.decide", yes, nil)
			}
			if err != nil && !fault.Is(err, fault.Conflict) {
				t.Errorf("decide: %v", err)
			}
			return heard{ok: err == nil}
		})
		both("spend", func(n int) heard { out, _ := c.post(c.bases[n], "resource.put", "", put); return out })
		for _, left := range a.must("approval.list", obj{"state": "pending"}).(approval.ListOut).Asks { // of who came second
			a.must("approval.decide", obj{"id": left.ID, "decision": "cancel"})
		}
	}
}

// at gives a data folder a home of its own in the cluster.
func at(t *testing.T, data, home string) {
	t.Helper()
	kept, err := installation.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	kept.Home = home
	if err := kept.Write(data); err != nil {
		t.Fatal(err)
	}
}

// intend is an effect that a server has begun.
func intend(t *testing.T, d *db.DB, seq int64, server string) {
	t.Helper()
	if err := d.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec("INSERT INTO gate_intent (seq, tenant, op, caller, input, key, server) "+
			"VALUES (?, 'local', 'server.backup', ?, '{}', '', ?)", seq,
			`{"Tenant":"local","Actor":"act_api","Name":"api","Kind":"service"}`, server)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// settled waits until the one that was killed is ended and what it was about is settled. The other's own is still its own.
func settled(t *testing.T, d *db.DB, were []owners.Server) {
	t.Helper()
	var left, open int
	var living []owners.Server
	if !testenv.Within(2*time.Minute, func() bool {
		err := errors.Join(d.QueryRow(t.Context(), "SELECT count(*) FROM server WHERE ended_at > 0 AND settled_at = 0").Scan(&left),
			d.QueryRow(t.Context(), "SELECT count(*) FROM gate_intent WHERE server = ?", were[1].ID).Scan(&open))
		var lives error
		living, lives = owners.Living(t.Context(), d)
		if err := errors.Join(err, lives); err != nil {
			t.Fatal(err)
		}
		return left == 0 && open == 0 && len(living) == 1
	}) {
		t.Fatalf("%d servers are not settled, %d of its intents are open, %v live", left, open, living)
	}
	var own int
	if err := d.QueryRow(t.Context(), "SELECT count(*) FROM gate_intent WHERE server = ?", were[0].ID).Scan(&own); err != nil || own != 1 {
		t.Errorf("of the intents of the one that lives %d are open, %v", own, err)
	}
}
