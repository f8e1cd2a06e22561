package daemon

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

// A clock that is set while the server runs: it is not ready, tells of it, refuses what has ended by either clock, writes none of it
// down and gives nothing to anybody else. Set right again, everything is as before.
func TestAClockThatIsSetWhileItRuns(t *testing.T) {
	by := setting(t)
	k := keptAt(t, "")
	if k.d.db.Clock() != (db.Clock{Sure: true}) && !k.d.db.Clock().Sure {
		t.Fatal("not sure at first")
	}
	put := func(more obj) error {
		in := obj{"key": "lock/deploy", "value": 1}
		for name, v := range more {
			in[name] = v
		}
		_, err := k.do("resource.put", in)
		return err
	}
	if err := put(obj{"if_absent": true, "own": true, "ttl_ms": 3600_000}); err != nil {
		t.Fatal(err)
	}
	by.Store(int64(48 * time.Hour))
	k.ready(http.StatusServiceUnavailable, "")
	if err := put(obj{"if_absent": true, "own": true}); err == nil || !strings.Contains(err.Error(), "the clock of the server was set") {
		t.Errorf("somebody takes it: %v", err)
	}
	k.tells(1)
	out, err := k.d.findingsOp(t.Context(), nothing{})
	if err != nil || len(out.Findings) == 0 || out.Findings[0].Name != "clock" || out.Findings[0].State != "bad" {
		t.Errorf("findings: %+v, %v", out, err)
	}
	by.Store(0)
	k.ready(http.StatusOK, "")
	k.tells(2)
	if err := put(obj{"if_absent": true, "own": true}); err == nil || !strings.Contains(err.Error(), "lock/deploy") {
		t.Errorf("it is held again: %v", err)
	}
}

// The clock went forward and back between starts, and an expired lock, lease, token and ask lived again, and the ask was approved. What
// was refused as ended stays so, whatever the clock says later, and the journal tells why its times run backwards.
func TestWhatHasEndedStaysSo(t *testing.T) {
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			dsn := ""
			if name == "postgres" {
				dsn = testenv.Postgres(t)
			}
			by := setting(t)
			forwardAndBack(t, keptAt(t, dsn), func(d time.Duration) { by.Store(int64(d)) })
		})
	}
}

func forwardAndBack(t *testing.T, k *kept, set func(time.Duration)) {
	k.must("resource.put", obj{"key": "lock/deploy", "value": 1, "if_absent": true, "own": true, "ttl_ms": 3600_000})
	k.must("resource.put", obj{"key": "lock/later", "value": 1, "if_absent": true, "own": true, "ttl_ms": 100 * 3600_000})
	k.must("actor.add", obj{"name": "builder", "kind": "agent"})
	token := k.must("token.new", obj{"actor": "builder", "expires_in_secs": 3600}).(identity.MintOut).Secret
	c, err := k.d.identity.Caller(t.Context(), identity.LocalTenant, "local", op.DoorSocket)
	if err != nil {
		t.Fatal(err)
	}
	_, err = k.d.gate.Invoke(op.WithCaller(t.Context(), c), "setting.set", obj{"key": "hosts", "value": "a.example.org"})
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Pending {
		t.Fatalf("no ask: %v", err)
	}
	ask, digest := f.Data["approval"], ""
	if err := k.d.db.QueryRow(t.Context(), "SELECT digest FROM approval WHERE id = ?", ask).Scan(&digest); err != nil {
		t.Fatal(err)
	}
	if err := k.d.db.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(`INSERT INTO repo_lease (tenant, repo, id, path, workspace, actor, actor_name, until)
			VALUES ('t', 'r', 'l', 'p', 'w', 'a', 'a', ?)`,
			tx.Now().Add(time.Hour))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, by := range []time.Duration{48 * time.Hour, 0} {
		k.stop()
		set(by)
		k.start()
		if _, err := k.do("resource.get", obj{"key": "lock/deploy"}); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: the lock: %v", by, err)
		}
		if _, err := k.do("resource.get", obj{"key": "lock/later"}); err != nil {
			t.Errorf("%s: a lock whose time is not over: %v", by, err)
		}
		header := map[string]string{"Authorization": "Bearer " + token}
		if status, _ := send(t, http.MethodGet, "http://"+k.d.listens[0]+"/status", nil, header); status != http.StatusUnauthorized {
			t.Errorf("%s: the token: %d", by, status)
		}
		_, err := k.do("approval.decide", obj{"id": ask, "decision": "approve", "digest": digest})
		if err == nil || !strings.Contains(err.Error(), "expired") {
			t.Errorf("%s: the ask: %v", by, err)
		}
		var live int
		err = k.d.db.QueryRow(t.Context(), "SELECT count(*) FROM repo_lease WHERE until > ?", k.d.db.Now()).Scan(&live)
		if err != nil || live != 0 {
			t.Errorf("%s: the lease: %d, %v", by, live, err)
		}
	}
	var told string
	err = k.d.db.QueryRow(t.Context(), "SELECT payload FROM journal_event WHERE type = 'server.clock'").Scan(&told)
	if err != nil || !strings.Contains(told, "set back") {
		t.Errorf("the journal tells %s, %v", told, err)
	}
}
