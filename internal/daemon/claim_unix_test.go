//go:build unix

package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	owners "tandem/internal/owner"
	"tandem/internal/settings"
	"tandem/internal/testenv"
)

// onFolder is a daemon on a data folder whose database is in PostgreSQL.
func onFolder(t *testing.T, data, database string) *kept {
	t.Helper()
	s, err := settings.Load(map[string]string{"data": data, "database": database, "secret_keeper": "file", "listen": "127.0.0.1:0",
		"api_token": walkAPI, "cluster": os.Getenv("CLAIM_CLUSTER")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &kept{t: t, settings: s}
}

// refused starts a daemon that must not start, and returns why.
func (k *kept) refused() error {
	k.t.Helper()
	ctx, cancel := context.WithCancel(k.t.Context())
	defer cancel()
	d := &Daemon{Settings: k.settings, Version: "test", Ready: func(*Daemon) { cancel() }}
	err := d.Run(ctx)
	if err == nil {
		k.t.Fatal("a second daemon started beside the first")
	}
	return err
}

// elsewhere is a daemon in a process of its own, which says where it listens and why it ended.
type elsewhere struct {
	pid   int
	base  string
	said  chan string
	ended chan error
}

func startElsewhere(t *testing.T, data, database string, more ...string) *elsewhere {
	t.Helper()
	cmd := testenv.Again(t, append(more, "CLAIM_DATA="+data, "CLAIM_DATABASE="+database)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	e := &elsewhere{pid: cmd.Process.Pid, said: make(chan string, 100), ended: make(chan error, 1)}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			e.said <- lines.Text()
		}
		close(e.said)
		e.ended <- cmd.Wait()
		close(e.ended)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill() //nolint:errcheck // it may have ended
		<-e.ended
	})
	for line := range e.said {
		if base, ok := strings.CutPrefix(line, "listens "); ok {
			e.base = base
			return e
		}
		t.Log(line)
	}
	t.Fatal("the other daemon did not start")
	return nil
}

func beElsewhere(t *testing.T) {
	k := onFolder(t, os.Getenv("CLAIM_DATA"), os.Getenv("CLAIM_DATABASE"))
	lease, _ := time.ParseDuration(os.Getenv("CLAIM_LEASE"))
	d := &Daemon{Settings: k.settings, Version: "test", Lease: lease, Ready: func(d *Daemon) { fmt.Println("listens http://" + d.listens[0]) }}
	fmt.Println("ended", d.Run(t.Context()))
}

func copyKeys(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(to, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"installation.json", "journal.key", "secret.key", "space.key"} {
		raw, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Two daemons on one PostgreSQL, the second with a copy of the data folder, worked side by side: the second settled the first one's running
// work as left by a crash. It is refused while the first lives, follows at once when that was killed, and after its lease when it
// sleeps; what the sleeper writes when it wakes is refused, and it ends.
func TestASecondServerWaitsForTheFirst(t *testing.T) {
	if os.Getenv("CLAIM_DATA") != "" {
		beElsewhere(t)
		return
	}
	dsn, dir := testenv.Postgres(t), testenv.Dir(t)
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	first := onFolder(t, a, dsn)
	first.start()
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	copyKeys(t, a, b)
	second := onFolder(t, b, dsn)

	alive := startElsewhere(t, a, dsn)
	err := second.refused()
	if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), fmt.Sprintf("PID %d, data in %s, since ", alive.pid, a)) {
		t.Fatalf("beside a living one: %v", err)
	}
	if err := syscall.Kill(alive.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-alive.ended
	second.start() // at once: the process is gone
	if before := second.d.self.Before; len(before) != 1 || before[0].PID != alive.pid {
		t.Errorf("it took over from %v", before)
	}
	if err := second.stop(); err != nil {
		t.Fatal(err)
	}

	asleep := startElsewhere(t, a, dsn)
	if err := syscall.Kill(asleep.pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := second.refused(); fault.KindOf(err) != fault.Conflict {
		t.Fatalf("beside a sleeping one, within its lease: %v", err)
	}
	leaseEnds(t, dsn)
	second.start()
	defer second.stop() //nolint:errcheck // it is looked at below
	second.must("resource.put", obj{"key": "awake", "value": 1})
	if err := syscall.Kill(asleep.pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if status, err := putLate(asleep.base); err == nil && status != http.StatusServiceUnavailable {
		t.Errorf("a write of the one that slept: %d", status)
	}
	why := ""
	for line := range asleep.said {
		if strings.HasPrefix(line, "ended ") {
			why = line
		}
	}
	if !strings.Contains(why, fmt.Sprintf("another server took it over: %s", second.d.self.Server)) {
		t.Errorf("the one that slept ended with %q", why)
	}
	if _, err := second.do("resource.get", obj{"key": "late"}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("what it wrote: %v", err)
	}
}

// leaseEnds is what time does.
func leaseEnds(t *testing.T, dsn string) {
	t.Helper()
	d, err := db.Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	living, err := owners.Living(t.Context(), d)
	if err != nil || len(living) != 1 {
		t.Fatalf("%v live, %v", living, err)
	}
	if err := d.Write(t.Context(), func(tx *db.Tx) error { _, err := tx.Exec("UPDATE server SET lease_until = 1"); return err }); err != nil {
		t.Fatal(err)
	}
}

func putLate(base string) (int, error) {
	body, err := json.Marshal(obj{"key": "late", "value": 1})
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", base+"/op/resource.put", strings.NewReader(string(body)))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+walkAPI)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}
