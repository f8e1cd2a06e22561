package logfile

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// Fold is a handler that writes a warning or an error that is said again and again once, and then once in a while with how often it was
// said since: while a database is away, what waits for it would fill the log and push out the line that tells the cause.
type Fold struct {
	slog.Handler
	state *folding
	given string // the attributes that this logger has already
}

type folding struct {
	mu   sync.Mutex
	now  func() time.Time
	said map[string]*repeat
}

type repeat struct {
	at    time.Time // when it was last written
	wait  time.Duration
	since int // how often it was said since
}

const (
	foldFirst = time.Minute // how long a line is not written again
	foldMost  = time.Hour   // the longest: it doubles while the line goes on being said
	foldLines = 200         // that are remembered
)

// NewFold makes one over a handler that writes.
func NewFold(h slog.Handler) *Fold {
	return &Fold{Handler: h, state: &folding{now: time.Now, said: map[string]*repeat{}}}
}

// Handle writes the line, or counts it.
func (f *Fold) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn {
		return f.Handler.Handle(ctx, r)
	}
	write, since := f.state.count(f.key(r))
	if !write {
		return nil
	}
	if since > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int("repeated", since))
	}
	return f.Handler.Handle(ctx, r)
}

func (f *Fold) key(r slog.Record) string {
	var b strings.Builder
	b.WriteString(r.Level.String() + " " + r.Message + f.given)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key != "again_in" { // how long somebody waits before the next attempt
			b.WriteString(" " + a.String())
		}
		return true
	})
	return b.String()
}

// count says whether a line is to be written now, and how often it was not since the last time.
func (s *folding) count(key string) (write bool, since int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	r := s.said[key]
	if r == nil || now.Sub(r.at) > 2*r.wait { // it was silent for long: this is another time
		if len(s.said) >= foldLines {
			clear(s.said)
		}
		s.said[key] = &repeat{at: now, wait: foldFirst}
		return true, 0
	}
	if now.Sub(r.at) < r.wait {
		r.since++
		return false, 0
	}
	since = r.since
	*r = repeat{at: now, wait: min(2*r.wait, foldMost)}
	return true, since
}

// WithAttrs keeps what is common to a logger's lines.
func (f *Fold) WithAttrs(attrs []slog.Attr) slog.Handler {
	given := f.given
	for _, a := range attrs {
		given += " " + a.String()
	}
	return &Fold{Handler: f.Handler.WithAttrs(attrs), state: f.state, given: given}
}

// WithGroup does the same for a group.
func (f *Fold) WithGroup(name string) slog.Handler {
	return &Fold{Handler: f.Handler.WithGroup(name), state: f.state, given: f.given + " " + name + ":"}
}
