package proof

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// host is a machine with a systemd of its own, whose first process is pid.
type host struct {
	t   *testing.T
	pid int
}

func bootHost(t *testing.T) *host {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can boot a systemd")
	}
	boot, err := filepath.Abs("testdata/boot.sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(testenv.Tool(t, "unshare"), "--fork", "--pid", "--mount", "--cgroup", "--uts", "--ipc", "--net", "--kill-child",
		"sh", "-e", boot, testenv.Dir(t), testenv.Tandem(t))
	cmd.Env = testenv.Env(t, "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill() // and with it the first process, and with that all of them
		cmd.Wait()
	})
	h := &host{t: t}
	children := fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid)
	if !testenv.Within(time.Minute, func() bool {
		text, _ := os.ReadFile(children)
		h.pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", h.pid))
		return strings.TrimSpace(string(comm)) == "systemd"
	}) {
		t.Fatalf("systemd does not start: %s", said.String())
	}
	if !testenv.Within(time.Minute, func() bool { return strings.Contains(h.try("", "systemctl is-active basic.target"), "active") }) {
		t.Fatalf("systemd does not come up: %s", h.try("", "systemctl list-jobs; systemctl --failed"))
	}
	return h
}

// try runs a line as an account of the machine (root when it is ""), and gives what it printed.
func (h *host) try(account, line string) string {
	args := []string{"-t", strconv.Itoa(h.pid), "-m", "-p", "-u", "-i", "-n", "-C", "--", "env", "-i", "HOME=/root",
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	if account != "" {
		line = fmt.Sprintf("cd /tmp; exec runuser -u %s -- env HOME=$(getent passwd %[1]s | cut -d: -f6) "+
			"XDG_RUNTIME_DIR=/run/user/$(id -u %[1]s) sh -c %s", account, "'"+line+"'")
	}
	cmd := exec.Command(testenv.Tool(h.t, "nsenter"), append(args, "timeout", "60", "sh", "-c", line)...)
	cmd.Env = testenv.Env(h.t)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%s(%v)\n", out, err)
	}
	return string(out)
}

// says runs a line until what it prints holds want.
func (h *host) says(account, line, want string) {
	h.t.Helper()
	var got string
	if !testenv.Within(30*time.Second, func() bool { got = h.try(account, line); return strings.Contains(got, want) }) {
		h.t.Fatalf("%s: %s gave, and not %q:\n%s\n%s", account, line, want, got, h.try("", "journalctl --no-pager -n 30"))
	}
}

// A service of the machine, set up by the recipe of docs/operate.md, and one of a user, as it prints them, under a real systemd: they come
// back after a kill, are reloaded and restarted by their manager, leave what runs in terminals alone, and go without their data.
func TestRealSystemd(t *testing.T) {
	h := bootHost(t)
	h.provisioned()
	t.Run("of the machine", func(t *testing.T) {
		h := &host{t, h.pid}
		h.recovered()
		h.service("tandem", "systemctl", "tandem --data /var/lib/tandem")
	})
	h.says("", "tandem service uninstall --system && ls /var/lib/tandem", "tandem.db")
	h.says("", "systemctl is-active tandem", "inactive")

	h.says("", "useradd --create-home dev && echo made", "made")
	h.says("", "loginctl enable-linger dev && echo lingers", "lingers")
	h.says("dev", "systemctl --user is-active basic.target", "active")
	got := h.try("dev", "tandem service install")
	if !strings.Contains(got, "the service is running") || !strings.Contains(got, "it starts with the machine") {
		t.Fatalf("installing the service of a user who lingers gave:\n%s", got)
	}
	t.Run("of a user", func(t *testing.T) {
		h := &host{t, h.pid}
		h.service("dev", "systemctl --user", "tandem")
	})
}

// service puts a service to the test that is installed and runs.
func (h *host) service(account, systemctl, tandem string) {
	t := h.t
	manager := account
	if account == "tandem" {
		manager = ""
	}
	h.says(account, tandem+" status", "tandem is running")
	h.says(account, tandem+" status", systemctl+" restart tandem.service starts it again")
	// What runs in a terminal is a child of tmux, which the server started and which outlives it.
	h.says(manager, systemctl+" show -p KillMode --value tandem", "process")

	first := h.try(manager, systemctl+" show -p MainPID --value tandem")
	h.says(manager, "kill -9 "+strings.TrimSpace(first)+" && echo killed", "killed")
	h.says(manager, systemctl+" show -p NRestarts --value tandem", "1")
	h.says(account, tandem+" status", "tandem is running")
	second := h.try(manager, systemctl+" show -p MainPID --value tandem")
	h.says(manager, systemctl+" reload tandem && echo reloaded", "reloaded")
	h.says(account, tandem+" logs", "reloaded")
	if got := h.try(manager, systemctl+" show -p MainPID --value tandem"); got != second || got == first {
		t.Errorf("it was process %s, after a kill %s, and after a reload %s", first, second, got)
	}
	if got := h.try(account, tandem+" up --replace"); !strings.Contains(got, systemctl+" restart tandem.service") {
		t.Errorf("up --replace of a service says: %s", got)
	}
	h.says(account, tandem+" down", "systemctl")
	h.says(manager, systemctl+" is-active tandem", "inactive")
	h.says(manager, systemctl+" start tandem && echo started", "started")
	h.says(account, tandem+" status", "tandem is running")
}
