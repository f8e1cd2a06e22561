package daemon

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/testenv"
)

// ready asks as a load balancer does, until the answer is of that status.
func (k *kept) ready(status int, token string) string {
	k.t.Helper()
	header := map[string]string{}
	if token != "" {
		header["Authorization"] = "Bearer " + token
	}
	got, body := 0, ""
	says := func() bool {
		select {
		case err := <-k.ended:
			k.t.Fatalf("it ended: %v", err)
		default:
		}
		got, body = send(k.t, http.MethodGet, "http://"+k.d.listens[0]+"/ready", nil, header)
		return got == status
	}
	if !testenv.Within(2*time.Minute, says) {
		k.t.Fatalf("/ready still says %d %s", got, body)
	}
	return body
}

// Health was a constant: a server without a disk or a database was healthy. Readiness says no when it cannot work, and why only to
// whoever is known.
func TestReadyToldAndUntold(t *testing.T) {
	k := keptAt(t, "")
	if body := k.ready(http.StatusOK, ""); !strings.Contains(body, `"ready":true`) {
		t.Errorf("at first: %s", body)
	}
	key := filepath.Join(k.settings.Data(), "space.key")
	if err := os.Rename(key, key+".away"); err != nil {
		t.Fatal(err)
	}
	if body := k.ready(http.StatusServiceUnavailable, ""); strings.Contains(body, "space.key") {
		t.Errorf("a stranger is told %s", body)
	}
	token, err := k.d.sealToken(t.Context(), "token/api", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if body := k.ready(http.StatusServiceUnavailable, token); !strings.Contains(body, "space.key is missing") {
		t.Errorf("whoever is known is told %s", body)
	}
	if status, body := send(t, http.MethodGet, "http://"+k.d.listens[0]+"/health", nil, nil); status != http.StatusOK ||
		!strings.Contains(body, `"healthy":true`) {
		t.Errorf("it is alive all the same: %d %s", status, body)
	}
	if err := os.Rename(key+".away", key); err != nil {
		t.Fatal(err)
	}
	k.ready(http.StatusOK, "")
}

// A PostgreSQL that takes no changes any more, as a primary that became a standby, was an internal error for callers and healthy for
// load balancers.
func TestNotReadyWhilePostgresTakesNoChanges(t *testing.T) {
	dsn := testenv.Postgres(t)
	k := keptAt(t, dsn)
	k.ready(http.StatusOK, "")
	set := func(value string) {
		t.Helper()
		d, err := db.Open(t.Context(), dsn+"&default_transaction_read_only=off", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if err := d.Write(t.Context(), func(tx *db.Tx) error {
			var name string
			if err := tx.QueryRow("SELECT current_database()").Scan(&name); err != nil {
				return err
			}
			_, err := tx.Exec("ALTER DATABASE " + name + " SET default_transaction_read_only = " + value)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		testenv.CutPostgres(t, dsn)
	}
	set("on")
	k.ready(http.StatusServiceUnavailable, "")
	var err error // connections that were cut are told of first
	if !testenv.Within(time.Minute, func() bool {
		_, err = k.do("resource.put", obj{"key": "a", "value": 1})
		return err != nil && strings.Contains(err.Error(), "PostgreSQL takes no changes")
	}) {
		t.Errorf("a caller is told: %v", err)
	}
	set("off")
	k.ready(http.StatusOK, "")
}
