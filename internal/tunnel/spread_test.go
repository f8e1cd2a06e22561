package tunnel

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/op"
	"tandem/internal/testenv"
	"tandem/internal/tunnel/wire"
)

// slow is a tunnel whose name is known to nobody for a while. Each opening would make another name.
type slow struct {
	base   string
	opened atomic.Int32
	closed atomic.Int32
}

func (s *slow) Open(context.Context, string) (Opened, error) {
	return Opened{URL: fmt.Sprintf("%s/%d", s.base, s.opened.Add(1)), PID: 0, Wait: nil}, nil
}
func (s *slow) Close(context.Context, int, string) error { s.closed.Add(1); return nil }
func (s *slow) Up(context.Context, string) error         { return nil }

// A quick tunnel was closed again when its name was not known within 45 seconds, and "share again" made another name that nobody
// knew either. It stays open with the name it has, says that it is spreading, and notices by itself when it answers.
func TestANameIsKeptWhileItSpreads(t *testing.T) {
	var known atomic.Bool
	edge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !known.Load() {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		fmt.Fprint(w, `{"healthy":true}`)
	}))
	defer edge.Close()
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Migrate(t.Context(), Migrations); err != nil {
		t.Fatal(err)
	}
	way := &slow{base: edge.URL}
	r := New(Config{DB: d, Log: slog.New(slog.DiscardHandler), Folder: t.TempDir(), Tenant: "t", Patience: 50 * time.Millisecond,
		Listen: func(string) (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") },
		Token:  func(context.Context, string) (string, error) { return "word", nil }})
	r.opener = func(wire.Mode) (Opener, error) { return way, nil }
	ctx, cancel := context.WithCancel(op.WithCaller(t.Context(), op.Caller{Tenant: "t"}))
	ran := make(chan error, 1)
	go func() { ran <- r.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	}()
	testenv.Eventually(t, "the room runs", time.Minute, func() bool { r.now.Lock(); defer r.now.Unlock(); return r.base != nil })

	var out wire.ShareOut
	for range 2 { // shared again it has the same name
		if out, err = r.share(ctx, wire.ShareIn{Mode: "quick"}); err != nil {
			t.Fatal(err)
		}
		if out.State != wire.Open || out.Spreading == "" || out.URL != edge.URL+"/1" || way.closed.Load() != 0 {
			t.Fatalf("%+v, closed %d times", out.Status, way.closed.Load())
		}
	}
	known.Store(true)
	testenv.Eventually(t, "it is noticed that the name is known", time.Minute, func() bool {
		s, err := r.load(ctx)
		return err == nil && s.State == wire.Open && s.Spreading == "" && s.URL == out.URL
	})
}
