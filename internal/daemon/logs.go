package daemon

import (
	"fmt"
	"log/slog"
	"os"
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

// logFile is a log that never grows beyond a few files.
type logFile struct {
	mu   sync.Mutex
	path string
	f    *os.File
	size int64
}

const (
	logSize  = 10 << 20
	logFiles = 3
)

func openLog(path string) (*logFile, error) {
	l := &logFile{path: path}
	return l, l.open()
}

func (l *logFile) open() error {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fault.New(fault.Unavailable, "logs", "cannot write the log %s: %w", l.path, err).WithNext("choose another with --log-file")
	}
	st, err := f.Stat()
	if err != nil {
		return err
	}
	l.f, l.size = f, st.Size()
	return nil
}

// reopen goes on in the file of that name, which somebody may have moved away.
func (l *logFile) reopen() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.f
	if err := l.open(); err != nil {
		return err
	}
	return old.Close()
}

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.f.Close()
}

// Write appends one line, to a new file when the old one is full.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(p)) > logSize {
		if err := l.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := l.f.Write(p)
	l.size += int64(n)
	return n, err
}

func (l *logFile) rotate() error {
	if st, err := l.f.Stat(); err != nil || !st.Mode().IsRegular() {
		l.size = 0 // a terminal or a pipe has no size
		return nil
	}
	for i := logFiles - 1; i >= 1; i-- {
		from := l.path
		if i > 1 {
			from = fmt.Sprintf("%s.%d", l.path, i-1)
		}
		_ = os.Rename(from, fmt.Sprintf("%s.%d", l.path, i))
	}
	old := l.f
	if err := l.open(); err != nil {
		l.size = 0 // the old file under its new name takes on what the new one cannot
		return nil
	}
	return old.Close()
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
