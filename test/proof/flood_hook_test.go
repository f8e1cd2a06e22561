package proof

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/automation/wire"
	"tandem/internal/client"
	"tandem/internal/op"
)

const flooded = `
name = "flooded"
[limits]
runs = 1000
[[trigger]]
id = "in"
webhook = "generic"
[[node]]
id = "keep"
[node.operation]
name = "resource.put"
input = { key = "flooded", value = "1" }
`

// A sender posts to a webhook as fast as it can, up to ten thousand messages a second: unsigned, signed right, and to addresses that
// nobody has. Few of them become runs, and everybody else is served meanwhile.
func TestAFloodOfMessagesStopsNobody(t *testing.T) {
	s := newServer(t)
	s.start()
	near := client.Socket(filepath.Join(s.data, "tandem.sock"))
	if err := near.Call(t.Context(), "pin.set", map[string]string{"pin": pin}, nil); err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	here := near.WithPIN(pin)
	a, err := op.Do(t.Context(), here, wire.Add, wire.AddIn{Text: flooded})
	must(err)
	_, err = op.Do(t.Context(), here, wire.On, wire.OnIn{Name: a.Name, Digest: a.Latest})
	must(err)
	hook, err := op.Do(t.Context(), here, wire.MakeHook, wire.MakeHookIn{Name: a.Name})
	must(err)

	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	began := time.Now()
	answers := map[string]*atomic.Int64{"202": {}, "401": {}, "404": {}, "429": {}, "other": {}}
	var sent atomic.Int64
	var senders sync.WaitGroup
	for who := range 6 {
		senders.Go(func() {
			for n := 0; ctx.Err() == nil; {
				n += flood(ctx, s, hook, who, n, &sent, began, answers)
			}
		})
	}
	slowest, served := time.Duration(0), 0
	for ctx.Err() == nil {
		asked := time.Now()
		one := &http.Client{Timeout: 20 * time.Second}
		body := strings.NewReader(fmt.Sprintf(`{"value":%d}`, served))
		req, err := http.NewRequestWithContext(t.Context(), "PUT", s.url+"/resource/honest", body)
		must(err)
		req.Header.Set("Authorization", "Bearer "+s.token)
		req.Header.Set("Content-Type", "application/json")
		resp, err := one.Do(req)
		must(err)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("an honest write answers %s", resp.Status)
		}
		served++
		slowest = max(slowest, time.Since(asked))
		must(near.Call(t.Context(), "actor.whoami", nil, nil))
	}
	senders.Wait()
	took := time.Since(began)
	runs, err := op.Do(t.Context(), near, wire.Runs, wire.RunsIn{Name: a.Name, Limit: 500})
	must(err)
	hooks, err := op.Do(t.Context(), near, wire.Hooks, wire.NameIn{Name: a.Name})
	must(err)
	t.Logf("%d messages in %s (%.0f a second): 202 %d, 401 %d, 404 %d, 429 %d; %d runs, %d refused; %d honest writes, the slowest %s",
		sent.Load(), took, float64(sent.Load())/took.Seconds(), answers["202"].Load(), answers["401"].Load(), answers["404"].Load(),
		answers["429"].Load(), len(runs.Runs), hooks.Hooks[0].Refused, served, slowest)
	most := int(60 + 5*(took.Seconds()+1))
	if len(runs.Runs) == 0 || len(runs.Runs) > most || hooks.Hooks[0].Accepted > int64(most) {
		t.Errorf("%d runs of %d messages, at most %d may begin", len(runs.Runs), hooks.Hooks[0].Accepted, most)
	}
	if answers["401"].Load() == 0 || answers["429"].Load() == 0 || answers["other"].Load() > 0 || slowest > 10*time.Second || served < 5 {
		t.Error("see the figures above")
	}
	s.must("audit", "verify")
	s.stop()
}

// flood writes messages on one connection without waiting for answers, and reads these beside it. It says how many were written.
func flood(ctx context.Context, s *server, hook wire.MadeHook, who, from int, sent *atomic.Int64, began time.Time,
	answers map[string]*atomic.Int64) (n int) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		return 0
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	go func() {
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			if code, ok := strings.CutPrefix(lines.Text(), "HTTP/1.1 "); ok {
				if count := answers[code[:3]]; count != nil {
					count.Add(1)
				} else {
					answers["other"].Add(1)
				}
			}
		}
	}()
	for ; ctx.Err() == nil; n++ {
		for float64(sent.Add(1)) > 10_000*time.Since(began).Seconds()+100 { // no faster than it says
			sent.Add(-1)
			select {
			case <-ctx.Done():
				return n
			case <-time.After(5 * time.Millisecond):
			}
		}
		path, secret := hook.Path, hook.Secret
		switch who % 3 {
		case 1:
			secret = "guessed"
		case 2:
			path = fmt.Sprintf("/hook/hook_%032d", n)
		}
		body, at := fmt.Sprintf(`{"who":%d,"n":%d,"text":"ignore all rules"}`, who, from+n), fmt.Sprint(time.Now().Unix())
		m := hmac.New(sha256.New, []byte(secret))
		m.Write([]byte(at + "." + body))
		if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"+
			"X-Tandem-Signature: t=%s,v1=%s\r\n\r\n%s", path, strings.TrimPrefix(s.url, "http://"), len(body), at,
			hex.EncodeToString(m.Sum(nil)), body); err != nil {
			return n + 1
		}
	}
	return n
}
