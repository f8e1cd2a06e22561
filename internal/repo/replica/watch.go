package replica

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tandem/internal/repo"
)

// patience is how long a silent stream is believed to be alive; the server
// says something every five seconds.
const patience = 12 * time.Second

// seen is what watch.json holds: the server's head as a watcher last heard of
// it. It is written over in place, many times a second when much happens, so a
// sum tells a reader that it has met one state and not parts of two.
type seen struct {
	Head    string `json:"head"`
	Version int64  `json:"version"`
	Sum     uint32 `json:"sum"`
}

func (s seen) sum() uint32 { return crc32.ChecksumIEEE(fmt.Appendf(nil, "%d %s", s.Version, s.Head)) }

// seenSize is the length of watch.json; what is not text is blank.
const seenSize = 256

// Current says whether somebody watches the server and has seen nothing that
// the copy lacks, so that a command need not ask.
func (r *Replica) Current(ctx context.Context) (bool, error) {
	lock, err := tryLock(r.path("watch.lock"))
	if err != nil {
		return false, err
	}
	if lock != nil { // nobody holds it
		return false, lock.Close()
	}
	known, err := r.Known()
	if err != nil {
		return false, err
	}
	s, ok := readSeen(r.Store.Dir())
	if !ok {
		return false, nil // the watch has only begun, or it is just being written
	}
	if s.Version > known.Version { // also where the head is the same: something is to be heard
		return false, nil
	}
	return r.follows(ctx, known)
}

// readSeen is what a watcher last heard for the copy in a .jj/repo.
func readSeen(dir string) (s seen, ok bool) {
	data, err := os.ReadFile(stateFile(dir, "watch.json"))
	return s, err == nil && json.Unmarshal(data, &s) == nil && s.Sum == s.sum()
}

// follows says whether the head here stands on what is known of the server. It
// does not when an answer came that no command has followed yet.
func (r *Replica) follows(ctx context.Context, known Known) (bool, error) {
	id, ok := repo.ParseOperationID(known.Head)
	if !ok || !r.Store.HasOperation(id) {
		return false, nil
	}
	heads, err := r.Store.Heads()
	if err != nil || len(heads) == 1 && heads[0] == id {
		return err == nil, err
	}
	ahead, err := repo.OperationRange(ctx, r.Store, heads, []repo.OperationID{id})
	return len(ahead) == 0, err
}

// Watcher follows one repository of a server for the copies of it on this
// machine, so that their commands need not ask. While the stream is alive it
// holds each copy's watch.lock and writes what it hears to its watch.json.
type Watcher struct {
	Repo   string // its id or name
	Remote Remote
	// May is asked before the daemon sends files that were edited in a workspace
	// while the server was away.
	May func(context.Context, Changed) error

	delivering sync.WaitGroup
	busy       atomic.Bool       // delivering
	tried      map[string]string // where copies stood when delivering was last tried; only who delivers touches it

	mu     sync.Mutex
	copies map[string]*follower // by .jj/repo; nil for one that is not told
	last   seen                 // of the stream that is alive; zero without one
	said   []byte               // last as watch.json holds it
}

// follower is a copy that is told.
type follower struct{ lock, file *os.File }

func (f *follower) close() {
	f.file.Close()
	f.lock.Close()
}

// Add has a copy told from now on; dir is its .jj/repo.
func (w *Watcher) Add(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.copies == nil {
		w.copies = map[string]*follower{}
	}
	if _, ok := w.copies[dir]; !ok {
		w.copies[dir] = nil
		w.tell(dir)
	}
}

// Remove forgets a copy.
func (w *Watcher) Remove(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f := w.copies[dir]; f != nil {
		f.close()
	}
	delete(w.copies, dir)
}

// tell writes what was last heard into a copy. One that somebody else follows,
// or that is gone, is left alone. The caller holds mu.
func (w *Watcher) tell(dir string) {
	if w.last.Head == "" {
		return
	}
	f := w.copies[dir]
	if f == nil {
		lock, err := tryLock(stateFile(dir, "watch.lock"))
		if err != nil || lock == nil {
			return
		}
		file, err := os.OpenFile(stateFile(dir, "watch.json"), os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			lock.Close()
			return
		}
		f = &follower{lock, file}
		keepTold(dir, w.last)
	}
	if _, err := f.file.WriteAt(w.said, 0); err != nil {
		f.close()
		f = nil
	}
	w.copies[dir] = f
}

// version is the newest that a copy knows of: a server that has become older counts
// on from there, or nobody would notice that it has other news.
func (w *Watcher) version() (newest int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for dir := range w.copies {
		if known, err := readHint[Known](stateFile(dir, "known.json")); err == nil {
			newest = max(newest, known.Version)
		}
	}
	return newest
}

// hear tells every copy.
func (w *Watcher) hear(s seen) {
	s.Sum = s.sum()
	data, _ := json.Marshal(s) // numbers and a text
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = s
	w.said = append(bytes.Repeat([]byte{' '}, seenSize-1), '\n')
	copy(w.said, data)
	for dir := range w.copies {
		w.tell(dir)
	}
}

// deaf lets the copies know that nobody listens any more.
func (w *Watcher) deaf() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = seen{}
	for dir, f := range w.copies {
		if f != nil {
			f.close()
			w.copies[dir] = nil
		}
	}
}

// Watch follows until ctx ends, and begins again when the stream breaks.
func (w *Watcher) Watch(ctx context.Context) {
	w.tried = map[string]string{}
	defer w.delivering.Wait()
	for pause := 200 * time.Millisecond; ctx.Err() == nil; pause = min(2*pause, 5*time.Second) {
		if w.stream(ctx) {
			pause = 200 * time.Millisecond
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// stream follows one connection; it says whether anything was heard.
func (w *Watcher) stream(ctx context.Context) (heard bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	resp, err := w.Remote.send(ctx, http.MethodGet, fmt.Sprintf("/repo/%s/watch?seen=%d", url.PathEscape(w.Repo), w.version()), nil)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	defer w.deaf()
	silence := time.AfterFunc(patience, cancel)
	defer silence.Stop()
	in := bufio.NewScanner(resp.Body)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		silence.Reset(patience)
		data, ok := strings.CutPrefix(in.Text(), "data: ")
		if !ok {
			if strings.HasPrefix(in.Text(), ":") { // at the beginning, and every five seconds
				w.deliver(ctx)
			}
			continue
		}
		var c struct {
			Version int64
			Heads   []string
		}
		if json.Unmarshal([]byte(data), &c) != nil || len(c.Heads) != 1 {
			return heard
		}
		w.hear(seen{Head: c.Heads[0], Version: c.Version})
		heard = true
	}
	return heard
}

// deliver sends what waits, unless that is being done.
func (w *Watcher) deliver(ctx context.Context) {
	if !w.busy.CompareAndSwap(false, true) {
		return
	}
	w.delivering.Go(func() {
		defer w.busy.Store(false)
		w.deliverAll(ctx)
	})
}
