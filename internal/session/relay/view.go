package relay

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// show writes the view for people. It may be late or missing; the rows are the truth.
func (r *Runner) show(x *Relay) {
	dir := filepath.Join(r.folder, x.ID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		r.log.Warn("show a relay", "relay", x.ID, "err", err)
		return
	}
	log, err := r.entries(context.WithoutCancel(r.base), x.Tenant, x.ID, 0, 10_000)
	if err != nil {
		return
	}
	var lines strings.Builder
	for _, e := range log {
		fmt.Fprintf(&lines, "- %s task %d, step %d, %s: %s\n", e.At.Format(time.RFC3339), e.Task, e.Step, e.Role, line(e.Text, 300))
	}
	state, _ := json.MarshalIndent(map[string]any{"status": x.Status, "turn": x.Turn, "task": x.Task, "blockedReason": x.Reason,
		"question": x.Question, "step": x.Step}, "", "  ")
	queue, _ := json.MarshalIndent(append([]string{}, x.Queue...), "", "  ")
	for name, data := range map[string]string{"MISSION.md": x.Mission + "\n", "STATE.json": string(state) + "\n", "LOG.md": lines.String(),
		"QUEUE.json": string(queue) + "\n"} {
		tmp := filepath.Join(dir, "."+name)
		if err := os.WriteFile(tmp, []byte(data), 0o600); err == nil {
			err = os.Rename(tmp, filepath.Join(dir, name))
			if err != nil {
				r.log.Warn("show a relay", "relay", x.ID, "err", err)
			}
		}
	}
}
