package proof

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"tandem/internal/testenv"
)

var ackedKey = regexp.MustCompile(`"key":"(power/[0-9-]+)"`)

// Power fails at any point: the server's writes and syncs are recorded while it
// works, and replayed cut at every point, with any part of what was not synced
// lost. Every write that a caller was told of is there, and the journal still
// verifies.
func TestPowerLoss(t *testing.T) {
	random := testenv.Random(t)
	s := newServer(t)
	trace := filepath.Join(s.home, "trace")
	s.wrap = traced(testenv.Tool(t, "strace"), trace)
	s.start()
	var wg sync.WaitGroup
	for caller := range 4 {
		wg.Go(func() {
			for n := range 25 {
				a, err := s.try(context.Background(), s.token, "PUT", fmt.Sprintf("/resource/power/%d-%d", caller, n),
					map[string]any{"value": strings.Repeat("v", 500)})
				if err != nil || a.status/100 != 2 {
					t.Errorf("a write: %s %v", a, err)
				}
			}
		})
	}
	wg.Wait()
	s.kill9()
	f, err := os.Open(trace)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := readTrace(t, f, s.data)
	acks, syncs := 0, 0
	for _, e := range all {
		switch e.kind {
		case "ack":
			acks += len(ackedKey.FindAllSubmatch(e.data, -1))
		case "sync":
			syncs++
		}
	}
	if acks < 90 || syncs < 25 {
		t.Fatalf("the trace shows %d acknowledged writes and %d syncs", acks, syncs)
	}
	// From the point where the tables exist: before that nothing was acknowledged.
	first := 0
	for first < len(all) && all[first].kind != "ack" {
		first++
	}
	cuts := testenv.Rounds(len(all) - first)
	for i := range cuts {
		n := first + i*(len(all)-first)/cuts
		for fate, keep := range fates(random) {
			folder := restore(t, s, afterPowerLoss(all, n, keep))
			if missing := lost(t, folder, all[:n]); missing != "" {
				t.Errorf("power lost behind effect %d of %d, %s on disk: %s", n, len(all), fate, missing)
			}
			if i == cuts-1 || i == cuts/2 {
				again := newServer(t)
				again.data = folder
				again.start()
				again.must("audit", "verify")
				again.stop()
			}
			os.RemoveAll(folder)
		}
	}
	t.Logf("%d effects, %d syncs, %d acknowledged writes, %d cuts", len(all), syncs, acks, cuts)
}

// restore writes a disk's content into a folder of its own, beside the key
// files, which are written once and synced.
func restore(t *testing.T, s *server, disk map[string][]byte) string {
	t.Helper()
	folder := filepath.Join(s.home, fmt.Sprintf("after-%d", time.Now().UnixNano()))
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	keys, err := filepath.Glob(filepath.Join(s.data, "*.key"))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		data, err := os.ReadFile(key)
		if err != nil {
			t.Fatal(err)
		}
		disk[filepath.Base(key)] = data
	}
	for name, data := range disk {
		if strings.HasSuffix(name, "-shm") || strings.HasSuffix(name, ".log") {
			continue // made again
		}
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// lost says what is missing or broken in a database after the effects.
func lost(t *testing.T, folder string, effects []effect) string {
	t.Helper()
	d, err := sql.Open("sqlite", filepath.Join(folder, "tandem.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var whole string
	if err := d.QueryRow("PRAGMA integrity_check").Scan(&whole); err != nil || whole != "ok" {
		return fmt.Sprintf("the database is damaged: %s %v", whole, err)
	}
	for _, e := range effects {
		if e.kind != "ack" {
			continue
		}
		for _, m := range ackedKey.FindAllSubmatch(e.data, -1) {
			var n int
			if err := d.QueryRow("SELECT count(*) FROM resource WHERE key = ?", string(m[1])).Scan(&n); err != nil || n != 1 {
				return fmt.Sprintf("%s was acknowledged and is not there (%v)", m[1], err)
			}
		}
	}
	return ""
}
