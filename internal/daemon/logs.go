package daemon

import (
	"log/slog"
	"strings"
	"sync"

	"tandem/internal/fault"
)

// LevelTrace is below debug.
const LevelTrace = slog.Level(-8)

// ParseLevel reads trace, debug, info, warn or error.
func ParseLevel(s string) (slog.Level, error) {
	switch strings.ToLower(s) {
	case "trace":
		return LevelTrace, nil
	case "debug":
		return slog.LevelDebug, nil
	case "info", "":
		return slog.LevelInfo, nil
	case "warn", "warning":
		return slog.LevelWarn, nil
	case "error":
		return slog.LevelError, nil
	}
	return 0, fault.New(fault.Invalid, "logs", "%q is not a level", s).WithNext("use trace, debug, info, warn or error")
}

// nameLevel writes trace as a word of its own.
func nameLevel(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.LevelKey {
		if l, ok := a.Value.Any().(slog.Level); ok && l <= LevelTrace {
			a.Value = slog.StringValue("TRACE")
		}
	}
	return a
}

// logHub keeps the newest lines and hands new ones to whoever follows.
type logHub struct {
	mu     sync.Mutex
	recent [][]byte
	subs   map[chan []byte]struct{}
}

const keepLines = 500

// Write takes one JSON line of the log.
func (h *logHub) Write(p []byte) (int, error) {
	line := append([]byte(nil), p...)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.recent = append(h.recent, line); len(h.recent) > keepLines {
		h.recent = h.recent[1:]
	}
	for c := range h.subs {
		select {
		case c <- line:
		default: // a follower that does not read loses lines; logs may be lost
		}
	}
	return len(p), nil
}

// follow returns the recent lines and a channel of what comes.
func (h *logHub) follow() (recent [][]byte, next chan []byte, stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	next = make(chan []byte, 256)
	if h.subs == nil {
		h.subs = map[chan []byte]struct{}{}
	}
	h.subs[next] = struct{}{}
	return append([][]byte(nil), h.recent...), next, func() {
		h.mu.Lock()
		delete(h.subs, next)
		h.mu.Unlock()
	}
}
