package confine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The confined program of these tests is this one, which tries what it is told and prints how that ended.
func TestMain(m *testing.M) {
	if Called(os.Args) {
		os.Exit(Main(os.Args, os.Stderr))
	}
	if len(os.Args) == 3 && os.Args[1] == "try" {
		fmt.Println(tries[os.Args[2]]())
		return
	}
	os.Exit(m.Run())
}

func call(nr uintptr, args ...uintptr) string {
	var a [6]uintptr
	copy(a[:], args)
	_, _, errno := syscall.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno == 0 {
		return "done"
	}
	return unix.ErrnoName(errno)
}

var tries = map[string]func() string{
	"io_uring": func() string { var p [120]byte; return call(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&p))) },
	"keyctl":   func() string { return call(unix.SYS_KEYCTL, unix.KEYCTL_GET_KEYRING_ID, 0xfffffffd, 0) },
	"ptrace":   func() string { return call(unix.SYS_PTRACE, unix.PTRACE_TRACEME) },
	"unshare":  func() string { return call(unix.SYS_UNSHARE, unix.CLONE_NEWUSER) },
	"clone":    func() string { return call(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD)) },
	"clone3":   func() string { return call(unix.SYS_CLONE3) },
	"msgctl":   func() string { return call(unix.SYS_MSGCTL, 0, unix.IPC_STAT, 0) },
	"msgrcv":   func() string { return call(unix.SYS_MSGRCV, 0, 0, 0, 0, unix.IPC_NOWAIT) },
	"semctl":   func() string { return call(unix.SYS_SEMCTL, 0, 0, 3) },
	"semop":    func() string { return call(unix.SYS_SEMOP, 0, 0, 1) },
	"idle": func() string {
		var p [1]int32
		return call(unix.SYS_SCHED_SETSCHEDULER, 1, 5, uintptr(unsafe.Pointer(&p)))
	},
	"own idle": func() string {
		var p [1]int32
		return call(unix.SYS_SCHED_SETSCHEDULER, 0, 5, uintptr(unsafe.Pointer(&p)))
	},
	"affinity": func() string {
		m := ^uintptr(0)
		return call(unix.SYS_SCHED_SETAFFINITY, 1, 8, uintptr(unsafe.Pointer(&m)))
	},
	"nice":        func() string { return call(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, 1, 19) },
	"nice user":   func() string { return call(unix.SYS_SETPRIORITY, unix.PRIO_USER, 0, 19) },
	"own nice":    func() string { return call(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, 0, 19) },
	"ioprio":      func() string { return call(unix.SYS_IOPRIO_SET, 1, 1, 3<<13) },
	"shmget":      func() string { return call(unix.SYS_SHMGET, 1234, 4096, unix.IPC_CREAT|0o600) },
	"future":      func() string { return call(newest + 1) },
	"own limit":   func() string { return call(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_CORE) },
	"own session": func() string { return call(unix.SYS_GETSID, 0) },
	"session":     func() string { return call(unix.SYS_GETSID, 1) },
	"limit":       func() string { return call(unix.SYS_PRLIMIT64, 1, unix.RLIMIT_CORE) },
	"tcp":         func() string { return call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM) },
	"udp":         func() string { return call(unix.SYS_SOCKET, unix.AF_INET6, unix.SOCK_DGRAM) },
	"unix":        func() string { return call(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM) },
	"netlink":     func() string { return call(unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW) },
	"vsock":       func() string { return call(unix.SYS_SOCKET, unix.AF_VSOCK, unix.SOCK_STREAM) },
	"pair":        func() string { var p [2]int32; return pair(unix.SOCK_STREAM|unix.SOCK_CLOEXEC, &p) },
	"datagrams":   func() string { var p [2]int32; return pair(unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, &p) },
	"setsid":      func() string { return call(unix.SYS_SETSID) },
	"privilege":   func() string { v, _ := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); return fmt.Sprint(v) },
	"capabilities": func() string {
		var has [2]unix.CapUserData
		if err := unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &has[0]); err != nil {
			return err.Error()
		}
		return fmt.Sprint(has[0].Effective|has[0].Permitted, has[1].Effective|has[1].Permitted)
	},
	"x32": func() string { return call(x32 | unix.SYS_GETPID) },
}

func pair(kind int, p *[2]int32) string {
	return call(unix.SYS_SOCKETPAIR, unix.AF_UNIX, uintptr(kind), 0, uintptr(unsafe.Pointer(p)))
}

// What the filter refuses fails by the filter: each of these ends in another way where nothing confines.
func TestSystemCalls(t *testing.T) {
	if err := Works(); err != nil {
		t.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	see := []string{self, "/proc/sys", "/sys/kernel/mm"}
	for _, libraries := range []string{"/lib", "/lib64", "/usr/lib"} { // with the race detector this program is not static
		if _, err := os.Stat(libraries); err == nil {
			see = append(see, libraries)
		}
	}
	for _, c := range []struct{ name, want, online string }{
		{"io_uring", "EPERM", "EPERM"}, {"keyctl", "EPERM", "EPERM"}, {"ptrace", "EPERM", "EPERM"}, {"unshare", "EPERM", "EPERM"},
		{"clone", "EPERM", "EPERM"}, {"clone3", "ENOSYS", "ENOSYS"},
		{"msgctl", "EPERM", "EPERM"}, {"msgrcv", "EPERM", "EPERM"}, {"semctl", "EPERM", "EPERM"}, {"semop", "EPERM", "EPERM"},
		{"idle", "EPERM", "EPERM"}, {"own idle", "done", "done"},
		{"affinity", "EPERM", "EPERM"}, {"nice", "EPERM", "EPERM"}, {"nice user", "EPERM", "EPERM"}, {"own nice", "done", "done"},
		{"ioprio", "EPERM", "EPERM"},
		{"shmget", "EPERM", "EPERM"}, {"future", "ENOSYS", "ENOSYS"}, {"own limit", "done", "done"}, {"limit", "EPERM", "EPERM"},
		{"own session", "done", "done"}, {"session", "EPERM", "EPERM"},
		{"tcp", "EPERM", "done"}, {"udp", "EPERM", "done"},
		{"unix", "EPERM", "EPERM"}, {"netlink", "EPERM", "EPERM"}, {"vsock", "EPERM", "EPERM"}, {"pair", "done", "done"},
		{"datagrams", "EPERM", "EPERM"}, {"setsid", "EPERM", "EPERM"},
		{"privilege", "1", "1"}, {"capabilities", "0 0", "0 0"},
	} {
		for network, want := range map[bool]string{false: c.want, true: c.online} {
			cmd, err := Command(t.Context(), Plan{Read: see, Network: network, Argv: []string{self, "try", c.name}}, "/", nil)
			if err != nil {
				t.Fatal(err)
			}
			if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != want {
				t.Errorf("%s (network %v): %q, want %s, %v", c.name, network, out, want, err)
			}
		}
	}
	if arch != unix.AUDIT_ARCH_X86_64 {
		return
	}
	cmd, err := Command(t.Context(), Plan{Read: see, Argv: []string{self, "try", "x32"}}, "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGSYS {
		t.Errorf("a call by the third table: %v", err)
	}
}

// What cannot be confined is not started.
func TestFailsClosed(t *testing.T) {
	for _, args := range [][]string{{"tandem", word, "not a plan"}, {"tandem", word, "{}"},
		{"tandem", word, `{"argv":["/nothing/here"],"read":["/usr"]}`}} {
		cmd := exec.Command("/proc/self/exe", args[1:]...)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 126 || !strings.Contains(string(out), "was not started") {
			t.Errorf("%q: %q %v", args[2], out, err)
		}
	}
	if Called([]string{"tandem", word}) || Called([]string{"tandem", "run", "{}"}) {
		t.Error("other words are taken for a plan")
	}
}
