package daemon

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/gate"
	"tandem/internal/metric/metrictest"
	"tandem/internal/server/health"
)

// The page of metrics is what Prometheus reads, after everything that fills it, and holds no word of a tenant's.
func TestMetricsAreReadByPrometheus(t *testing.T) {
	d, url := walkedWith(t, map[string]string{"metrics": "open"})
	header := map[string]string{"Authorization": "Bearer " + walkAPI}
	send(t, http.MethodPut, url+"/resource/tenant/word-of-a-tenant", []byte(`{"value":"word-of-a-tenant"}`), header)
	send(t, http.MethodGet, url+"/resource/word-of-a-tenant", nil, header)
	send(t, http.MethodGet, url+"/status", nil, nil) // a stranger
	for range 2 {                                    // the second scrape counts what the first one did
		status, body := send(t, http.MethodGet, url+"/metrics", nil, nil)
		if status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
		got, err := metrictest.Parse(body)
		if err != nil {
			t.Fatalf("%v in\n%s", err, body)
		}
		for line, least := range map[string]float64{
			"tandem_ready": 1, "tandem_strangers_total": 1, `tandem_operations_total{op="resource.put",outcome="ok"}`: 1,
			`tandem_not_ready{part="disk"}`:                 0,
			`tandem_operation_seconds_count{class="state"}`: 1, "tandem_journal_entries_total": 1, "go_goroutines": 1,
			`tandem_http_failures_total{code="unauthenticated"}`: 1,
		} {
			if v, ok := got[line]; !ok || v < least {
				t.Errorf("%s is %v (there: %v), less than %v", line, v, ok, least)
			}
		}
		if strings.Contains(body, "word-of-a-tenant") || strings.Contains(body, d.data) {
			t.Errorf("the page tells of a tenant:\n%s", body)
		}
	}
}

// Refusals are one line a minute, with how many there were: a line each would let a stranger fill the log, and none hid them all.
func TestRefusalsAreALineAMinute(t *testing.T) {
	d, url := walkedWith(t, nil)
	for range 5 {
		send(t, http.MethodGet, url+"/status", nil, nil)
	}
	log := func() string {
		data, err := os.ReadFile(filepath.Join(d.data, "tandem.log"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	d.health.TellRefused(d.gate.Strangers.All(), time.Now())
	if strings.Contains(log(), `"msg":"refused"`) {
		t.Error("told before the minute is over")
	}
	d.health.TellRefused(d.gate.Strangers.All(), time.Now().Add(time.Minute))
	if !strings.Contains(log(), `"msg":"refused","strangers":5,"denied":0,"too_many":0`) {
		t.Errorf("not told:\n%s", log())
	}
	d.health.TellRefused(d.gate.Strangers.All(), time.Now().Add(2*time.Minute))
	if n := strings.Count(log(), `"msg":"refused"`); n != 1 {
		t.Errorf("%d lines, and nothing was refused in the second minute", n)
	}
}

// What takes longer than it should is a line, and what waits on purpose is not.
func TestSlowOperationsAreNamed(t *testing.T) {
	d, _ := walkedWith(t, map[string]string{"slow_ms": "1"})
	for _, name := range health.LeaveALine() {
		if d.gate.Table().Get(name) == nil {
			t.Errorf("there is no operation %s any more", name)
		}
	}
	for _, c := range []struct {
		op   string
		took time.Duration
		want bool
	}{{"resource.put", 2 * time.Millisecond, true}, {"resource.put", 0, false}, {"approval.wait", time.Hour, false},
		{"session.send", time.Hour, false},
		{"repo.gc", 5 * time.Millisecond, false}, {"repo.gc", 11 * time.Millisecond, true}} {
		if got := d.health.Slow(gate.Seen{Op: d.gate.Table().Get(c.op), Took: c.took}); got != c.want {
			t.Errorf("%s after %s: %v", c.op, c.took, got)
		}
	}
}
