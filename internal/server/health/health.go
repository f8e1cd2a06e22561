package health

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/gate"
	"tandem/internal/journal"
	"tandem/internal/metric"
	"tandem/internal/op"
	"tandem/internal/secret"
	"tandem/internal/session"
)

// House is what is looked at, and how.
type House struct {
	DB      *db.DB
	Journal *journal.Journal
	Data    string // the data folder
	Keepers []secret.Keeper
	Log     *slog.Logger
	System  op.Caller // who writes what the clock did
	// Elder says that no other server is there, whose clock may be ahead of ours by a little.
	Elder bool
	// Sweep writes down what has ended by now.
	Sweep func(context.Context)
	// Slow is how long an operation may take before it is told of.
	Slow func() time.Duration
}

// Health is how one server is.
type Health struct {
	house   House
	look    look
	clock   watch
	counts  counts
	leisure leisure // of whoever calls Rest
	alarm   chan struct{}
	trouble atomic.Bool // the storage failed somebody: it is looked at without being asked
}

// New looks at a house from now on.
func New(h House) *Health {
	all := &Health{house: h, alarm: make(chan struct{}, 1)}
	all.counts.begin(time.Now())
	return all
}

// Metrics are what was counted, for more to be added.
func (h *Health) Metrics() *metric.Set { return &h.counts.metrics }

// Alarms tells when something has to be looked at at once, so that what is over within seconds is in the log, too.
func (h *Health) Alarms() <-chan struct{} { return h.alarm }

// Alarm has whoever listens to Alarms look.
func (h *Health) Alarm() {
	select {
	case h.alarm <- struct{}{}:
	default: // it is about to
	}
}

// Watch looks once, at everything. It is called when there was an alarm.
func (h *Health) Watch(ctx context.Context) {
	h.Look(ctx)
	h.WatchClock(ctx)
	if h.trouble.Load() { // the last look is too fresh: it was before this
		time.AfterFunc(lookAgain, h.Alarm)
	}
}

// Turn is what is looked at now and then though nobody asks. While all is well nothing is written.
func (h *Health) Turn(ctx context.Context) {
	if Room(h.house.Data) != nil || h.Bad() || h.trouble.Load() {
		h.Look(ctx)
	}
	h.WatchClock(ctx)
}

// Seen counts a call of an operation that ended, and writes the line that an operator looks for.
func (h *Health) Seen(s gate.Seen) {
	h.counts.seen(s)
	h.failed(fault.KindOf(s.Err))
	took := s.Took.Round(time.Millisecond).String()
	switch pending := fault.KindOf(s.Err) == fault.Pending; {
	case leavesALine[s.Op.Name] && s.Err == nil:
		h.house.Log.Info("done", "op", s.Op.Name, "actor", s.Actor, "on", s.Resource.String(), "took", took)
	case leavesALine[s.Op.Name] && !pending:
		h.house.Log.Warn("failed", "op", s.Op.Name, "actor", s.Actor, "on", s.Resource.String(), "took", took, "err", s.Err)
	case h.Slow(s):
		h.counts.slow(s.Op.Name + ", " + took)
		h.house.Log.Warn("slow", "op", s.Op.Name, "actor", s.Actor, "took", took)
	}
}

// Answered counts a request that was answered with a failure.
func (h *Health) Answered(kind fault.Kind) {
	h.counts.answered(kind)
	h.failed(kind)
}

// failed raises the alarm when the storage failed somebody.
func (h *Health) failed(kind fault.Kind) {
	if kind == fault.Unavailable && !h.trouble.Swap(true) {
		h.Alarm()
	}
}

// Turned counts a turn of an agent that ended.
func (h *Health) Turned(t session.Ended) {
	h.counts.turned(t)
	if t.State == session.Failed {
		h.house.Log.Warn("turn failed", "session", t.Session, "turn", t.Turn, "driver", t.Driver, "model", t.Model, "reason", t.Reason)
	}
}

// TellRefused writes one line for all that was refused in the last minute. It is told how many strangers were, since the start.
func (h *Health) TellRefused(strangers int64, now time.Time) {
	if r, took := h.counts.minute(strangers, now); r.Strangers+r.Denied+r.Limited > 0 {
		h.house.Log.Warn("refused", "strangers", r.Strangers, "denied", r.Denied, "too_many", r.Limited,
			"in", took.Round(time.Second).String())
	}
}

// Slow says whether a call took longer than its class should. What waits on purpose is never slow.
func (h *Health) Slow(s gate.Seen) bool {
	switch {
	case s.Op.Waits:
		return false
	case s.Op.Class == op.ClassRead || s.Op.Class == op.ClassState:
		return s.Took > h.house.Slow()
	case s.Op.Class == op.ClassEffect:
		return s.Took > 10*h.house.Slow()
	}
	return false
}

// leavesALine are the operations that leave a line each, also when all is well. What else changed is in the journal.
var leavesALine = map[string]bool{
	"server.backup": true, "server.restore": true, "repo.push": true, "repo.git_push": true, "repo.git_fetch": true, "repo.gc": true,
	"setting.set": true, "setting.keep": true, "phone.set": true, "phone.off": true,
	"token.new": true, "token.revoke": true, "join.redeem": true, "person.enter": true,
	"pin.set": true, "server.rotate": true,
	"schedule.now": true, "schedule.run": true, "schedule.set": true, "schedule.remove": true,
	"recovery.use": true, "recovery.begin": true, "recovery.stop": true, "recovery.codes": true,
}

// LeaveALine are the names of the operations that leave a line in the log each.
func LeaveALine() (names []string) {
	for name := range leavesALine {
		names = append(names, name)
	}
	return names
}
