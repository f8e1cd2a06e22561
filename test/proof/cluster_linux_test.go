package proof

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

	"tandem/internal/testenv"
)

// cluster is a PostgreSQL of a test's own that archives its log.
type cluster struct {
	t    *testing.T
	bin  string
	dir  string // of everything, and of the socket
	data string
	attr *syscall.SysProcAttr
	cmd  *exec.Cmd
}

func newCluster(t *testing.T) *cluster {
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
	p := &cluster{t: t, bin: found[len(found)-1], dir: dir, data: filepath.Join(dir, "data"), attr: &syscall.SysProcAttr{Setpgid: true}}
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
	p.run("initdb", "-D", p.data, "-U", "tandem", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
	p.sh("mkdir wal")
	p.start()
	t.Cleanup(func() { p.stop() })
	return p
}

func (p *cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = p.dir, []string{"PATH=" + p.bin + ":/usr/bin:/bin", "LC_ALL=C.UTF-8"}, p.attr
	return cmd
}

func (p *cluster) run(name string, args ...string) {
	p.t.Helper()
	if out, err := p.command(filepath.Join(p.bin, name), args...).CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

func (p *cluster) sh(line string) {
	p.t.Helper()
	if out, err := p.command("sh", "-ec", line).CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

func (p *cluster) start() {
	p.t.Helper()
	p.cmd = p.command(filepath.Join(p.bin, "postgres"), "-D", p.data, "-k", p.dir, "-c", "listen_addresses=", "-c", "shared_buffers=32MB",
		"-c", "archive_mode=on", "-c", fmt.Sprintf("archive_command=cp %%p %s/wal/%%f", p.dir))
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	// It answers before it has reached the point it is restored to; then it takes no changes.
	testenv.Eventually(p.t, "PostgreSQL takes changes", time.Minute, func() bool {
		return p.command(filepath.Join(p.bin, "psql"), "-h", p.dir, "-U", "tandem", "-d", "postgres", "-qAtc", "CREATE TEMP TABLE x (y int)").
			Run() == nil
	})
}

func (p *cluster) stop() {
	if p.cmd == nil {
		return
	}
	p.cmd.Process.Signal(syscall.SIGINT)
	p.cmd.Wait()
	p.cmd = nil
}

// restore replaces the cluster by its base backup and replays its log up to a named point.
func (p *cluster) restore(point string) {
	p.t.Helper()
	p.stop()
	p.sh(fmt.Sprintf(`rm -rf data.lost; mv data data.lost; cp -a base data; touch data/recovery.signal
cp -n data.lost/pg_wal/0* wal/ 2>/dev/null || true
cat >> data/postgresql.auto.conf <<END
restore_command = 'cp %s/wal/%%f %%p'
recovery_target_name = '%s'
recovery_target_action = 'promote'
END`, p.dir, point))
	p.start()
}
