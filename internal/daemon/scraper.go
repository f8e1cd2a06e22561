package daemon

import (
	"context"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"

	"tandem/internal/fault"
	"tandem/internal/httpapi"
	"tandem/internal/op"
)

// scrapers are callers with a token who were told how the server is. While the database is away nobody can be looked up, and that is when
// they have to be told: whoever was known a while ago still is, for /ready and /metrics and for nothing else.
type scrapers struct {
	mu   sync.Mutex
	seen map[[32]byte]scraper
}

type scraper struct {
	caller   op.Caller
	at       time.Time
	admitted bool // to the metrics, by the gate
}

const (
	maxScrapers  = 64
	scraperLasts = time.Hour
	scraperWaits = time.Second // for the database, before what was known counts
)

func scrapes(path string) bool { return path == "/ready" || path == "/metrics" }

// remembering is an authenticator that knows scrapers without the database.
func (d *Daemon) remembering(auth httpapi.Authenticator) httpapi.Authenticator {
	return func(r *http.Request) (op.Caller, error) {
		token, ok := bearer(r)
		if !ok || !scrapes(r.URL.Path) {
			return auth(r)
		}
		ctx, cancel := context.WithTimeout(r.Context(), scraperWaits)
		defer cancel()
		c, err := auth(r.WithContext(ctx))
		key := sha256.Sum256([]byte(token))
		switch was, known := d.scrapers.recall(key); {
		case err == nil && c.Known():
			d.scrapers.keep(key, scraper{c, time.Now(), known && was.admitted})
		case ctx.Err() == nil && !fault.Is(d.db.Explain(err), fault.Unavailable):
			d.scrapers.forget(key) // it is nobody's any more
		case known:
			return was.caller, nil
		}
		return c, err
	}
}

// admitScraper is the gate's word on who reads the metrics, or its last one while it cannot be asked.
func (d *Daemon) admitScraper(r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), scraperWaits)
	defer cancel()
	_, err := d.gate.Admit(ctx, string(ServerMetrics), nothing{})
	token, _ := bearer(r)
	key := sha256.Sum256([]byte(token))
	was, known := d.scrapers.recall(key)
	away := ctx.Err() != nil || fault.Is(err, fault.Unavailable)
	if away && known && was.admitted {
		return nil
	}
	if !away && known {
		was.admitted = err == nil
		d.scrapers.keep(key, was)
	}
	return err
}

func (s *scrapers) recall(key [32]byte) (scraper, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was, ok := s.seen[key]
	return was, ok && time.Since(was.at) < scraperLasts
}

func (s *scrapers) keep(key [32]byte, c scraper) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.seen[key]; s.seen == nil || !ok && len(s.seen) >= maxScrapers {
		s.seen = map[[32]byte]scraper{}
	}
	s.seen[key] = c
}

func (s *scrapers) forget(key [32]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, key)
}
