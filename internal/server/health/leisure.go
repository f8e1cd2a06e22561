package health

import (
	"runtime"
	"runtime/debug"
)

// leisure gives memory back that a load needed, once there is time for that: the runtime keeps it for minutes, an idle server needs it no
// longer.
type leisure struct {
	calls int64 // that had ended at the last look
	busy  bool  // there were many before it
}

const (
	fewCalls = 200      // between two looks: whoever looks after the server, and nobody who works with it
	worth    = 16 << 20 // bytes that are held and not in use
)

// due is asked now and then with how many calls have ended so far and how many bytes are held for nothing.
func (l *leisure) due(calls int64, held uint64) bool {
	since := calls - l.calls
	l.calls = calls
	if since > fewCalls {
		l.busy = true
		return false
	}
	was := l.busy
	l.busy = false
	return was || held > worth
}

// Rest gives back what is due.
func (h *Health) Rest() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if h.leisure.due(h.Calls(), m.HeapIdle-m.HeapReleased) {
		debug.FreeOSMemory()
	}
}
