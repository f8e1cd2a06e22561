package logfile

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// An outage of the database wrote 3.4 lines a second: after a night the line that told the cause had been rotated away.
func TestALineThatIsRepeatedIsFolded(t *testing.T) {
	var out bytes.Buffer
	f := NewFold(slog.NewTextHandler(&out, nil))
	now := time.Unix(1000, 0)
	f.state.now = func() time.Time { return now }
	log := slog.New(f).With("room", "a")
	gone := errors.New("the database is away")
	night := 9 * 60 * 60
	for range night {
		log.Error("look for waiting turns", "err", gone)
		log.Warn("space not followed", "err", gone, "again_in", now.String())
		now = now.Add(time.Second)
	}
	lines := strings.Count(out.String(), "\n")
	if lines < 4 || lines > 40 || !strings.Contains(out.String(), "repeated=59") {
		t.Errorf("%d lines for a night: %s", lines, out.String())
	}
	out.Reset()
	log.Error("look for waiting turns", "err", errors.New("something else"))
	log.Info("done")
	log.Info("done")
	slog.New(f).Error("look for waiting turns", "err", gone)
	if n := strings.Count(out.String(), "\n"); n != 4 {
		t.Errorf("%d lines, and each says something of its own: %s", n, out.String())
	}
	out.Reset()
	now = now.Add(3 * time.Hour)
	log.Error("look for waiting turns", "err", gone)
	if !strings.Contains(out.String(), "look for waiting turns") || strings.Contains(out.String(), "repeated") {
		t.Errorf("after hours of silence: %s", out.String())
	}
}
