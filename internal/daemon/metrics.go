package daemon

import (
	"context"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/metric"
)

// buckets are seconds: most operations take a millisecond, some a minute.
var buckets = []float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100}

// measure makes the metrics. Labels are words of the program: no name, path, address or text of anybody's.
func (d *Daemon) measure() {
	m := &d.watch.metrics
	m.Gauge("tandem_build_info", "The program that runs.",
		func(tell func(float64, ...string)) { tell(1, d.Version, runtime.Version(), d.db.Name()) },
		"version", "go", "database")
	m.Gauge("process_start_time_seconds", "When the server started, in seconds since 1970.",
		func(tell func(float64, ...string)) { tell(float64(d.started.UnixMilli()) / 1000) })
	m.Gauge("tandem_ready", "Whether the server can do its work, as /ready says.",
		func(tell func(float64, ...string)) { tell(yes(len(d.look()) == 0)) })
	m.Gauge("tandem_not_ready", "What keeps it from its work, by part.", func(tell func(float64, ...string)) {
		bad := map[string]bool{}
		for _, r := range d.look() {
			bad[r.part] = true
		}
		for _, part := range parts {
			tell(yes(bad[part]), part)
		}
	}, "part")
	w := &d.watch
	w.ops = m.Counter("tandem_operations_total", "Operations that ended, by name and outcome.", "op", "outcome")
	w.seconds = m.Histogram("tandem_operation_seconds", "How long operations took, by class.", buckets, "class")
	w.failures = m.Counter("tandem_http_failures_total", "Requests that were answered with a failure, by its code.", "code")
	w.turns = m.Counter("tandem_turns_total", "Turns of agents that ended, by state.", "state")
	m.Total("tandem_strangers_total", "Requests of callers that nobody knows, which were refused.",
		func(tell func(float64, ...string)) { tell(float64(d.gate.Strangers.All())) })
	m.Gauge("tandem_requests_active", "Requests and streams that are open.",
		func(tell func(float64, ...string)) { tell(float64(d.active.Load())) })
	m.Gauge("tandem_connections", "Connections that are open, by the pool that bounds them.", func(tell func(float64, ...string)) {
		d.pools.each(func(name string, open int, _ int64) { tell(float64(open), name) })
	}, "pool")
	m.Total("tandem_connections_ended_total", "Connections that were closed or turned away to keep a pool's limits.",
		func(tell func(float64, ...string)) {
			d.pools.each(func(name string, _ int, ended int64) { tell(float64(ended), name) })
		}, "pool")
	m.Total("tandem_journal_entries_total", "Entries in the journal.", func(tell func(float64, ...string)) {
		ctx, cancel := context.WithTimeout(context.Background(), writeTime)
		defer cancel()
		if n, err := d.journal.Head(ctx); err == nil {
			tell(float64(n))
		}
	})
	m.Gauge("tandem_disk_free_bytes", "Room on the disk of the data folder.", func(tell func(float64, ...string)) {
		if free, _, _, _ := disk(d.data); free >= 0 {
			tell(float64(free))
		}
	})
	m.Gauge("tandem_disk_free_inodes", "Files that the disk of the data folder has room for.", func(tell func(float64, ...string)) {
		if _, _, files, _ := disk(d.data); files >= 0 {
			tell(float64(files))
		}
	})
	m.Gauge("tandem_database_bytes", "Size of the database's file and its log, on SQLite.", func(tell func(float64, ...string)) {
		var sum int64
		for _, name := range []string{d.db.Path(), d.db.Path() + "-wal"} {
			if st, err := os.Stat(name); err == nil && d.db.Path() != "" {
				sum += st.Size()
			}
		}
		if sum > 0 {
			tell(float64(sum))
		}
	})
	m.Gauge("go_goroutines", "Goroutines.", func(tell func(float64, ...string)) { tell(float64(runtime.NumGoroutine())) })
	m.Gauge("go_memstats_heap_alloc_bytes", "Heap in use.", func(tell func(float64, ...string)) {
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		tell(float64(s.HeapAlloc))
	})
	m.Gauge("process_resident_memory_bytes", "Memory of the process.", func(tell func(float64, ...string)) {
		if n := resident(); n > 0 {
			tell(float64(n))
		}
	})
	m.Gauge("process_open_fds", "Open files of the process.", func(tell func(float64, ...string)) {
		if all, err := os.ReadDir("/proc/self/fd"); err == nil {
			tell(float64(len(all)))
		}
	})
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// resident is the memory of this process where the system tells it as Linux does, else 0.
func resident() int64 {
	data, err := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(data))
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// metricsPage is /metrics: what a scraper reads, where a person opened it.
func (d *Daemon) metricsPage(w http.ResponseWriter, r *http.Request) {
	if d.Settings.Get("metrics") != "open" {
		if err := d.admitScraper(r); err != nil {
			d.web.Fail(w, r, err)
			return
		}
	}
	if d.Settings.Get("metrics") == "off" {
		d.web.Fail(w, r, fault.New(fault.NotFound, "server.metrics", "metrics are off").
			WithNext("a person opens them: tandem settings set metrics token, then tandem up --replace"))
		return
	}
	w.Header().Set("Content-Type", metric.ContentType)
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(30 * time.Second)) //nolint:errcheck // a listener without deadlines has none
	if err := d.watch.metrics.Write(w); err != nil {
		d.Log.Debug("metrics were not read to the end", "err", err)
	}
}
