package notify

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/logfile"
	"tandem/internal/testenv"
)

func open(t *testing.T, path string) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if _, err := d.Migrate(t.Context(), Migrations); err != nil {
		t.Fatal(err)
	}
	return d
}

type got struct {
	path, body string
	header     http.Header
}

func TestANoticeIsWrittenSignedRetriedAndPushedOnlyWhenItIsWorthIt(t *testing.T) {
	var mu sync.Mutex
	var all []got
	failed := false
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if !failed && r.URL.Path == "/hook" {
			failed = true
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		body, _ := io.ReadAll(r.Body)
		all = append(all, got{r.URL.Path, string(body), r.Header})
	}))
	defer srv.Close()
	file := filepath.Join(t.TempDir(), "events.log")
	d := open(t, filepath.Join(t.TempDir(), "db"))
	config := Config{File: file, Webhook: srv.URL + "/hook", Secret: []byte("k"), Server: srv.URL, Starts: "topic", Details: true,
		Panel: func() string { return "http://127.0.0.1:39731" }}
	start := func() (n *Notifier, stop func()) {
		n = New(d, config, slog.New(slog.DiscardHandler))
		n.wait = func(int64) time.Duration { return 200 * time.Millisecond }
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { n.Run(ctx); close(done) }()
		return n, func() { cancel(); <-done }
	}
	n, stop := start()
	n.Tell(t.Context(), "local", Notice{
		Event: Event{TS: time.Now(), Type: "relay", Status: "parked", ID: "loop_1", Summary: "a routine task"}})
	testenv.Eventually(t, "the webhook refuses it once", time.Minute, func() bool { mu.Lock(); defer mu.Unlock(); return failed })
	stop()
	// What was not told is told after the next start.
	n, stop = start()
	defer stop()
	n.Tell(t.Context(), "local", Notice{
		Event: Event{TS: time.Now(), Type: "relay", Status: "needs input", ID: "loop_1", Summary: "Which colour?"},
		Push:  Answer, Folder: t.TempDir(), Page: "/panel/relays/loop_1"})
	testenv.Eventually(t, "three deliveries", 10*time.Second, func() bool { mu.Lock(); defer mu.Unlock(); return len(all) == 3 })
	mu.Lock()
	defer mu.Unlock()
	hooks, pushes := 0, 0
	for _, g := range all {
		switch g.path {
		case "/hook":
			hooks++
			mac := hmac.New(sha256.New, []byte("k"))
			io.WriteString(mac, g.body)
			if g.header.Get("Tandem-Signature") != "sha256="+hex.EncodeToString(mac.Sum(nil)) {
				t.Error("the signature is not over the body")
			}
		case "/topic":
			pushes++
			if g.header.Get("Title") != "tandem: loop_1 NEEDS YOUR ANSWER" || g.header.Get("Priority") != "urgent" ||
				g.header.Get("Click") != "http://127.0.0.1:39731/panel/relays/loop_1" || !strings.Contains(g.body, "Which colour?") {
				t.Errorf("push: %+v", g)
			}
		}
	}
	if hooks != 2 || pushes != 1 {
		t.Errorf("%d webhooks, %d pushes", hooks, pushes)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := 0
	for s := bufio.NewScanner(f); s.Scan(); lines++ {
		var e Event
		if err := json.Unmarshal(s.Bytes(), &e); err != nil || !strings.Contains(e.Handoff, "Commit: none") {
			t.Errorf("line %s: %v", s.Text(), err)
		}
	}
	if lines != 2 {
		t.Errorf("%d lines", lines)
	}
	testenv.Eventually(t, "notices that were told are forgotten", 10*time.Second, func() bool {
		var left int
		err := d.QueryRow(t.Context(), "SELECT count(*) FROM notice_way").Scan(&left)
		return err == nil && left == 0
	})
}

// What is told goes to the configured address and nowhere else: neither a redirect nor the environment's proxy leads it inside.
func TestANoticeDoesNotWander(t *testing.T) {
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it went on to another address") }))
	defer inside.Close()
	t.Setenv("HTTP_PROXY", inside.URL)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, inside.URL, http.StatusTemporaryRedirect)
	}))
	defer hook.Close()
	if err := post(t.Context(), hook.URL, []byte("{}"), nil); err == nil || !strings.Contains(err.Error(), "307") {
		t.Errorf("%v", err)
	}
}

// events.log grew for ever: it is rotated as the other logs are.
func TestTheEventsLogIsRotated(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.log")
	if err := os.WriteFile(file, bytes.Repeat([]byte("x\n"), logfile.Size/2), 0o600); err != nil {
		t.Fatal(err)
	}
	n := New(nil, Config{File: file}, slog.New(slog.DiscardHandler))
	if err := n.write(t.Context(), item{notice: Notice{Event: Event{ID: "one"}}}); err != nil {
		t.Fatal(err)
	}
	now, err := os.ReadFile(file)
	if err != nil || len(now) > 1000 || !strings.Contains(string(now), `"one"`) {
		t.Errorf("%d bytes, %v", len(now), err)
	}
	if st, err := os.Stat(file + ".1"); err != nil || st.Size() != logfile.Size {
		t.Errorf("the full one: %v, %v", st, err)
	}
}

// Lines that were written lose their rows together, and none is written again after a stop.
func TestWhatWasWrittenIsNotWrittenAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.log")
	d := open(t, filepath.Join(t.TempDir(), "db"))
	lines := func() int {
		data, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return bytes.Count(data, []byte("\n"))
	}
	for range 2 {
		n := New(d, Config{File: file}, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { n.Run(ctx); close(done) }()
		had := lines()
		for i := range 20 {
			n.Tell(t.Context(), "local", Notice{Event: Event{TS: time.Now(), Type: "ask", ID: "ask_1", Cursor: int64(i)}})
		}
		testenv.Eventually(t, "all are written", time.Minute, func() bool { return lines() >= had+20 })
		cancel()
		<-done
		var left int
		if err := d.QueryRow(t.Context(), "SELECT count(*) FROM notice_way").Scan(&left); err != nil || left != 0 || lines() != had+20 {
			t.Errorf("%d rows are left, %d lines written, %v", left, lines()-had, err)
		}
	}
}
