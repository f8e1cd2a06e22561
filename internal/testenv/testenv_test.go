package testenv

import (
	"database/sql"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestPostgresGivesEachTestItsOwnDatabase(t *testing.T) {
	for range 2 {
		d, err := sql.Open("pgx", Postgres(t))
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if _, err := d.Exec("CREATE TABLE mine (n INT)"); err != nil {
			t.Errorf("the second database is not empty: %v", err)
		}
		var fsync string
		if err := d.QueryRow("SHOW fsync").Scan(&fsync); err != nil || fsync != "on" {
			t.Errorf("fsync is %q (%v): durability could not be tested", fsync, err)
		}
	}
}

func TestCutPostgresBreaksConnections(t *testing.T) {
	dsn := Postgres(t)
	d, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	tx, err := d.Begin()
	if err != nil {
		t.Fatal(err)
	}
	CutPostgres(t, dsn)
	if _, err := tx.Exec("SELECT 1"); err == nil {
		t.Error("the transaction outlived its connection")
	}
	if err := d.Ping(); err != nil {
		t.Errorf("a new connection: %v", err)
	}
}

func TestEnvHasAnEmptyHomeAndNoSecrets(t *testing.T) {
	t.Setenv("TANDEM_API_TOKEN", "secret")
	env := Env(t, "X=1")
	all := strings.Join(env, "\n")
	if strings.Contains(all, "secret") || !strings.Contains(all, "X=1") {
		t.Errorf("environment: %s", all)
	}
	home := strings.TrimPrefix(env[0], "HOME=")
	entries, err := os.ReadDir(home)
	if err != nil || len(entries) != 0 || len(home) > 40 {
		t.Errorf("home %s holds %v (%v)", home, entries, err)
	}
}

func TestPortIsFree(t *testing.T) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(Port(t))))
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

func TestToolsAreThere(t *testing.T) {
	for _, name := range []string{"jj", "claude", "codex", "opencode", "python", "schemathesis", "tmux", "bwrap",
		"chromium", "ip", "soffice"} {
		if path := Tool(t, name); !filepath.IsAbs(path) {
			t.Errorf("%s: %q is not a whole path", name, path)
		}
	}
}

// A program that goes on after its terminal, and one that it left behind, write until they are ended; then the folder stays empty.
func TestEndTerminalsLeavesNobodyBehind(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it looks at /proc")
	}
	dir := Dir(t)
	writes := `trap "" HUP; while :; do : > "$0/$1$$"; rm "$0/$1$$"; sleep 0.01; done`
	left := `setsid sh -c '` + writes + `' "$0" child & ` + `trap "sleep 0.3; exit" HUP; : > "$0/ready"; while :; do sleep 0.05; done`
	sock := filepath.Join(Dir(t), "s")
	tmux := exec.Command(Tool(t, "tmux"), "-S", sock, "-f", "/dev/null", "new-session", "-d", "sh", "-c", left, dir)
	if out, err := tmux.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	Eventually(t, "it runs", time.Minute, func() bool { _, err := os.Stat(filepath.Join(dir, "ready")); return err == nil })
	EndTerminals(sock)
	if out, _ := exec.Command("ps", "-eo", "pid,args").Output(); strings.Contains(string(out), dir) {
		t.Errorf("somebody still runs:\n%s", out)
	}
}

func TestWithinSaysWhetherItCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, asked := time.Now(), 0
		if !Within(time.Second, func() bool { asked++; return asked == 3 }) || time.Since(began) > 10*time.Millisecond {
			t.Errorf("what came at the third look took %s", time.Since(began))
		}
		began = time.Now()
		if Within(time.Second, func() bool { return false }) || time.Since(began) < time.Second || time.Since(began) > 2*time.Second {
			t.Errorf("what never comes was waited for %s", time.Since(began))
		}
		began = time.Now()
		if !Within(0, func() bool { return true }) || time.Since(began) != 0 {
			t.Error("what is there already was waited for")
		}
	})
}
