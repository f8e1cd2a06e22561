package daemon

import (
	"sync"
	"sync/atomic"
	"time"

	"tandem/internal/fault"
	"tandem/internal/gate"
	"tandem/internal/metric"
	"tandem/internal/op"
	"tandem/internal/session"
)

// watch sees everything that ends in this server. It counts, and writes the lines that an operator looks for.
type watch struct {
	metrics  metric.Set
	ops      *metric.Counter
	seconds  *metric.Histogram
	failures *metric.Counter
	turns    *metric.Counter
	calls    atomic.Int64 // that ended
	troubled atomic.Bool  // the storage failed somebody: readiness is looked at without being asked

	mu      sync.Mutex
	refused refusals // since the last line
	began   time.Time
	denied  int64 // since the start, as what follows
	failed  int64 // turns
	slow    int64
	slowest string
}

// refusals are counts of a minute: a line each would let a stranger fill the log.
type refusals struct {
	Strangers, Denied, Limited int64
	seen                       int64 // strangers that were told of before
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

// watched makes the gate, the sessions and the HTTP door tell what ends.
func (d *Daemon) watched() {
	d.watch.began = time.Now()
	d.gate.Seen = d.seen
	d.rooms.session.TurnEnded = func(e session.Ended) {
		d.turnSeen(e)
		d.rooms.automation.TurnEnded(e.Turn)
	}
	d.web.Failed = func(kind fault.Kind) {
		d.watch.failures.Add(1, kind.String())
		if kind == fault.Unavailable && !d.watch.troubled.Swap(true) {
			d.alarmed()
		}
		if kind == fault.Exhausted {
			d.watch.mu.Lock()
			d.watch.refused.Limited++
			d.watch.mu.Unlock()
		}
	}
}

// alarmed has the housekeeping look at once, so that what is over within seconds is in the log, too.
func (d *Daemon) alarmed() {
	select {
	case d.alarm <- struct{}{}:
	default: // it is about to
	}
}

// outcome is a word for how a call ended.
func outcome(s gate.Seen) string {
	switch {
	case s.Err == nil:
		return "ok"
	case s.Refused:
		return "refused"
	}
	return fault.KindOf(s.Err).String()
}

func (d *Daemon) seen(s gate.Seen) {
	w := &d.watch
	w.calls.Add(1)
	w.ops.Add(1, s.Op.Name, outcome(s))
	w.seconds.Observe(s.Took.Seconds(), string(s.Op.Class))
	if s.Refused {
		w.mu.Lock()
		w.refused.Denied++
		w.denied++
		w.mu.Unlock()
	}
	if fault.KindOf(s.Err) == fault.Unavailable && !w.troubled.Swap(true) {
		d.alarmed()
	}
	took := s.Took.Round(time.Millisecond).String()
	switch pending := fault.KindOf(s.Err) == fault.Pending; {
	case leavesALine[s.Op.Name] && s.Err == nil:
		d.Log.Info("done", "op", s.Op.Name, "actor", s.Actor, "on", s.Resource.String(), "took", took)
	case leavesALine[s.Op.Name] && !pending:
		d.Log.Warn("failed", "op", s.Op.Name, "actor", s.Actor, "on", s.Resource.String(), "took", took, "err", s.Err)
	case d.slow(s):
		w.mu.Lock()
		w.slow, w.slowest = w.slow+1, s.Op.Name+", "+took
		w.mu.Unlock()
		d.Log.Warn("slow", "op", s.Op.Name, "actor", s.Actor, "took", took)
	}
}

// slow says whether a call took longer than its class should. What waits on purpose is never slow.
func (d *Daemon) slow(s gate.Seen) bool {
	most := time.Duration(d.live().Int("slow_ms")) * time.Millisecond
	switch {
	case s.Op.Waits:
		return false
	case s.Op.Class == op.ClassRead || s.Op.Class == op.ClassState:
		return s.Took > most
	case s.Op.Class == op.ClassEffect:
		return s.Took > 10*most
	}
	return false
}

func (d *Daemon) turnSeen(t session.Ended) {
	d.watch.turns.Add(1, string(t.State))
	if t.State == session.Failed {
		d.watch.mu.Lock()
		d.watch.failed++
		d.watch.mu.Unlock()
		d.Log.Warn("turn failed", "session", t.Session, "turn", t.Turn, "driver", t.Driver, "model", t.Model, "reason", t.Reason)
	}
}

// tellRefused writes one line for all that was refused in the last minute.
func (d *Daemon) tellRefused(now time.Time) {
	w := &d.watch
	all := d.gate.Strangers.All()
	w.mu.Lock()
	if now.Sub(w.began) < time.Minute {
		w.mu.Unlock()
		return
	}
	r, took := w.refused, now.Sub(w.began)
	r.Strangers = all - r.seen
	w.refused, w.began = refusals{seen: all}, now
	w.mu.Unlock()
	if r.Strangers+r.Denied+r.Limited > 0 {
		d.Log.Warn("refused", "strangers", r.Strangers, "denied", r.Denied, "too_many", r.Limited, "in", took.Round(time.Second).String())
	}
}
