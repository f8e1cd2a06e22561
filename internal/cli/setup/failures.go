package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tandem/internal/daemon"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/settings"
)

// checkFindings asks the running server what is wrong with it, beside what was found without it.
func checkFindings(ctx context.Context, v examined, found []Check) []Check {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := op.Do(ctx, v.c, daemon.ServerFindings, identity.Nothing{})
	if err != nil {
		return []Check{broken("ready", err)}
	}
	checks := []Check{{"ready", "ok", "the database can be written, the disk has room, the keys are there, the clock is right", ""}}
	for _, f := range out.Findings {
		if f.State == "bad" {
			checks = nil // it is not ready, and what follows says why
		}
	}
	for _, f := range out.Findings {
		if !slices.ContainsFunc(found, func(c Check) bool { return c.Name == f.Name && c.State == f.State }) {
			checks = append(checks, Check(f))
		}
	}
	return checks
}

// checkLog tells the last failure that the log has. It is past, so it is a note: what lasts is found by the other checks.
func checkLog(s *settings.Settings) Check {
	path := s.Get("log.file")
	if path == "" {
		path = filepath.Join(s.Data(), "tandem.log")
	}
	last, err := lastFailure(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return Check{"log", "note", "there is none yet", ""}
	case err != nil:
		return broken("log", err)
	case last == nil:
		return Check{"log", "ok", "no failure in " + tilde(path, s.Home), ""}
	}
	detail := "the last failure was at " + last.Time.Local().Format("2006-01-02 15:04:05") + ": " + last.Msg
	for _, more := range []string{last.Reasons, last.Err} {
		if more != "" {
			detail += ": " + more
		}
	}
	return Check{"log", "note", detail, "what came before and after it: tandem logs --level warn"}
}

// failure is a line of the log at the level error.
type failure struct {
	Time    time.Time `json:"time"`
	Level   string    `json:"level"`
	Msg     string    `json:"msg"`
	Err     string    `json:"err"`
	Reasons string    `json:"reasons"`
}

// lastFailure finds the newest one in the log's last part.
func lastFailure(path string) (*failure, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return nil, err
	}
	tail := make([]byte, min(st.Size(), 1<<20))
	if _, err := f.ReadAt(tail, st.Size()-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	lines := bytes.Split(tail, []byte("\n"))
	for i := len(lines) - 1; i >= 0; i-- {
		var l failure
		if json.Unmarshal(lines[i], &l) == nil && l.Level == "ERROR" {
			return &l, nil
		}
	}
	return nil, nil
}
