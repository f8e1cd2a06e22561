package prepare

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tandem/internal/fault"
	"tandem/internal/tool"
)

// Bounds of what is fetched and kept.
const (
	maxFetched = 5000    // dependencies of one part
	maxBytes   = 4 << 30 // of what is fetched for it
	maxKept    = 30      // parts
	maxTime    = 15 * time.Minute
)

// Store keeps what was prepared.
type Store struct {
	Folder     string // of tandem's own: no agent sees it
	Registries Registries
	Box        *tool.Sandbox // in which npm lays packages out, without the network

	mu   sync.Mutex // one is made at a time
	used map[string]int
	hold sync.Mutex
}

// Ready is a part that checks can use.
type Ready struct {
	Part
	Path string
}

// Prepare makes what is not there yet, and holds all of it until it is released.
func (s *Store) Prepare(ctx context.Context, parts []Part) (out []Ready, release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var held []string
	release = func() {
		s.hold.Lock()
		defer s.hold.Unlock()
		for _, key := range held {
			s.used[key]--
		}
	}
	for _, p := range parts {
		s.hold.Lock()
		if s.used == nil {
			s.used = map[string]int{}
		}
		s.used[p.Key]++
		held = append(held, p.Key)
		s.hold.Unlock()
		at, err := s.one(ctx, p)
		if err != nil {
			release()
			return nil, nil, err
		}
		out = append(out, Ready{Part: p, Path: at})
	}
	return out, release, nil
}

func (s *Store) one(ctx context.Context, p Part) (string, error) {
	at := filepath.Join(s.Folder, p.Key)
	if want, err := os.ReadFile(at + ".sum"); err == nil {
		if got, err := treeSum(at); err == nil && got == string(want) {
			now := time.Now()
			return at, os.Chtimes(at+".sum", now, now)
		}
	}
	if err := os.MkdirAll(s.Folder, 0o700); err != nil {
		return "", err
	}
	fresh := filepath.Join(s.Folder, "making")
	for _, old := range []string{at + ".sum", at, fresh, fresh + ".npm"} { // what a crash left, or somebody changed
		if err := clear(old); err != nil {
			return "", err
		}
	}
	s.forget()
	if err := os.MkdirAll(fresh, 0o755); err != nil {
		return "", err
	}
	defer clear(fresh) //nolint:errcheck // it is cleared before the next one is made
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, context.DeadlineExceeded)
	defer cancel()
	m := &maker{Store: s, client: client(s.Registries), registries: s.Registries}
	m.most.bytes, m.most.files = maxUnpacked, maxFiles
	var err error
	switch p.Kind {
	case Go:
		err = m.modules(ctx, p, fresh)
	case NPM:
		err = m.packages(ctx, p, fresh)
	}
	if err != nil {
		return "", err
	}
	got, err := treeSum(fresh)
	if err != nil {
		return "", err
	}
	if err := os.Rename(fresh, at); err != nil {
		return "", err
	}
	return at, os.WriteFile(at+".sum", []byte(got), 0o600)
}

// forget lets go what was not used for longest, where there is too much.
func (s *Store) forget() {
	left, _ := filepath.Glob(filepath.Join(s.Folder, "*.sum")) //nolint:errcheck // the pattern is a good one
	if len(left) < maxKept {
		return
	}
	age := func(name string) time.Time {
		st, err := os.Stat(name)
		if err != nil {
			return time.Time{}
		}
		return st.ModTime()
	}
	slices.SortFunc(left, func(a, b string) int { return cmp.Or(age(a).Compare(age(b)), cmp.Compare(a, b)) })
	s.hold.Lock()
	defer s.hold.Unlock()
	for _, name := range left[:len(left)-maxKept+1] {
		at := strings.TrimSuffix(name, ".sum")
		if s.used[filepath.Base(at)] == 0 && os.Remove(name) == nil {
			clear(at) //nolint:errcheck // it is not used without its digest
		}
	}
}

// treeSum is a digest of all that is in a folder: names, modes, links and what files hold.
func treeSum(at string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(at, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(at, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q %s\n", rel, info.Mode())
		switch {
		case info.Mode().IsRegular():
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			defer f.Close()
			fmt.Fprintf(h, "%d\n", info.Size())
			_, err = io.Copy(h, f)
			return err
		case info.Mode().Type() == fs.ModeSymlink:
			to, err := os.Readlink(name)
			fmt.Fprintf(h, "%q\n", to)
			return err
		}
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// clear takes a folder away, also one whose folders are locked.
func clear(at string) error {
	if os.RemoveAll(at) == nil {
		return nil
	}
	//nolint:errcheck // what stays locked is what RemoveAll complains about
	filepath.WalkDir(at, func(name string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			os.Chmod(name, 0o700) //nolint:errcheck // as above
		}
		return nil
	})
	return os.RemoveAll(at)
}

// maker makes one part.
type maker struct {
	*Store
	client     *http.Client
	registries Registries
	bytes      atomic.Int64

	unpacked, files atomic.Int64
	most            struct{ bytes, files int64 }
}

func (m *maker) fetch(ctx context.Context, address string, most int64) ([]byte, error) {
	data, err := fetch(ctx, m.client, address, most)
	if err == nil && m.bytes.Add(int64(len(data))) > maxBytes {
		err = fault.New(fault.Exhausted, "job.prepare", "the dependencies are more than %d GiB", maxBytes>>30)
	}
	return data, err
}

// each does something for so many dependencies, a few at a time, until one fails.
func (m *maker) each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	if n > maxFetched {
		return fault.New(fault.Exhausted, "job.prepare", "the lock file names %d dependencies, and %d are fetched at most", n, maxFetched)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	var next atomic.Int64
	for range min(n, 8) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := do(ctx, i); err != nil {
					cancel(err) // the first one counts
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// boxed runs a line in a folder, which it may change, and beside which it has the system alone.
func (m *maker) boxed(ctx context.Context, folder, dir, line string) error {
	tmp := filepath.Join(folder, "tmp")
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return err
	}
	if !m.Box.Works() {
		return bad("this machine has no sandbox, and npm runs in nothing else").WithNext("install bubblewrap (apt install bubblewrap)")
	}
	b, err := m.Box.Alone(folder, tmp, dir, line)
	if err != nil {
		return err
	}
	cmd, done, err := m.Box.Machine.Command(ctx, b)
	if err != nil {
		return err
	}
	defer done()
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil && ctx.Err() == nil {
		said := strings.TrimSpace(string(out))
		return bad("npm could not lay the packages out: %v: %s", err, strings.ToValidUTF8(said[max(0, len(said)-600):], "\uFFFD"))
	}
	return err
}
