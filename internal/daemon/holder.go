package daemon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"tandem/internal/wholefile"
)

// Holding is the daemon that holds a data folder: how to reach it, and what it
// does while it is not there for anybody yet. It is kept beside the lock.
type Holding struct {
	PID    int       `json:"pid"`
	Socket string    `json:"socket"`
	Phase  string    `json:"phase,omitempty"` // what it does before it is ready; empty when it is
	Since  time.Time `json:"since"`           // when it began that
}

func holdingFile(data string) string { return filepath.Join(data, "holder.json") }

// phase says what the daemon does before it is ready. That it could not be
// written is no reason to stop: only who waits knows less.
func (d *Daemon) phase(what string) {
	h := Holding{PID: os.Getpid(), Socket: SocketPath(d.data, d.Settings.Get("control_socket")), Phase: what, Since: time.Now().UTC()}
	data, err := json.Marshal(h)
	if err == nil {
		err = wholefile.Write(holdingFile(d.data), data)
	}
	if err != nil {
		d.Log.Warn("cannot say who holds the data folder", "err", err)
	}
}

// Living is the daemon that lives on a data folder; ok is false when none does.
func Living(data string) (h Holding, ok bool) {
	text, err := os.ReadFile(holdingFile(data))
	if err != nil || json.Unmarshal(text, &h) != nil || h.PID <= 0 || gone(h.PID) {
		return Holding{}, false
	}
	free, err := Free(data) // a killed one's number may be another's by now
	return h, err == nil && !free
}
