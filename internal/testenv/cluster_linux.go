package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Cluster is a PostgreSQL of a test's own, which can be ended and started, and archives its log.
type Cluster struct {
	t    testing.TB
	bin  string
	Dir  string // of everything, and of the socket
	data string
	attr *syscall.SysProcAttr
	cmd  *exec.Cmd
	when string // the statement that it takes when it has started
}

// NewCluster makes a cluster and starts it; both end with the test.
func NewCluster(t testing.TB) *Cluster {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(found) == 0 {
		t.Fatalf("PostgreSQL is missing: run make test-tools (%v)", err)
	}
	slices.Sort(found)
	dir, err := os.MkdirTemp("/tmp", "tandem-drill") // another user must reach it, and a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := &Cluster{t: t, bin: found[len(found)-1], Dir: dir, data: filepath.Join(dir, "data"), attr: &syscall.SysProcAttr{Setpgid: true},
		when: "CREATE TEMP TABLE x (y int)"}
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		u, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		p.attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	p.Run("initdb", "-D", p.data, "-U", "tandem", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
	p.Sh("mkdir wal")
	p.Start()
	t.Cleanup(func() { p.Stop() })
	return p
}

func (p *Cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = p.Dir, []string{"PATH=" + p.bin + ":/usr/bin:/bin", "LC_ALL=C.UTF-8"}, p.attr
	return cmd
}

// Run runs one of PostgreSQL's programs as the user whom the cluster belongs to.
func (p *Cluster) Run(name string, args ...string) {
	p.t.Helper()
	if out, err := p.command(filepath.Join(p.bin, name), args...).CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// Sh runs a line of the shell as that user, in the cluster's folder.
func (p *Cluster) Sh(line string) {
	p.t.Helper()
	if out, err := p.command("sh", "-ec", line).CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// Start starts it, and waits until it takes changes.
func (p *Cluster) Start() {
	p.t.Helper()
	p.cmd = p.command(filepath.Join(p.bin, "postgres"), "-D", p.data, "-k", p.Dir, "-c", "listen_addresses=", "-c", "shared_buffers=32MB",
		"-c", "archive_mode=on", "-c", fmt.Sprintf("archive_command=cp %%p %s/wal/%%f", p.Dir))
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	// It answers before it has reached the point it is restored to; then it takes no changes.
	Eventually(p.t, "PostgreSQL takes: "+p.when, time.Minute, func() bool {
		return p.command(filepath.Join(p.bin, "psql"), "-h", p.Dir, "-U", "tandem", "-d", "postgres", "-qAtc", p.when).Run() == nil
	})
}

// Stop ends it as a restart does: connections are cut, what is under way is rolled back.
func (p *Cluster) Stop() { p.end(syscall.SIGINT) }

// Crash ends it as a crash does: its next start recovers from its log.
func (p *Cluster) Crash() { p.end(syscall.SIGQUIT) }

func (p *Cluster) end(how os.Signal) {
	if p.cmd == nil {
		return
	}
	p.cmd.Process.Signal(how)
	p.cmd.Wait()
	p.cmd = nil
}

// Restore replaces the cluster by its base backup and replays its log up to a named point.
func (p *Cluster) Restore(point string) {
	p.t.Helper()
	p.Stop()
	p.Sh(fmt.Sprintf(`rm -rf data.lost; mv data data.lost; cp -a base data; touch data/recovery.signal
cp -n data.lost/pg_wal/0* wal/ 2>/dev/null || true
cat >> data/postgresql.auto.conf <<END
restore_command = 'cp %s/wal/%%f %%p'
recovery_target_name = '%s'
recovery_target_action = 'promote'
END`, p.Dir, point))
	p.Start()
}

// SQL runs a statement.
func (p *Cluster) SQL(line string) {
	p.t.Helper()
	p.Run("psql", "-h", p.Dir, "-U", "tandem", "-d", "postgres", "-qAtc", line)
}

// Address is where its database is.
func (p *Cluster) Address() string { return fmt.Sprintf("postgres://tandem@/postgres?host=%s", p.Dir) }

// Standby makes a read-only replica of the cluster, in a folder of its own, and starts it; it ends with the test.
func (p *Cluster) Standby() *Cluster {
	p.t.Helper()
	far := *p
	far.Dir, far.cmd, far.when = filepath.Join(p.Dir, "standby"), nil, "SELECT 1"
	far.data = filepath.Join(far.Dir, "data")
	p.Sh("mkdir -p standby/wal")
	p.Run("pg_basebackup", "-h", p.Dir, "-U", "tandem", "-D", far.data, "-X", "stream", "-R", "--checkpoint=fast", "--no-sync")
	far.Start()
	p.t.Cleanup(far.Stop)
	return &far
}
