package memory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"tandem/internal/fault"
	"tandem/internal/memory/bert"
)

// The files of a model.
const (
	weights    = "model.safetensors"
	maxWeights = 1 << 30
	pooling    = "1_Pooling/config.json"
	stalled    = 2 * time.Minute // the models of all wait for one that comes: it is given up when in so long
	trickle    = 1 << 20         // fewer bytes than this do
)

// small are the files beside the weights, and how large each may be. The last may be missing.
var small = []struct {
	name string
	most int64
}{{"config.json", 1 << 20}, {"vocab.txt", bert.MaxVocab}, {pooling, 1 << 20}}

// kept is the folder of a model on this server.
func (r *Room) kept(c *chosen) string {
	sum := sha256.Sum256([]byte(c.tenant + "\x00" + c.ref + "\x00" + c.digest))
	return filepath.Join(r.Models.Folder, hex.EncodeToString(sum[:8]))
}

// fetched brings the files of a model to this server, when they are not there, and checks the digest of its weights.
func (r *Room) fetched(ctx context.Context, c *chosen) error {
	folder := r.kept(c)
	if _, err := os.Stat(filepath.Join(folder, weights)); err == nil {
		return nil // looked at again when it is loaded
	}
	if err := os.MkdirAll(r.Models.Folder, 0o700); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(r.Models.Folder, ".coming-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.Mkdir(filepath.Join(tmp, filepath.Dir(pooling)), 0o700); err != nil {
		return err
	}
	for _, f := range small {
		_, err := r.bringFile(ctx, c, f.name, filepath.Join(tmp, f.name), f.most)
		if err != nil && !(f.name == pooling && missing(err)) {
			return err
		}
	}
	sum, err := r.bringFile(ctx, c, weights, filepath.Join(tmp, weights), maxWeights)
	if err != nil {
		return err
	}
	if sum != c.digest {
		return fmt.Errorf("%s has the digest %s, not %s", weights, sum, c.digest)
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	return os.Rename(tmp, folder)
}

// again fetches the files of a model that was tried before, when this server has none: another one tried it, or they were in no backup.
// What fails is not tried at each turn, as much may come before it does.
func (r *Room) again(ctx context.Context, c *chosen) error {
	if c.kind != ofFiles {
		return nil
	}
	key, s := r.kept(c), r.engines
	s.mu.Lock()
	last := s.missed[key]
	s.mu.Unlock()
	if _, there := os.Stat(filepath.Join(key, weights)); there != nil && last.err != nil && r.db.Now().Sub(last.at) < unused {
		return last.err
	}
	err := r.fetched(ctx, c)
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.missed, key); err != nil && ctx.Err() == nil {
		s.missed[key] = missed{r.db.Now(), err}
	}
	return err
}

// tidy removes the files of models that nobody chose any more, and what a crash left of one that was coming.
func (r *Room) tidy(all []*chosen) {
	there, err := os.ReadDir(r.Models.Folder)
	if err != nil {
		return
	}
	for _, e := range there {
		path := filepath.Join(r.Models.Folder, e.Name())
		if !slices.ContainsFunc(all, func(c *chosen) bool { return c.kind == ofFiles && r.kept(c) == path }) {
			os.RemoveAll(path) // one that is still open on Windows goes the next time
		}
	}
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) || fault.Is(err, fault.NotFound) }

// bringFile copies one file, and says its digest.
func (r *Room) bringFile(ctx context.Context, c *chosen, name, to string, most int64) (sum string, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var came moving
	came.still = time.AfterFunc(stalled, func() { stop(came.slow()) })
	defer came.still.Stop()
	defer func() {
		if why := context.Cause(ctx); err != nil && why != nil {
			err = fmt.Errorf("%s: %w", name, why)
		}
	}()
	from, err := r.openFile(ctx, c, name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	defer from.Close()
	came.Reader = from
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, h), io.LimitReader(&came, most+1))
	if err == nil && n > most {
		err = fmt.Errorf("%s is larger than %d MB", name, most>>20)
	}
	if err == nil {
		err = f.Sync()
	}
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}

// moving watches that enough comes.
type moving struct {
	io.Reader
	still *time.Timer
	had   atomic.Int64 // since it was begun, or since there was enough
}

func (m *moving) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if m.had.Add(int64(n)) >= trickle {
		m.had.Store(0)
		m.still.Reset(stalled)
	}
	return n, err
}

func (m *moving) slow() error {
	if n := m.had.Load(); n > 0 {
		return fmt.Errorf("it comes too slowly: %d bytes in %s", n, stalled)
	}
	return fmt.Errorf("nothing came of it for %s", stalled)
}

// openFile opens a file of a model where it was named: at an address, or in a folder of this machine, where only plain files are read.
func (r *Room) openFile(ctx context.Context, c *chosen, name string) (io.ReadCloser, error) {
	if isAddress(c.ref) {
		return r.Models.Fetch(ctx, c.tenant, strings.TrimRight(c.ref, "/")+"/"+name)
	}
	path := filepath.Join(c.ref, filepath.FromSlash(name))
	if at, err := os.Stat(path); err != nil {
		return nil, err
	} else if !at.Mode().IsRegular() {
		return nil, fmt.Errorf("it is no plain file")
	}
	return os.Open(path)
}

func isAddress(s string) bool {
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
}

// readSmall reads the files beside the weights.
func readSmall(folder string) (f bert.Files, err error) {
	for i, into := range []*[]byte{&f.Config, &f.Vocab, &f.Pooling} {
		raw, err := os.ReadFile(filepath.Join(folder, small[i].name))
		if err != nil && !(small[i].name == pooling && missing(err)) {
			return f, fmt.Errorf("the model's files are not on this server: %w", err)
		}
		*into = bytes.Clone(raw)
	}
	return f, nil
}

func digestOf(f *os.File) (sum string, size int64, err error) {
	h := sha256.New()
	size, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), size, err
}
