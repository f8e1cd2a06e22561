//go:build unix

package testenv

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// keeper makes a cluster and runs PostgreSQL until its standard input ends.
// That happens when the test process ends, however it ends, so nothing is left
// behind, not even after kill -9.
const keeper = `
bin=$1 dir=$2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
"$bin/initdb" -D data -U tandem --auth=trust --encoding=UTF8 --locale=C.UTF-8 --no-sync >log 2>&1 || { cat log >&2; exit 1; }
"$bin/postgres" -D data -k "$dir" -c listen_addresses= -c max_connections=200 -c shared_buffers=32MB >log 2>&1 </dev/null &
pid=$!
cat >/dev/null
kill -QUIT $pid
wait $pid
`

var databases atomic.Int64

// Postgres makes a fresh, empty database in a private cluster and returns its
// address. The cluster starts with the first call in a test process; the
// database is dropped after the test.
func Postgres(t testing.TB) string {
	t.Helper()
	dir, err := cluster()
	if err != nil {
		t.Fatalf("start a private PostgreSQL: %v", err)
	}
	admin, err := sql.Open("pgx", address(dir, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("t%d", databases.Add(1))
	if _, err := admin.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		defer admin.Close()
		if _, err := admin.Exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return address(dir, name)
}

// CutPostgres breaks every connection to the database at dsn, as a network or
// a restarting server would.
func CutPostgres(t testing.TB, dsn string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := sql.Open("pgx", address(u.Query().Get("host"), "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	if _, err := admin.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", u.Path[1:]); err != nil {
		t.Fatal(err)
	}
}

// AsRole makes a role that is no superuser, with options such as "CONNECTION LIMIT 3", and returns its name and its address of the
// database at dsn. It may do nothing there yet.
func AsRole(t testing.TB, dsn, options string) (role, as string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	role = fmt.Sprintf("r%d", databases.Add(1))
	if _, err := admin.Exec("CREATE ROLE " + role + " LOGIN " + options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		defer admin.Close()
		if _, err := admin.Exec("DROP OWNED BY " + role + "; DROP ROLE " + role); err != nil {
			t.Errorf("drop the test's role: %v", err)
		}
	})
	u.User = url.User(role)
	return role, u.String()
}

func address(dir, name string) string {
	return (&url.URL{Scheme: "postgres", User: url.User("tandem"), Path: "/" + name, RawQuery: url.Values{"host": {dir}}.Encode()}).String()
}

// cluster starts PostgreSQL once in this process and returns its folder, which
// holds the socket.
var cluster = sync.OnceValues(func() (string, error) {
	bin, err := postgresPrograms()
	if err != nil {
		return "", err
	}
	// Below /tmp: another user must reach it, and a socket's path is short.
	sweep("/tmp", time.Now())
	dir, err := os.MkdirTemp("/tmp", clusterFolder)
	if err != nil {
		return "", err
	}
	cmd := exec.Command("sh", "-c", keeper, "sh", bin, dir)
	if err := lessThanRoot(cmd, dir); err != nil {
		return "", err
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if _, err := cmd.StdinPipe(); err != nil { // held open as long as this process lives
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	db, err := sql.Open("pgx", address(dir, "postgres"))
	if err != nil {
		return "", err
	}
	defer db.Close()
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		err := db.PingContext(context.Background())
		if err == nil {
			return dir, nil
		}
		select {
		case end := <-ended:
			return "", fmt.Errorf("it ended (%v): %s", end, said.String())
		default:
		}
		if time.Now().After(deadline) {
			return "", fmt.Errorf("it does not answer: %w", err)
		}
	}
})

// lessThanRoot lets a program have a folder, and be nobody of importance in it:
// PostgreSQL and PgBouncer refuse to run as root.
func lessThanRoot(cmd *exec.Cmd, dir string) error {
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/sbin:/usr/bin:/bin", "LC_ALL=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() != 0 {
		return nil
	}
	uid, gid, err := unprivileged()
	if err != nil {
		return err
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: gid}
	return filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(uid), int(gid))
	})
}

// postgresPrograms is the folder of the newest installed PostgreSQL.
func postgresPrograms() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	sort.Slice(found, func(i, j int) bool { return version(found[i]) < version(found[j]) })
	if n := len(found); n > 0 {
		return filepath.Dir(found[n-1]), nil
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	return "", fmt.Errorf("PostgreSQL is missing: run make test-tools")
}

func version(initdb string) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	if err != nil {
		return 0
	}
	return n
}

func unprivileged() (uid, gid uint32, err error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, lookup := user.Lookup(name)
		if lookup != nil {
			err = lookup
			continue
		}
		id, err1 := strconv.ParseUint(u.Uid, 10, 32)
		group, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 == nil && err2 == nil {
			return uint32(id), uint32(group), nil
		}
	}
	return 0, 0, fmt.Errorf("no unprivileged user to run PostgreSQL as: %w", err)
}
