package daemon

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/automation"
	"tandem/internal/automation/wire"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

const pushed = `
name = "pushed"
[limits]
runs = 500
[inputs.body]
type = "object"
properties = { who = { type = "string" } }
[inputs.event]
type = "string"
[[trigger]]
id = "hub"
webhook = "github"
[[node]]
id = "keep"
inputs = { kind = "input.event", who = "input.body.who" }
[node.operation]
name = "resource.put"
input = { key = "pushed", value = "{{kind}} by {{who}}" }
`

// sender is somebody who knows the address of a webhook, and perhaps its secret.
type sender struct {
	*kept
	path, secret string
}

// post sends a message, signed with the secret unless sign says otherwise, and gives the status.
func (s *sender) post(delivery, body, sign string) int {
	s.t.Helper()
	if sign == "" {
		m := hmac.New(sha256.New, []byte(s.secret))
		m.Write([]byte(body))
		sign = "sha256=" + hex.EncodeToString(m.Sum(nil))
	}
	q, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, "http://"+s.d.listens[0]+s.path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for k, v := range map[string]string{"X-Hub-Signature-256": sign, "X-GitHub-Delivery": delivery, "X-GitHub-Event": "push"} {
		q.Header.Set(k, v)
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		s.t.Fatal(err)
	}
	defer a.Body.Close()
	io.Copy(io.Discard, a.Body) //nolint:errcheck // the status is all that counts
	return a.StatusCode
}

func (s *sender) runs() []*wire.Run {
	s.t.Helper()
	return s.must("automation.runs", wire.RunsIn{Name: "pushed", Limit: 500}).(wire.RunsOut).Runs
}

func (s *sender) hooks() wire.HooksOut {
	s.t.Helper()
	return s.must("automation.hooks", wire.NameIn{Name: "pushed"}).(wire.HooksOut)
}

// A webhook begins a run once, for who has the secret alone. A wrong signature, a replay under another name, ten megabytes and a flood
// begin none, and of what is not signed nothing is kept but a number.
func TestAWebhookBeginsARun(t *testing.T) {
	k := keptAt(t, "")
	a := k.must("automation.add", wire.AddIn{Text: pushed}).(*wire.Automation)
	made := k.must("automation.hook", wire.MakeHookIn{Name: "pushed"}).(wire.MadeHook)
	s := &sender{k, made.Path, made.Secret}
	if made.Trigger != "hub" || made.Scheme != "github" || !strings.HasPrefix(made.Path, "/hook/hook_") || len(made.Secret) < 20 {
		t.Fatalf("it made %+v", made)
	}
	if got := s.post("d0", `{"who": "early"}`, ""); got != http.StatusNotFound {
		t.Errorf("while it is switched off: %d", got)
	}
	k.must("automation.on", wire.OnIn{Name: "pushed", Digest: a.Latest})
	if got := s.post("d1", `{"who": "ann"}`, ""); got != http.StatusAccepted {
		t.Fatalf("a right message: %d", got)
	}
	var r *wire.Run
	testenv.Eventually(t, "the run ends", 2*time.Minute, func() bool {
		r = k.must("automation.trace", wire.RunIn{ID: s.runs()[0].ID}).(*wire.Run)
		return !r.EndedAt.IsZero()
	})
	if r.Status != "completed" || !strings.HasPrefix(r.Cause, "webhook hub, delivery dlv_") || fmt.Sprint(r.Input["body"]) != "map[who:ann]" {
		t.Errorf("the run is %+v", r)
	}
	for what, got := range map[string]int{"the same again": s.post("d1", `{"who": "ann"}`, ""),
		"the same under another name": s.post("d2", `{"who": "ann"}`, ""), "the same name": s.post("d1", `{"who": "bob"}`, "")} {
		if got != http.StatusAccepted || len(s.runs()) != 1 {
			t.Errorf("%s: %d, and there are %d runs", what, got, len(s.runs()))
		}
	}
	canary := "plainplover"
	for what, got := range map[string]int{"a wrong signature": s.post("d3", `{"who": "`+canary+`"}`, "sha256="+strings.Repeat("0", 64)),
		"none": s.post("d4", `{"who": "`+canary+`"}`, "none")} {
		if got != http.StatusUnauthorized {
			t.Errorf("%s: %d", what, got)
		}
	}
	if got := s.post("d5", `{"who": "`+strings.Repeat("x", 10<<20)+`"}`, ""); got != http.StatusRequestEntityTooLarge {
		t.Errorf("ten megabytes: %d", got)
	}
	if h := s.hooks(); h.Hooks[0].Accepted != 1 || h.Hooks[0].Refused != 2 || len(h.Deliveries) != 1 || len(s.runs()) != 1 {
		t.Errorf("there are %+v and %d runs", h, len(s.runs()))
	}
	again := k.must("automation.replay", wire.ReplayIn{Name: "pushed", ID: s.hooks().Deliveries[0].ID}).(wire.Delivery)
	if again.Run == "" || len(s.runs()) != 2 {
		t.Errorf("replayed it is %+v", again)
	}
	s.isServedThroughTheTunnel()
	s.isFlooded()
	if err := k.stop(); err != nil {
		t.Fatal(err)
	}
	s.keepsNothing(canary, strings.TrimPrefix(made.Path, automation.HookPath), made.Secret)
}

// isServedThroughTheTunnel posts by the way that a tunnel leads, where there is nothing else of automations.
func (s *sender) isServedThroughTheTunnel() {
	s.t.Helper()
	nobody := func(*http.Request) (op.Caller, error) { return op.Caller{}, nil }
	door := s.d.bridgeOnly(s.d.web.Handler(nobody, nil))
	status := func(method, path string) int {
		w := httptest.NewRecorder()
		door.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader("{}")))
		return w.Code
	}
	for path, want := range map[string]int{"POST " + s.path: http.StatusUnauthorized, "POST /hook/hook_nobody": http.StatusNotFound,
		"GET " + s.path: http.StatusNotFound, "POST /automations/pushed/run": http.StatusNotFound} {
		method, at, _ := strings.Cut(path, " ")
		if got := status(method, at); got != want {
			s.t.Errorf("%s through the tunnel: %d", path, got)
		}
	}
}

// isFlooded sends until it is told that it is too much; what was refused before is not forgotten by it.
func (s *sender) isFlooded() {
	s.t.Helper()
	before := len(s.runs())
	var told atomic.Bool
	var all sync.WaitGroup
	for range 20 { // together they are faster than one message each 200 ms, also on a slow machine
		all.Go(func() {
			for i := 0; i < 200 && !told.Load(); i++ {
				if s.post("flood", "{}", "sha256=00") == http.StatusTooManyRequests {
					told.Store(true)
				}
			}
		})
	}
	all.Wait()
	if !told.Load() || len(s.runs()) != before {
		s.t.Errorf("told that it is too much: %v; there are %d runs", told.Load(), len(s.runs()))
	}
}

// keepsNothing looks for words in all that the server left on disk: what was not signed, the key of the address, the secret.
func (s *sender) keepsNothing(words ...string) {
	s.t.Helper()
	err := filepath.WalkDir(s.d.data, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, w := range words {
			if strings.Contains(string(data), w) {
				s.t.Errorf("%s holds %q", path, w)
			}
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}
