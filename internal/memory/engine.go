package memory

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tandem/internal/memory/bert"
	"tandem/internal/memory/vector"
)

// Bounds of asking a model.
const (
	waitFor  = 300 * time.Millisecond // a search waits so long for its question's vector, and answers without it then
	maxAsked = 256                    // questions whose vectors are kept
	unused   = 10 * time.Minute       // a model that nobody asked for so long is let go of
	maxTold  = 8000                   // bytes of a record that a provider's model is told
	patience = time.Minute            // how long a provider may take to answer
)

// engines are the models that this server has in memory, and the vectors of the last questions.
type engines struct {
	mu      sync.Mutex
	of      map[string]*engine // by tenant and name
	asked   map[[32]byte]vector.Vector
	slots   map[string]chan struct{} // so many questions are asked at once
	trouble map[string]string        // why a tenant's model could not be asked the last time
	missed  map[string]missed        // files that could not be fetched
}

// missed is when files could not be fetched, and why.
type missed struct {
	at  time.Time
	err error
}

// engine is a model in memory, or what went wrong with loading it.
type engine struct {
	mu    sync.Mutex // who loads it
	model *bert.Model
	file  *os.File
	used  time.Time
	busy  int
}

func newEngines() *engines {
	return &engines{of: map[string]*engine{}, asked: map[[32]byte]vector.Vector{}, trouble: map[string]string{},
		missed: map[string]missed{}, slots: map[string]chan struct{}{}}
}

// point has a model say where texts point. before is what stands before each of them.
func (r *Room) point(ctx context.Context, c *chosen, before string, texts []string) ([][]float32, error) {
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = before + strings.ToValidUTF8(t[:min(len(t), maxTold)], "")
	}
	if c.kind == ofProvider {
		ctx, stop := context.WithTimeout(ctx, patience)
		defer stop()
		out, err := r.Models.Ask(ctx, c.tenant, c.ref, all)
		if err != nil {
			return nil, err
		}
		if len(out) != len(texts) {
			return nil, fmt.Errorf("%s answers %d vectors to %d texts", c.ref, len(out), len(texts))
		}
		for _, v := range out {
			if len(v) == 0 || len(v) > vector.MaxDims || c.dims != 0 && len(v) != c.dims {
				return nil, fmt.Errorf("%s answers a vector of %d numbers", c.ref, len(v))
			}
		}
		return out, nil
	}
	e, err := r.engine(c)
	if err != nil {
		return nil, err
	}
	defer r.engines.done(e, r.db.Now())
	out := make([][]float32, len(all))
	for i, t := range all {
		if out[i], err = e.model.Of(ctx, t); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// engine is the model in memory. The first who asks loads it, and checks that its files are those that were named.
func (r *Room) engine(c *chosen) (*engine, error) {
	key := c.tenant + "/" + r.kept(c)
	r.engines.mu.Lock()
	e := r.engines.of[key]
	if e == nil {
		e = &engine{}
		r.engines.of[key] = e
	}
	e.busy++
	r.engines.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.model == nil {
		err := e.load(r.kept(c), c)
		if errors.Is(err, errOthers) || missing(err) {
			err = errors.Join(err, os.RemoveAll(r.kept(c))) // they are fetched anew
		}
		if err != nil {
			r.engines.done(e, r.db.Now())
			return nil, err
		}
	}
	return e, nil
}

func (s *engines) done(e *engine, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.busy--
	e.used = now
}

// errOthers are files that are not those that were chosen, or tried: a disk or a hand changed them.
var errOthers = errors.New("the model's files here are not those that were chosen")

// load reads a model from its folder.
func (e *engine) load(folder string, c *chosen) error {
	files, err := readSmall(folder)
	if err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(folder, weights))
	if err != nil {
		return fmt.Errorf("its weights are not on this server: %w", err)
	}
	sum, size, err := digestOf(f)
	if err == nil && sum != c.digest {
		err = fmt.Errorf("%w: %s has the digest %s, not %s", errOthers, weights, sum, c.digest)
	}
	var m *bert.Model
	if err == nil {
		files.Weights, files.Size = f, size
		m, err = bert.Read(files)
	}
	if c.name != "" && !errors.Is(err, errOthers) && (err != nil || c.namedOf(files, m.Dims()) != c.name) {
		err = fmt.Errorf("%w: %s, %s or %s", errOthers, small[0].name, small[1].name, small[2].name)
	}
	if err != nil {
		f.Close()
		return err
	}
	e.model, e.file = m, f
	return nil
}

// letGo frees what nobody asked for a while.
func (s *engines) letGo(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, e := range s.of {
		if e.busy == 0 && now.Sub(e.used) > unused {
			if e.file != nil {
				e.file.Close()
			}
			delete(s.of, key)
		}
	}
}
