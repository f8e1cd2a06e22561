package health

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// buckets are seconds: most operations take a millisecond, some a minute.
var buckets = []float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100}

// Measure adds what the server and its process are like. Labels are words of the program: no name, path, address or text of anybody's.
func (h *Health) Measure(ctx context.Context, version string, started time.Time) {
	m := h.Metrics()
	m.Gauge("tandem_build_info", "The program that runs.",
		func(tell func(float64, ...string)) { tell(1, version, runtime.Version(), h.house.DB.Name()) },
		"version", "go", "database")
	m.Gauge("process_start_time_seconds", "When the server started, in seconds since 1970.",
		func(tell func(float64, ...string)) { tell(float64(started.UnixMilli()) / 1000) })
	m.Gauge("tandem_ready", "Whether the server can do its work, as /ready says.",
		func(tell func(float64, ...string)) { tell(yes(len(h.Look(ctx)) == 0)) })
	m.Gauge("tandem_not_ready", "What keeps it from its work, by part.", func(tell func(float64, ...string)) {
		bad := map[string]bool{}
		for _, r := range h.Look(ctx) {
			bad[r.Part] = true
		}
		for _, part := range parts {
			tell(yes(bad[part]), part)
		}
	}, "part")
	m.Total("tandem_journal_entries_total", "Entries in the journal.", func(tell func(float64, ...string)) {
		ctx, cancel := context.WithTimeout(ctx, Patience)
		defer cancel()
		if n, err := h.house.Journal.Head(ctx); err == nil {
			tell(float64(n))
		}
	})
	m.Gauge("tandem_disk_free_bytes", "Room on the disk of the data folder.", func(tell func(float64, ...string)) {
		if free, _, _, _ := disk(h.house.Data); free >= 0 {
			tell(float64(free))
		}
	})
	m.Gauge("tandem_disk_free_inodes", "Files that the disk of the data folder has room for.", func(tell func(float64, ...string)) {
		if _, _, files, _ := disk(h.house.Data); files >= 0 {
			tell(float64(files))
		}
	})
	m.Gauge("tandem_database_bytes", "Size of the database's file and its log, on SQLite.", func(tell func(float64, ...string)) {
		var sum int64
		for _, name := range []string{h.house.DB.Path(), h.house.DB.Path() + "-wal"} {
			if st, err := os.Stat(name); err == nil && h.house.DB.Path() != "" {
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
