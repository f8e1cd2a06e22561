package replica

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// patience is how long a silent stream is believed to be alive; the server
// says something every five seconds.
const patience = 12 * time.Second

// Current says whether somebody watches the server and has seen nothing that
// the copy lacks, so that a command need not ask.
func (r *Replica) Current() (bool, error) {
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
	var seen Known
	ok, err := readJSON(r.path("watch.json"), &seen)
	return ok && (seen.Head == known.Head || seen.Version <= known.Version), err
}

// Watcher follows the server for a copy, so that commands need not ask. It
// holds the copy's watch.lock while the stream is alive, and writes what it
// hears to watch.json.
type Watcher struct {
	Config
	Dir    string // .jj/repo
	Remote Remote
}

// Watch follows until ctx ends, and begins again when the stream breaks.
func (w *Watcher) Watch(ctx context.Context) {
	for pause := 200 * time.Millisecond; ctx.Err() == nil; pause = min(2*pause, 10*time.Second) {
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
	resp, err := w.Remote.send(ctx, http.MethodGet, "/repo/"+url.PathEscape(w.Repo)+"/watch", nil)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	silence := time.AfterFunc(patience, cancel)
	defer silence.Stop()
	var lock *os.File
	defer func() {
		if lock != nil {
			lock.Close()
		}
	}()
	in := bufio.NewScanner(resp.Body)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		silence.Reset(patience)
		data, ok := strings.CutPrefix(in.Text(), "data: ")
		if !ok {
			continue
		}
		var c struct {
			Version int64
			Heads   []string
		}
		if json.Unmarshal([]byte(data), &c) != nil || len(c.Heads) != 1 {
			return heard
		}
		if writeJSON(stateFile(w.Dir, "watch.json"), Known{Head: c.Heads[0], Version: c.Version}) != nil {
			return heard // the copy is gone
		}
		if lock == nil {
			if lock, err = tryLock(stateFile(w.Dir, "watch.lock")); err != nil || lock == nil {
				return heard // somebody else watches
			}
		}
		heard = true
	}
	return heard
}
