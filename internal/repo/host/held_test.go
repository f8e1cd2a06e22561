package host

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/repo"
	"tandem/internal/repo/exchange"
)

// slow is an answer whose reader takes one byte after the other: what writes it waits.
type slow struct {
	*io.PipeWriter
	header http.Header
}

func (s slow) Header() http.Header { return s.header }
func (slow) WriteHeader(int)       {}

// heldBack begins an answer, takes its beginning, lets the caller's right to it end, and gives the rest.
func heldBack(t *testing.T, ctx context.Context, serve func(ctx context.Context, w http.ResponseWriter)) (rest []byte) {
	t.Helper()
	ctx, end := context.WithCancelCause(ctx)
	from, to := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer to.Close()
		serve(ctx, slow{to, http.Header{}})
	}()
	if _, err := io.ReadFull(from, make([]byte, 100<<10)); err != nil {
		t.Fatal(err)
	}
	end(fault.New(fault.Denied, "repo.pull", "the token was revoked"))
	rest, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	<-ended
	return rest
}

// A clone or a sync that was under way when its caller's right ended came to its end with a broken answer that said nothing; git called
// it an early end. Now both end in the middle, and say why.
func TestARightThatEndsEndsATransfer(t *testing.T) {
	_, git := ownHome(t)
	h, s, ctx := serve(t, git)
	const size = 8 << 20
	data := make([]byte, size)
	rand.Read(data)
	if err := os.WriteFile(filepath.Join(s.root, "large"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	git("-C", s.root, "add", "large")
	git("-C", s.root, "commit", "--quiet", "-m", "large")
	if err := h.look(ctx, s); err != nil {
		t.Fatal(err)
	}
	ctx = op.WithCaller(ctx, op.Caller{Tenant: "t", Actor: "local", Kind: op.Local, Door: op.DoorSocket})

	packet := func(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }
	wants := packet("command=fetch") + packet("object-format=sha1") + "0001" + packet("ofs-delta") +
		packet("want "+strings.TrimSpace(git("-C", s.root, "rev-parse", "HEAD"))+"\n") + packet("done\n") + "0000"
	got := heldBack(t, ctx, func(ctx context.Context, w http.ResponseWriter) {
		r := httptest.NewRequest("POST", "/repo/project/git/git-upload-pack", strings.NewReader(wants))
		r.Header.Set("Git-Protocol", "version=2")
		h.upload(ctx, w, r, s)
	})
	if len(got) > size/2 || !bytes.HasSuffix(got, []byte(packet("\x03tandem: the token was revoked\n"))) {
		t.Errorf("a clone went on for %d bytes, and ended with %q", len(got), got[max(0, len(got)-100):])
	}

	head, version, _ := s.now()
	got = heldBack(t, ctx, func(ctx context.Context, w http.ResponseWriter) {
		if err := h.answer(ctx, w, s, exchange.Question{}, []repo.OperationID{}, head, version); err != nil {
			t.Error(err)
		}
	})
	if len(got) > size/2 || !bytes.Contains(got, []byte("the token was revoked")) {
		t.Errorf("a sync went on for %d bytes, and ended with %q", len(got), got[max(0, len(got)-100):])
	}
}

// What git is told in the middle of a packet, or of a packet's length, is a packet of its own.
func TestAnAnswerOfGitsEndsWithAReason(t *testing.T) {
	whole := "0008NAK\n" + "0010\x01PACK of me" + "0000"
	for cut := range len(whole) + 1 {
		var out bytes.Buffer
		p := &packets{w: &out}
		if _, err := io.WriteString(p, whole[:cut]); err != nil {
			t.Fatal(err)
		}
		if err := p.fail(fault.New(fault.Denied, "repo.pull", "no more")); err != nil {
			t.Fatal(err)
		}
		check := &packets{w: io.Discard}
		check.follow(out.Bytes())
		if len(check.head) > 0 || check.left > 0 || !strings.Contains(out.String(), "tandem: no more") {
			t.Errorf("cut at %d: %q", cut, out.String())
		}
	}
}

// One caller who begins very many copies has some of them made at once, and keeps nobody else waiting.
func TestACallersCopiesTakeTurns(t *testing.T) {
	_, git := ownHome(t)
	h, s, ctx := serve(t, git)
	for range readsAtOnce {
		_, done, err := h.reads.take(ctx, op.CallerFrom(ctx).Whence())
		if err != nil {
			t.Fatal(err)
		}
		defer done()
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	head, version, _ := s.now()
	if err := h.answer(gone, httptest.NewRecorder(), s, exchange.Question{}, nil, head, version); err == nil {
		t.Error("a sync did not wait")
	}
	w := httptest.NewRecorder()
	var failed error
	h.Fail = func(_ http.ResponseWriter, _ *http.Request, err error) { failed = err }
	h.upload(gone, w, httptest.NewRequest("GET", "/repo/project/git/info/refs?service=git-upload-pack", nil), s)
	if failed == nil || w.Body.Len() > 0 {
		t.Errorf("a clone did not wait: %v", failed)
	}
	synctest.Test(t, func(t *testing.T) {
		other := turns{most: 1, op: "repo.pull", does: "answered"}
		_, done, err := other.take(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		began := time.Now()
		if _, _, err := other.take(t.Context(), "a"); !fault.Is(err, fault.Exhausted) || time.Since(began) != turnTime {
			t.Errorf("one more, after %s: %v", time.Since(began), err)
		}
		if _, done, err := other.take(t.Context(), "b"); err != nil {
			t.Error(err)
		} else {
			done()
		}
	})
}
