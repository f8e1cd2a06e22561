package box_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/testenv"
	"tandem/internal/tool/box"
	"tandem/internal/tool/confine"
)

// Boxes are entered by this very program.
func TestMain(m *testing.M) {
	if confine.Called(os.Args) {
		os.Exit(confine.Main(os.Args, os.Stderr))
	}
	os.Exit(m.Run())
}

// another is a user who is not root.
const another = 12345

func find(t *testing.T, kind box.Kind) *box.Machine {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("sandboxes are Linux's")
	}
	m, err := box.Find(t.Context(), kind)
	if err != nil {
		t.Fatal(err)
	}
	if m.Kind != kind {
		t.Fatalf("%s does not work here (%s): run make test-tools", kind, m.Why)
	}
	return m
}

// project is a folder with a key in it, which both users may read.
func project(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "box")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for name, text := range map[string]string{"a.txt": "hello\n", "sub/.env": "HIDDEN-KEY\n", "keys/one": "HIDDEN-KEY\n"} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	err = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil {
			err = os.Chmod(p, map[bool]os.FileMode{true: 0o777, false: 0o666}[d.IsDir()])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// run runs a line in a box as a user and returns all that it said.
func run(t *testing.T, m *box.Machine, b box.Box, uid uint32, line string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	b.Argv = []string{"/bin/sh", "-c", line}
	b.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG=C.UTF-8"}
	cmd, done, err := m.Command(ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	as(cmd, uid)
	out, _ := cmd.CombinedOutput() // most of these lines fail, and that is the point
	return string(out)
}

// users are those as whom this test can run things.
func users() []uint32 {
	if os.Getuid() == 0 {
		return []uint32{0, another}
	}
	return []uint32{uint32(os.Getuid())}
}

// escapes are ways out of a box for whoever still has a capability in it, or can get one in a namespace of his own. A word in capitals
// says that one leads out.
func escapes(dir string) map[string]string {
	mark := "/usr/tandem-escaped-" + filepath.Base(dir)
	uncover := fmt.Sprintf("umount %[1]s/sub/.env; umount -l %[1]s/keys; cat %[1]s/sub/.env %[1]s/keys/one", dir)
	rewrite := "mount -o remount,rw,bind /usr; touch " + mark + " && rm " + mark + " && echo WROTE-SYSTEM"
	return map[string]string{
		"uncover":             uncover,
		"rewrite":             rewrite,
		"uncover, nested":     "unshare -Urm sh -c '" + uncover + "'",
		"rewrite, nested":     "unshare -Urm sh -c '" + rewrite + "'",
		"uncover, bubblewrap": "bwrap --dev-bind / / --bind " + dir + " /mnt -- sh -c 'cat /mnt/sub/.env /mnt/keys/one; " + uncover + "'",
		"rewrite, bubblewrap": "bwrap --dev-bind / / --bind /usr /mnt -- sh -c 'touch /mnt/" + filepath.Base(mark) + " && echo WROTE-SYSTEM'",
		"move what is over it": fmt.Sprintf("cd %[1]s && mv sub moved; cat moved/.env; mv keys others; cat others/one; "+
			"mv moved sub; mv others keys", dir),
		"bind it elsewhere": fmt.Sprintf("mkdir -p /tmp/x; mount --bind %[1]s /tmp/x; cat /tmp/x/sub/.env; "+
			"unshare -Urm sh -c 'mount --bind %[1]s /tmp/x; cat /tmp/x/sub/.env'", dir),
		"the machine's keys": "head -c 1 /etc/shadow && echo READ-SHADOW; cat /etc/ssh/ssh_host_*_key && echo READ-SHADOW",
		"another root": fmt.Sprintf("for p in /proc/[0-9]*; do cat $p/root%[1]s/sub/.env $p/cwd/sub/.env; done; "+
			"chroot /proc/1/root cat %[1]s/sub/.env", dir),
		"the disk": "mknod /tmp/d b $(stat -c '%Hd %Ld' " + dir + "/a.txt) && head -c 1 /tmp/d > /dev/null && echo READ-DISK",
		"the kernel": "echo $(cat /proc/sys/kernel/core_pattern) > /proc/sys/kernel/core_pattern && echo SET-KERNEL; " +
			"unshare -Urmpf --mount-proc sh -c 'echo $(cat /proc/sys/vm/swappiness) > /proc/sys/vm/swappiness && echo SET-KERNEL'; " +
			"hostname x && hostname | grep -q '^x$' && echo CAN-ADMINISTER; date -s @0 && echo SET-CLOCK",
	}
}

var signs = []string{"HIDDEN-KEY", "WROTE-SYSTEM", "READ-DISK", "SET-KERNEL", "READ-SHADOW", "SET-CLOCK", "CAN-ADMINISTER"}

func out(said string) string {
	for _, s := range signs {
		if strings.Contains(said, s) {
			return s
		}
	}
	return ""
}

// In a box that root's daemon made, `umount .env; cat .env` printed the key that was hidden there, and `mount -o remount,rw,bind /usr`
// made the system writable: bubblewrap leaves root its capabilities unless told otherwise. Every box drops them, for root as for
// others, also that of a program which may nest a sandbox of its own.
func TestNobodyLeavesABox(t *testing.T) {
	m := find(t, box.Bubblewrap)
	dir := project(t)
	for _, uid := range users() {
		for _, nests := range []string{"", "codex"} {
			for _, whole := range []bool{false, true} {
				b := box.Box{Dir: dir, Mounts: box.Write(dir), Masks: []string{filepath.Join(dir, "sub", ".env"), filepath.Join(dir, "keys")},
					Nests: nests, Whole: whole, Network: whole}
				if said := run(t, m, b, uid, "cat a.txt; echo new > b.txt && cat b.txt && rm b.txt; ls sub/.env"); !strings.Contains(said,
					"hello\nnew\n") {
					t.Fatalf("uid %d, nests %q: the box does not work: %s", uid, nests, said)
				}
				for name, line := range escapes(dir) {
					if said := run(t, m, b, uid, line); out(said) != "" {
						t.Errorf("%s, uid %d, nests %q: %s", name, uid, nests, said)
					}
				}
				said := run(t, m, b, uid, "grep -E 'Cap(Inh|Prm|Eff|Amb)|NoNewPrivs' /proc/self/status; unshare -U true && echo NESTED")
				if strings.Count(said, "0000000000000000") != 4 || !strings.Contains(said, "NoNewPrivs:\t1") {
					t.Errorf("uid %d, nests %q: it keeps capabilities: %s", uid, nests, said)
				}
				if strings.Contains(said, "NESTED") != (nests != "") {
					t.Errorf("uid %d, nests %q: user namespaces: %s", uid, nests, said)
				}
				if nests == "" {
					continue
				}
				own := "bwrap --unshare-user --unshare-pid --ro-bind / / --dev /dev --bind " + dir + " " + dir +
					" -- sh -c 'echo in > nested.txt; cat nested.txt; rm nested.txt'"
				if said := run(t, m, b, uid, own); said != "in\n" {
					t.Errorf("uid %d: its own sandbox does not work in there: %s", uid, said)
				}
			}
		}
	}
}

// The same ways lead out of a box as it was: the test above can fail.
func TestEscapesAreEscapes(t *testing.T) {
	find(t, box.Bubblewrap)
	if os.Getuid() != 0 {
		t.Skip("only root keeps capabilities")
	}
	dir := project(t)
	var led []string
	for name, line := range escapes(dir) {
		args := []string{"--die-with-parent", "--unshare-all", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", "/usr", "/usr",
			"--symlink", "usr/bin", "/bin",
			"--symlink", "usr/sbin", "/sbin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--bind", dir, dir, "--ro-bind",
			"/dev/null", dir + "/sub/.env", "--tmpfs", dir + "/keys", "--dir", "/mnt",
			"--", "/bin/sh", "-c", line}
		if said, _ := exec.CommandContext(t.Context(), "bwrap", args...).CombinedOutput(); out(string(said)) != "" {
			led = append(led, name)
		}
	}
	if len(led) < 3 {
		t.Errorf("only %q lead out of an open box", led)
	}
	t.Logf("out of an open box lead %q", led)
}

// Programs outside listen on abstract sockets (a desktop's bus, for one), which belong to the network and to no folder. A box that
// has the network does not reach them where the kernel can tell them apart, and says so where not.
func TestAbstractSocketsStayOutside(t *testing.T) {
	m := find(t, box.Bubblewrap)
	name := fmt.Sprintf("tandem-box-%d", time.Now().UnixNano())
	l, err := net.Listen("unix", "@"+name)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	for _, l := range []net.Listener{l, tcp} {
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				fmt.Fprintln(c, "REACHED")
				c.Close()
			}
		}()
	}
	line := `perl -e 'use Socket; socket(S, PF_UNIX, SOCK_STREAM, 0); connect(S, pack("Sxa*", AF_UNIX, "` + name +
		`")) or die "$!\n"; print <S>'`
	line = strings.Replace(line, `"Sxa*"`, `"S x a*"`, 1)
	own := `perl -e 'use Socket; $a = pack("S x a*", AF_UNIX, "own-$$"); socket(L, PF_UNIX, SOCK_STREAM, 0); bind(L, $a) or die "$!\n"; ` +
		`listen(L, 1); socket(S, PF_UNIX, SOCK_STREAM, 0); connect(S, $a) or die "$!\n"; print "OWN\n"'`
	loop := fmt.Sprintf(`perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(PeerAddr => "%s") or die "$@\n"; print <$s>'`, tcp.Addr())
	for _, nests := range []string{"", "codex"} {
		b := box.Box{Dir: "/", Network: true, Nests: nests}
		for _, uid := range users() {
			if said := run(t, m, b, uid, line); strings.Contains(said, "REACHED") == m.KeepsAbstract() {
				t.Errorf("uid %d: abstract sockets are kept apart: %v; it said %s", uid, m.KeepsAbstract(), said)
			}
			if said := run(t, m, b, uid, own+"; "+loop); said != "OWN\nREACHED\n" { // a program's own, and loopback, go on as before
				t.Errorf("uid %d: %s", uid, said)
			}
		}
	}
	said, _ := exec.CommandContext(t.Context(), "/bin/sh", "-c", line).CombinedOutput()
	if !strings.Contains(string(said), "REACHED") {
		t.Errorf("outside of a box nobody is reached either: %s", said)
	}
}

// A box is refused that cannot be what it says.
func TestBoxesThatCannotBe(t *testing.T) {
	m := find(t, box.Bubblewrap)
	for _, b := range []box.Box{{}, {Argv: []string{"true"}}, {Argv: []string{"/bin/true"}, Nests: "anything"}} {
		if _, _, err := m.Command(t.Context(), b); !fault.Is(err, fault.Internal) {
			t.Errorf("%+v: %v", b, err)
		}
	}
	dir := project(t)
	land := &box.Machine{Kind: box.Landlock}
	for _, b := range []box.Box{{Mounts: box.Read(dir), Masks: []string{dir + "/keys"}}, {Whole: true}, {Terminal: true}, {Nests: "codex"},
		{Mounts: []box.Mount{{From: dir, At: "/x"}}}} {
		b.Argv = []string{"/bin/true"}
		if _, _, err := land.Command(t.Context(), b); !fault.Is(err, fault.Conflict) {
			t.Errorf("Landlock, %+v: %v", b, err)
		}
	}
	if _, _, err := (&box.Machine{Kind: box.None}).Command(t.Context(), box.Box{Argv: []string{"/bin/true"}}); !fault.Is(err, fault.Conflict) {
		t.Errorf("without a sandbox: %v", err)
	}
	if _, err := box.Find(t.Context(), "jail"); !fault.Is(err, fault.Invalid) {
		t.Errorf("a kind that does not exist: %v", err)
	}
}

// A bubblewrap that hangs is waited for a while and no longer, and is not taken for one that is missing: nothing would confine then.
func TestASandboxThatHangs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("sandboxes are Linux's")
	}
	dir := testenv.Dir(t)
	if err := os.WriteFile(filepath.Join(dir, "bwrap"), []byte("#!/bin/sh\nexec sleep 600\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if m, err := box.Find(ctx, box.Any); !fault.Is(err, fault.Unavailable) {
		t.Errorf("%+v, %v", m, err)
	}
}
