package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Registered is what Claude Code says of itself in sessions/<pid>.json: the best single signal of what it does, and the
// only structured one of an interrupt.
type Registered struct {
	PID          int    `json:"pid"`
	Conversation string `json:"sessionId"`
	Version      string `json:"version"`
	Status       string `json:"status"`     // busy, idle, waiting, shell
	WaitingFor   string `json:"waitingFor"` // permission prompt, dialog open, …
	ProcStart    string `json:"procStart"`
	Changed      int64  `json:"statusUpdatedAt"`
}

// At is when the status changed.
func (r Registered) At() time.Time { return time.UnixMilli(r.Changed) }

// Idle says that the program waits for a prompt; a background shell may run.
func (r Registered) Idle() bool { return r.Status == "idle" || r.Status == "shell" }

// RegistryFolder is where the program keeps its entries, a file for each process.
func RegistryFolder(config string) string { return filepath.Join(config, "sessions") }

// Lookup finds the entry of a running program by its process. With pid 0 the folder belongs to one program alone, which
// runs where processes have other numbers: the first of them is the program, later ones are what it started itself.
func Lookup(folder string, pid int) (r Registered, ok bool) {
	if pid > 0 {
		ok = read(filepath.Join(folder, strconv.Itoa(pid)+".json"), &r) && r.PID == pid && alive(r)
		return r, ok
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return Registered{}, false
	}
	for _, e := range entries {
		var other Registered
		if strings.HasSuffix(e.Name(), ".json") && read(filepath.Join(folder, e.Name()), &other) && (!ok || other.PID < r.PID) {
			r, ok = other, true
		}
	}
	return r, ok
}

func read(path string, v any) bool {
	data, err := os.ReadFile(path)
	return err == nil && json.Unmarshal(data, v) == nil
}

var other = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9]`) })

// TranscriptPath is where the program writes a conversation.
func TranscriptPath(config, project, conversation string) string {
	return filepath.Join(config, "projects", other().ReplaceAllString(project, "-"), conversation+".jsonl")
}
