package health

import (
	"sync"
	"sync/atomic"
	"time"

	"tandem/internal/fault"
	"tandem/internal/gate"
	"tandem/internal/metric"
	"tandem/internal/session"
)

// Since is what was counted since the start.
type Since struct {
	Denied  int64  // calls
	Failed  int64  // turns of agents
	Slow    int64  // operations
	Slowest string // the last of them
}

// counts sees everything that ends in this server.
type counts struct {
	metrics  metric.Set
	ops      *metric.Counter
	seconds  *metric.Histogram
	failures *metric.Counter
	turns    *metric.Counter
	calls    atomic.Int64 // that ended

	mu      sync.Mutex
	refused refusals // since the last line
	began   time.Time
	since   Since
}

// refusals are counts of a minute: a line each would let a stranger fill the log.
type refusals struct {
	Strangers, Denied, Limited int64
	seen                       int64 // strangers that were told of before
}

func (c *counts) begin(now time.Time) {
	c.began = now
	c.ops = c.metrics.Counter("tandem_operations_total", "Operations that ended, by name and outcome.", "op", "outcome")
	c.seconds = c.metrics.Histogram("tandem_operation_seconds", "How long operations took, by class.", buckets, "class")
	c.failures = c.metrics.Counter("tandem_http_failures_total", "Requests that were answered with a failure, by its code.", "code")
	c.turns = c.metrics.Counter("tandem_turns_total", "Turns of agents that ended, by state.", "state")
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

func (c *counts) seen(s gate.Seen) {
	c.calls.Add(1)
	c.ops.Add(1, s.Op.Name, outcome(s))
	c.seconds.Observe(s.Took.Seconds(), string(s.Op.Class))
	if s.Refused {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.refused.Denied++
		c.since.Denied++
	}
}

func (c *counts) slow(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since.Slow, c.since.Slowest = c.since.Slow+1, what
}

func (c *counts) answered(kind fault.Kind) {
	c.failures.Add(1, kind.String())
	if kind == fault.Exhausted {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.refused.Limited++
	}
}

func (c *counts) turned(t session.Ended) {
	c.turns.Add(1, string(t.State))
	if t.State == session.Failed {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.since.Failed++
	}
}

// minute is what was refused since the last line, once a minute is over; nothing before.
func (c *counts) minute(strangers int64, now time.Time) (r refusals, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if took = now.Sub(c.began); took < time.Minute {
		return r, took
	}
	r = c.refused
	r.Strangers = strangers - r.seen
	c.refused, c.began = refusals{seen: strangers}, now
	return r, took
}

// Since is what was counted since the start.
func (h *Health) Since() Since {
	h.counts.mu.Lock()
	defer h.counts.mu.Unlock()
	return h.counts.since
}

// Calls is how many operations have ended.
func (h *Health) Calls() int64 { return h.counts.calls.Load() }
