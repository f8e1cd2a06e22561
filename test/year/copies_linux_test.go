package year

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/creack/pty"

	"tandem/internal/testenv"
)

// kept is a copy, and how much had been acknowledged before it was made.
type kept struct {
	path    string
	keys    int
	anchors int
}

// copyAll makes a copy of everything beside the data folder, as an operator's program would.
func (w *world) copyAll() kept {
	w.t.Helper()
	k := kept{path: filepath.Join(w.home, "copies"), keys: w.ledger.mark(), anchors: len(w.anchor)}
	if err := os.MkdirAll(w.see("copies"), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := w.call("server.backup", map[string]any{"path": k.path, "keep": 2}, nil); err != nil {
		w.t.Fatalf("a copy under load: %v", err)
	}
	return k
}

// keepAnchor keeps a signed checkpoint elsewhere.
func (w *world) keepAnchor() {
	w.t.Helper()
	var out struct{ Checkpoint string }
	if err := w.call("audit.anchor", nil, &out); err != nil || out.Checkpoint == "" {
		w.t.Fatalf("audit anchor: %+v %v", out, err)
	}
	w.anchor = append(w.anchor, out.Checkpoint)
}

func (w *world) rotated(name string) {
	w.keepAnchor()
	if err := w.call("server.rotate", map[string]any{"key": name}, nil); err != nil {
		w.t.Errorf("rotate %s: %v", name, err)
	}
	w.taken("space.key.next") // with a new key of seats it starts anew
	w.ready()
	w.keepAnchor()
}

// taken waits until a start has taken up the file that waits for it.
func (w *world) taken(name string) {
	w.t.Helper()
	if !testenv.Within(time.Minute, func() bool { _, err := os.Stat(w.see(".tandem/" + name)); return os.IsNotExist(err) }) {
		w.t.Errorf("%s still waits for a start", name)
	}
}

func (w *world) killedInRotation() {
	for _, name := range []string{"journal", "secret", "tokens", "space", "tls", "journal", "secret", "space", "tls"} {
		ended := make(chan error, 1)
		go func() { ended <- w.call("server.rotate", map[string]any{"key": name}, nil) }()
		w.within(120 * time.Millisecond)
		w.kill()
		<-ended
		w.start()
		w.ready()
	}
	if out, err := w.run("audit", "verify"); err != nil {
		w.t.Errorf("after rotations that were cut off: %v\n%s", err, out)
	}
	left, _ := filepath.Glob(w.see(".tandem/*.next"))
	if len(left) > 0 {
		w.t.Errorf("a rotation left behind: %v", left)
	}
}

// restored goes back to a copy of this week while the server runs. A key was replaced since, now and then.
func (w *world) restored() {
	k := w.copyAll()
	w.within(2 * time.Second)
	if w.r.IntN(2) == 0 {
		w.rotated([]string{"secret", "journal"}[w.r.IntN(2)])
	}
	w.ledger.calm()
	err := w.call("server.restore", map[string]any{"path": k.path}, nil)
	if err != nil {
		w.t.Errorf("restore: %v", err)
	}
	w.taken("restore.pending")
	w.came(k)
}

// machineLost has neither the database, the keys nor the repository any more.
func (w *world) machineLost() {
	k := w.copyAll()
	w.within(2 * time.Second)
	w.ledger.calm()
	w.kill()
	if err := os.RemoveAll(w.see("project")); err != nil {
		w.t.Fatal(err)
	}
	if out, err := w.typed("server", "restore", k.path); err != nil {
		w.t.Fatalf("restore: %v\n%s", err, out)
	}
	w.start()
	w.came(k)
}

// damaged restores where the database cannot be read any more.
func (w *world) damaged() {
	k := w.copyAll()
	w.ledger.calm()
	w.stop()
	f, err := os.OpenFile(w.see(".tandem/tandem.db"), os.O_RDWR, 0)
	if err == nil {
		_, err = f.WriteAt(bytes.Repeat([]byte("damage"), 20_000), 0)
		f.Close()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.tryStart(); err == nil {
		w.t.Error("it starts on a damaged database")
	}
	if out, err := w.run("doctor"); err == nil || !strings.Contains(out, "tandem server restore") {
		w.t.Errorf("the doctor of a damaged database: %v\n%s", err, out)
	}
	w.told["damage"]++
	if out, err := w.typed("server", "restore", k.path); err != nil {
		w.t.Fatalf("restore: %v\n%s", err, out)
	}
	w.start()
	w.came(k)
}

// came goes on after a restore: what programs wrote since the copy is gone, and what the crew has comes back by itself.
func (w *world) came(k kept) {
	w.t.Helper()
	w.ledger.back(k.keys)
	w.anchor = w.anchor[:k.anchors]
	w.ready()
	w.ledger.there(k.keys - 100)
	w.ledger.load()
}

// typed types a command at a terminal, and the PIN whenever it asks.
func (h *house) typed(args ...string) (string, error) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := h.line(ctx, args...)
	tty, err := pty.Start(cmd)
	if err != nil {
		h.t.Fatal(err)
	}
	defer tty.Close()
	var all, last bytes.Buffer
	for buf := make([]byte, 4096); ; {
		n, err := tty.Read(buf)
		all.Write(buf[:n])
		last.Write(buf[:n])
		if err != nil { // the program has ended
			return all.String(), cmd.Wait()
		}
		if text := last.Bytes(); bytes.HasSuffix(text[bytes.LastIndexByte(text, '\n')+1:], []byte(": ")) {
			last.Reset()
			if _, err := io.WriteString(tty, pin+"\n"); err != nil {
				h.t.Fatal(err)
			}
		}
	}
}
