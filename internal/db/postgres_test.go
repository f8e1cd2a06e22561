package db

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"tandem/internal/fault"
	"tandem/internal/testenv"
)

// at adds an option to an address.
func at(dsn, name, value string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		panic(err)
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// next is what an error says to do.
func next(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return ""
	}
	return f.Next
}

// run does as the owner of the cluster would.
func run(t *testing.T, dsn string, statements ...string) {
	t.Helper()
	d, err := Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, q := range statements {
		if err := d.Write(t.Context(), func(tx *Tx) error { _, err := tx.Exec(q); return err }); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// PgBouncer in transaction mode gave each statement another connection: "internal error" at the start, and a quarter of all changes
// failed. In session mode it always worked; statement mode never can.
func TestPgBouncersModes(t *testing.T) {
	for _, mode := range []string{"session", "transaction"} {
		t.Run(mode, func(t *testing.T) {
			d := open(t, testenv.PgBouncer(t, testenv.Postgres(t), mode))
			var wg sync.WaitGroup
			for i := range 200 {
				wg.Go(func() {
					if err := insert(t.Context(), d, fmt.Sprint(i)); err != nil {
						t.Error(err)
					}
					count(t, d)
				})
			}
			wg.Wait()
			if n := count(t, d); n != 200 {
				t.Errorf("%d rows of 200", n)
			}
		})
	}
	t.Run("statement", func(t *testing.T) {
		_, err := Open(t.Context(), testenv.PgBouncer(t, testenv.Postgres(t), "statement"), nil)
		if fault.KindOf(err) != fault.Unavailable || !strings.Contains(fmt.Sprint(err), "statement mode") {
			t.Errorf("it is said: %v", err)
		}
	})
}

// PgBouncer knows few parameters of an address; which one it does not take is in its answer.
func TestPgBouncerRefusesAParameter(t *testing.T) {
	_, err := Open(t.Context(), at(testenv.PgBouncer(t, testenv.Postgres(t), "transaction"), "statement_timeout", "5000"), nil)
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(next(err), "ignore_startup_parameters") {
		t.Errorf("it is said: %v (%s)", err, next(err))
	}
}

// A role that only works with tables which another one made: the start asked for CREATE although everything was there.
func TestARoleWithoutCreate(t *testing.T) {
	rooms := func(steps int) Migrations {
		files := fstest.MapFS{"schema/0001_thing.sql": {Data: []byte("CREATE TABLE thing (key TEXT PRIMARY KEY, " +
			"n BIGINT NOT NULL, body BLOB);\n")}}
		if steps > 1 {
			files["schema/0002_more.sql"] = &fstest.MapFile{Data: []byte("ALTER TABLE thing ADD COLUMN more TEXT;\n")}
		}
		return Migrations{"thing", files}
	}
	owner := testenv.Postgres(t)
	name, dsn := testenv.AsRole(t, owner, "")
	run(t, owner, "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	d, err := Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Migrate(t.Context(), rooms(1)); fault.KindOf(err) != fault.Unavailable || !strings.Contains(next(err), "server migrate") {
		t.Errorf("before the tables are made: %v (%s)", err, next(err))
	}
	made, err := Open(t.Context(), owner, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	if _, err := made.Migrate(t.Context(), rooms(1)); err != nil {
		t.Fatal(err)
	}
	if err := made.Allow(t.Context(), name, rooms(1)); err != nil {
		t.Fatal(err)
	}
	if err := made.Allow(t.Context(), "nobody-known", rooms(1)); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a role that is not there: %v", err)
	}
	if _, err := d.Migrate(t.Context(), rooms(1)); err != nil {
		t.Errorf("with nothing to do: %v", err)
	}
	if steps, empty, err := d.Behind(t.Context(), rooms(2)); steps != 1 || empty || err != nil {
		t.Errorf("behind by %d, empty %v: %v", steps, empty, err)
	}
	if err := insert(t.Context(), d, "a"); err != nil {
		t.Errorf("it works with the tables: %v", err)
	}
	if _, err := d.Migrate(t.Context(), rooms(2)); !strings.Contains(fmt.Sprint(err), "older than this program") ||
		!strings.Contains(next(err), "tandem server migrate --database") {
		t.Errorf("with something to do: %v (%s)", err, next(err))
	}
}

// A role with fewer connections than we would open: callers wait for one, and none fails.
func TestFewConnections(t *testing.T) {
	owner := testenv.Postgres(t)
	name, dsn := testenv.AsRole(t, owner, "CONNECTION LIMIT 3")
	run(t, owner, "GRANT CREATE ON SCHEMA public TO "+name)
	d := open(t, dsn)
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			if err := insert(t.Context(), d, fmt.Sprint(i)); err != nil {
				t.Error(err)
			}
			if err := d.Read(t.Context(), func(*Tx) error { return nil }); err != nil {
				t.Error(err)
			}
			count(t, d)
		})
	}
	wg.Wait()
	if n := count(t, d); n != 60 {
		t.Errorf("%d rows of 60", n)
	}
	if d := open(t, at(owner, "pool_max_conns", "2")); d.pool.Stats().MaxOpenConnections != 2 {
		t.Errorf("the address says 2, and %d are opened", d.pool.Stats().MaxOpenConnections)
	}
}

// Short time-outs of a role end what takes long, by name; what reads or writes everything may take its time.
func TestTimeOuts(t *testing.T) {
	d := open(t, at(at(testenv.Postgres(t), "statement_timeout", "200"), "idle_in_transaction_session_timeout", "200"))
	err := d.Write(t.Context(), func(tx *Tx) error { _, err := tx.Exec("SELECT pg_sleep(5)"); return err })
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(fmt.Sprint(err), "statement_timeout") {
		t.Errorf("a long statement: %v", err)
	}
	err = d.Read(t.Context(), func(tx *Tx) error {
		if err := tx.Unhurried(); err != nil {
			return err
		}
		testenv.Eventually(t, "idle for longer than a transaction may be", 10*time.Second, func() bool {
			var long bool
			err := d.QueryRow(t.Context(), "SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() AND "+
				"state = 'idle in transaction' AND clock_timestamp() - state_change > interval '400 ms'").Scan(&long)
			return err == nil && long
		})
		_, err := tx.Exec("SELECT pg_sleep(0.4)")
		return err
	})
	if err != nil {
		t.Errorf("an unhurried one: %v", err)
	}
	if err := insert(t.Context(), d, "after"); err != nil {
		t.Error(err)
	}
}

// What an address says of TLS holds, and what is wrong with it is said.
func TestTLS(t *testing.T) {
	dsn, ca := testenv.PgBouncerTLS(t, testenv.Postgres(t))
	d := open(t, at(at(dsn, "sslmode", "verify-full"), "sslrootcert", ca))
	if err := insert(t.Context(), d, "a"); err != nil {
		t.Error(err)
	}
	_, other := testenv.PgBouncerTLS(t, testenv.Postgres(t))
	full := at(at(dsn, "sslmode", "verify-full"), "sslrootcert", ca)
	for name, c := range map[string]struct{ dsn, said string }{
		"another authority": {at(at(dsn, "sslmode", "verify-full"), "sslrootcert", other), "certificate"},
		"another name":      {strings.Replace(full, "127.0.0.1", "localhost", 1), "certificate"},
		"none":              {at(dsn, "sslmode", "disable"), "refused the connection"},
		"no such mode":      {at(dsn, "sslmode", "verify-ful"), "sslmode"},
	} {
		d, err := Open(t.Context(), c.dsn, nil)
		if err == nil {
			d.Close()
		}
		if k := fault.KindOf(err); k != fault.Unavailable && k != fault.Invalid || !strings.Contains(fmt.Sprint(err), c.said) || next(err) == "" {
			t.Errorf("%s: %v (%s)", name, err, next(err))
		}
	}
}

// Where the server asks its clients for certificates, sslcert and sslkey of the address are shown, and nobody without one comes in.
func TestTLSWithACertificate(t *testing.T) {
	dsn, folder := testenv.PgBouncerCert(t, testenv.Postgres(t))
	full := at(at(dsn, "sslmode", "verify-full"), "sslrootcert", folder+"/cert.pem")
	if err := insert(t.Context(), open(t, full), "a"); err != nil {
		t.Error(err)
	}
	_, other := testenv.PgBouncerCert(t, testenv.Postgres(t))
	for name, dsn := range map[string]string{
		"no certificate":     at(at(full, "sslcert", ""), "sslkey", ""),
		"somebody else's":    at(at(full, "sslcert", other+"/cert.pem"), "sslkey", other+"/key.pem"),
		"a file that is not": at(full, "sslcert", folder+"/nothing.pem"),
	} {
		d, err := Open(t.Context(), dsn, nil)
		if err == nil {
			d.Close()
		}
		if k := fault.KindOf(err); k != fault.Unavailable && k != fault.Invalid || next(err) == "" {
			t.Errorf("%s: %v (%s)", name, err, next(err))
		}
	}
}

// What cannot work is refused before anything is written, with its reason.
func TestAddressesThatAreRefused(t *testing.T) {
	dsn := testenv.Postgres(t)
	latin := strings.TrimPrefix(strings.Split(dsn, "?")[0], "postgres://tandem@/") + "latin"
	run := func(q string) {
		t.Helper()
		d, err := Open(t.Context(), dsn, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if _, err := d.pool.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE DATABASE " + latin + " ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
	defer run("DROP DATABASE " + latin + " WITH (FORCE)")
	other, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	other.Path = "/" + latin
	gone := *other
	gone.Path = "/nowhere"
	for name, c := range map[string]struct{ dsn, said string }{
		"another encoding": {other.String(), "LATIN1"},
		"no such database": {gone.String(), "no such database"},
		"a relative file":  {at(dsn, "sslrootcert", "ca.pem"), "absolute path"},
		"no number":        {at(dsn, "pool_max_conns", "many"), "pool_max_conns"},
		"not an address":   {"postgres://tandem:hunter2@[::1/x", "postgres://ROLE"},
	} {
		d, err := Open(t.Context(), c.dsn, nil)
		if err == nil {
			d.Close()
		}
		if k := fault.KindOf(err); k != fault.Unavailable && k != fault.Invalid || !strings.Contains(fmt.Sprint(err), c.said) || next(err) == "" {
			t.Errorf("%s: %v (%s)", name, err, next(err))
		}
		if strings.Contains(fmt.Sprint(err), "hunter2") {
			t.Errorf("%s: the password is shown: %v", name, err)
		}
	}
}
