package terminal

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/fault"
)

// ReapIn asks for nothing.
type ReapIn struct{}

// ReapOut names what was ended.
type ReapOut struct {
	Ended []string `json:"ended"`
}

func (d *Driver) reapOp(ctx context.Context, _ ReapIn) (ReapOut, error) {
	out := ReapOut{Ended: []string{}}
	if d.tmux.Missing() != nil {
		return out, nil // without tmux there is nothing to leave behind
	}
	select {
	case <-d.taken:
	case <-ctx.Done():
		return out, ctx.Err()
	}
	names, err := d.Reap(ctx)
	out.Ended = append(out.Ended, names...)
	return out, err
}

// Reap ends terminals and programs that tandem started from this data folder for sessions which are closed or unknown: a
// crash in the middle of closing leaves them behind. What somebody else started, also under the same prefix, is left alone.
func (d *Driver) Reap(ctx context.Context) ([]string, error) {
	open, err := d.rows(ctx, "closed_at = 0")
	if err != nil {
		return nil, err
	}
	owned := map[string]bool{}
	for _, r := range open {
		owned[r.Session] = true
	}
	panes, err := d.tmux.Panes(ctx)
	if err != nil {
		return nil, err
	}
	var ended []string
	for _, p := range panes {
		id := d.startedFor(p.Started)
		if id == "" || owned[id] {
			continue
		}
		if err := d.tmux.Kill(ctx, p.Session); err != nil && !fault.Is(err, fault.NotFound) {
			return ended, err
		}
		if err := reap(p.PID); err != nil {
			return ended, err
		}
		ended = append(ended, Prefix+p.Session)
	}
	for id, pids := range strays(filepath.Join(d.data(), "")) {
		if owned[id] {
			continue
		}
		for _, pid := range pids {
			if err := reap(pid); err != nil {
				return ended, err
			}
		}
		ended = append(ended, id)
	}
	slices.Sort(ended)
	return ended, nil
}

// startedFor is the session for which a terminal was started from this data folder, by the file that its command names.
func (d *Driver) startedFor(command string) string {
	for _, word := range strings.Fields(strings.NewReplacer(`"`, " ", "'", " ").Replace(command)) {
		if rel, err := filepath.Rel(d.Folder, word); err == nil && filepath.Base(word) == "launch.json" && !strings.HasPrefix(rel, "..") {
			return filepath.Dir(rel)
		}
	}
	return ""
}
