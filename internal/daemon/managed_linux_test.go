package daemon

import (
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/testenv"
)

// A managed PostgreSQL gives nobody a superuser: the role of the address may use its schema and nothing else. Tables, a copy and a restore
// are made with that.
func TestAManagedPostgres(t *testing.T) {
	owner := testenv.Postgres(t)
	role, dsn := testenv.AsRole(t, owner, "NOSUPERUSER NOCREATEDB NOCREATEROLE")
	as, err := db.Open(t.Context(), owner, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer as.Close()
	typed(t, as, "REVOKE ALL ON SCHEMA public FROM PUBLIC", "GRANT USAGE, CREATE ON SCHEMA public TO "+role)
	k := keptAt(t, dsn)
	k.must("resource.put", obj{"key": "before", "value": 1})
	path := filepath.Join(testenv.Dir(t), "copy")
	k.must("server.backup", BackupIn{Path: path})
	k.must("resource.put", obj{"key": "after", "value": 1})
	k.must("server.restore", RestoreIn{Path: path})
	<-k.ended
	k.start()
	k.must("resource.get", obj{"key": "before"})
	if _, err := k.do("resource.get", obj{"key": "after"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("what came after the copy: %v", err)
	}
	if rep, err := k.d.journal.Verify(t.Context(), nil); err != nil || !rep.OK {
		t.Errorf("the journal: %+v, %v", rep, err)
	}
}

// A standby as the database is refused at the start, by name: every start writes.
func TestAStandbyIsNoDatabase(t *testing.T) {
	p := testenv.NewCluster(t)
	k := keptAt(t, p.Address())
	if err := k.stop(); err != nil {
		t.Fatal(err)
	}
	far := p.Standby()
	k.settings = k.settings.With(map[string]string{"database": far.Address()}, "a test")
	err := (&Daemon{Settings: k.settings, Version: "test", Ready: func(*Daemon) { t.Error("it starts on a standby") }}).Run(t.Context())
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "it is a standby") {
		t.Fatalf("it ended with %v", err)
	}
}
