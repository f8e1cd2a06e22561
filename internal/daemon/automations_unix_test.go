//go:build unix

package daemon

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"tandem/internal/automation/wire"
	"tandem/internal/journal"
	owners "tandem/internal/owner"
	"tandem/internal/testenv"
)

const tide = `
name = "tide"
[limits]
runs = 50
[[trigger]]
id = "second"
schedule = "every 1s"
zone = "UTC"
misfire = "once"
[[node]]
id = "rise"
[node.operation]
name = "resource.put"
input = { key = "tide/rise", value = "up" }
[[node]]
id = "stand"
after = ["rise"]
[node.wait]
for = "2s"
[[node]]
id = "fall"
after = ["stand"]
[node.operation]
name = "resource.put"
input = { key = "tide/fall", value = "down" }
`

// Two servers on one PostgreSQL, an automation that is due every second, and the server that does its work killed: a moment begins one
// run whoever lives, the runs of the dead one are taken over by the other after its lease, and no step is done twice.
func TestTwoServersDoAnAutomationOnce(t *testing.T) {
	if os.Getenv("CLAIM_DATA") != "" {
		beElsewhere(t)
		return
	}
	t.Setenv("CLAIM_CLUSTER", "team")
	dsn, dir := testenv.Postgres(t), testenv.Dir(t)
	first, second := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	a := onFolder(t, first, dsn)
	a.lease = 3 * time.Second
	a.start() // its keys
	if err := a.stop(); err != nil {
		t.Fatal(err)
	}
	copyKeys(t, first, second)
	at(t, second, "hom_b")
	b := startElsewhere(t, second, dsn, "CLAIM_CLUSTER=team", "CLAIM_LEASE=3s") // the older one does what is due
	a.start()
	t.Cleanup(func() { a.stop() }) //nolint:errcheck // what it says is looked at below
	if living, err := owners.Living(t.Context(), a.d.db); err != nil || len(living) != 2 {
		t.Fatalf("%v live, %v", living, err)
	}
	stored := a.must("automation.add", wire.AddIn{Text: tide}).(*wire.Automation)
	a.must("automation.on", wire.OnIn{Name: "tide", Digest: stored.Latest})
	runs := func() []*wire.Run {
		return a.must("automation.runs", wire.RunsIn{Name: "tide", Limit: 500}).(wire.RunsOut).Runs
	}
	var open map[string]bool
	testenv.Eventually(t, "runs are under way", time.Minute, func() bool {
		open = map[string]bool{}
		for _, r := range runs() {
			if r.EndedAt.IsZero() {
				open[r.ID] = true
			}
		}
		return len(runs()) > 3 && len(open) > 0
	})
	if err := syscall.Kill(b.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-b.ended
	killed := time.Now()
	testenv.Eventually(t, "those of the dead one come to their end", 2*time.Minute, func() bool {
		for _, r := range runs() {
			if open[r.ID] && r.Status != "completed" {
				return false
			}
		}
		return true
	})
	t.Logf("%d runs of the dead server were completed %s after it", len(open), time.Since(killed).Round(time.Second))
	before := len(runs())
	testenv.Eventually(t, "the one that lives begins new ones", 2*time.Minute, func() bool { return len(runs()) > before })
	a.must("automation.off", wire.NameIn{Name: "tide"})

	testenv.Eventually(t, "what is under way comes to its end", time.Minute, func() bool {
		var n int
		err := a.d.db.QueryRow(t.Context(), "SELECT count(*) FROM automation_step WHERE state = 'running'").Scan(&n)
		return err == nil && n == 0
	})
	ended := 0
	for _, r := range runs() {
		for _, s := range a.must("automation.trace", wire.RunIn{ID: r.ID}).(*wire.Run).Steps {
			if s.Node == "fall" && s.State == "done" {
				ended++
			}
		}
	}
	var falls, twice int
	log := a.must("audit.log", journal.LogIn{Type: "resource.put", Resource: "resource:/tide/fall", Limit: 1000}).(journal.LogOut)
	for _, e := range log.Entries {
		if e.Phase == journal.Done {
			falls++
		}
	}
	if falls != ended {
		t.Errorf("the last step of %d runs is done, and was done %d times", ended, falls)
	}
	if err := a.d.db.QueryRow(t.Context(), `SELECT count(*) FROM (SELECT due_at FROM automation_tick WHERE name = 'tide' AND run <> ''
		GROUP BY trigger_id, due_at HAVING count(*) > 1) d`).Scan(&twice); err != nil || twice != 0 {
		t.Errorf("%d moments began more than one run, %v", twice, err)
	}
}
