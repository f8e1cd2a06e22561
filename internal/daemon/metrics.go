package daemon

import (
	"context"
	"net/http"
	"time"

	"tandem/internal/fault"
	"tandem/internal/metric"
)

// measure makes the metrics. Labels are words of the program: no name, path, address or text of anybody's.
func (d *Daemon) measure() {
	d.health.Measure(context.Background(), d.Version, d.started)
	m := d.health.Metrics()
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
	d.measureSchedules()
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
	if err := d.health.Metrics().Write(w); err != nil {
		d.Log.Debug("metrics were not read to the end", "err", err)
	}
}
