package builtin

import (
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
	"tandem/internal/tool"
	"tandem/internal/tool/box"
	"tandem/internal/tool/confine"
)

// Commands under Landlock are started by this very program.
func TestMain(m *testing.M) {
	if confine.Called(os.Args) {
		os.Exit(confine.Main(os.Args, os.Stderr))
	}
	os.Exit(m.Run())
}

// machine is what lies around a granted folder: a home with keys, tandem's state, and sockets that somebody listens on.
type machine struct {
	*tool.Env
	home, state, tcp, unix, abstract string
}

func around(t *testing.T, kind tool.SandboxKind) *machine {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("sandboxes are Linux's")
	}
	m := &machine{Env: env(t, map[string]string{"a.txt": "hello", "sub/b.txt": "below"}), home: testenv.Dir(t)}
	box, err := tool.FindSandbox(t.Context(), kind)
	if err != nil {
		t.Fatal(err)
	}
	if m.Sandbox = box; box.Kind != kind {
		if kind == tool.Landlock {
			t.Skipf("this kernel has no Landlock: %s", box.Why)
		}
		t.Fatalf("%s does not work here (%s): run make test-tools", kind, box.Why)
	}
	m.state = filepath.Join(m.home, ".tandem")
	for name, text := range map[string]string{".ssh/id_ed25519": "PRIVATE", ".tandem/tandem.db": "PRIVATE", "notes.txt": "PRIVATE"} {
		p := filepath.Join(m.home, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m.unix, m.abstract = filepath.Join(m.home, "s"), "@tandem-"+filepath.Base(m.home)
	m.tcp = listen(t, "tcp", "127.0.0.1:0")
	listen(t, "unix", m.unix)
	listen(t, "unix", m.abstract)
	return m
}

// listen answers whoever connects with a word that must not be heard.
func listen(t *testing.T, network, at string) string {
	t.Helper()
	l, err := net.Listen(network, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Write([]byte("REACHED\n"))
			c.Close()
		}
	}()
	return l.Addr().String()
}

const python = `python3 -c '
import socket, sys
s = socket.socket(getattr(socket, sys.argv[1]), socket.SOCK_STREAM)
s.settimeout(5)
a = sys.argv[2]
s.connect(("127.0.0.1", int(a)) if sys.argv[1] == "AF_INET" else (a.replace("@", chr(0))))
print(s.recv(100))
'`

// The sandbox is the boundary, whichever it is: the rest of the machine, its sockets and its processes are not there for a command.
func TestBashIsConfined(t *testing.T) {
	for _, kind := range []tool.SandboxKind{tool.Bubblewrap, tool.Landlock} {
		t.Run(string(kind), func(t *testing.T) {
			e := around(t, kind)
			t.Setenv("TANDEM_TEST_LEAK", "LEAKED")
			_, port, _ := net.SplitHostPort(e.tcp)
			victim := exec.Command("sleep", "60")
			if err := victim.Start(); err != nil {
				t.Fatal(err)
			}
			gone := make(chan error, 1)
			go func() { gone <- victim.Wait() }()
			defer victim.Process.Kill()
			for _, c := range []struct{ line, want, not string }{
				{"cat a.txt sub/b.txt", "hello", ""},
				{"echo made > new.txt && mv new.txt sub/new.txt && cat sub/new.txt && rm sub/new.txt && mkdir -p d/e && rmdir d/e d && ln -s a.txt " +
					"l && cat l && chmod +x a.txt", "made", "exit code"},
				{"cat <(echo pipes work) && echo scratch > $HOME/t && cat $TMPDIR/t && echo x > /dev/null && head -c 4 /dev/urandom | wc -c", "scratch",
					"exit code"},
				{"cat " + e.home + "/.ssh/id_ed25519 " + e.home + "/notes.txt; ls " + e.home + "/.ssh", "(exit code", "PRIVATE"},
				{"cat " + e.state + "/tandem.db; cp " + e.state + "/tandem.db mine; cat mine", "(exit code", "PRIVATE"},
				{"ln " + e.home + "/notes.txt linked; ln -s " + e.home + "/notes.txt soft; cat linked soft", "(exit code", "PRIVATE"},
				{"echo x > " + e.home + "/notes.txt; echo x > " + e.home + "/new; truncate -s 0 " + e.home + "/notes.txt; rm -f " + e.home +
					"/notes.txt; mv " + e.home + "/notes.txt .", "(exit code", ""},
				{"echo x > /usr/y", "(exit code", ""},
				{"env; cat /proc/1/environ /proc/self/environ /proc/$PPID/environ | tr '\\0' '\\n'", "LANG=C.UTF-8", "LEAKED"},
				{fmt.Sprintf("kill -9 %d; cat /proc/%d/cmdline", victim.Process.Pid, victim.Process.Pid), "(exit code", "sleep"},
				{"exec 3<>/dev/tcp/127.0.0.1/" + port + " && cat <&3", "(exit code", "REACHED"},
				{python + " AF_INET " + port, "(exit code", "REACHED"},
				{python + " AF_UNIX " + e.unix, "(exit code", "REACHED"},
				{python + " AF_UNIX " + e.abstract, "(exit code", "REACHED"},
				{"exit 3", "(exit code 3)", ""},
			} {
				r, err := run(t, e.Env, "bash", m{"command": c.line})
				if err != nil || !strings.Contains(r.Text, c.want) || c.not != "" && strings.Contains(r.Text, c.not) {
					t.Errorf("%s: %q %v", c.line, r.Text, err)
				}
			}
			select {
			case err := <-gone:
				t.Errorf("a command ended a process outside: %v", err)
			default:
			}
			if b, err := os.ReadFile(filepath.Join(e.home, "notes.txt")); err != nil || string(b) != "PRIVATE" {
				t.Errorf("a file outside is %q, %v", b, err)
			}
			bounds(t, e.Env)
		})
	}
}

// bounds are those of time and size.
func bounds(t *testing.T, e *tool.Env) {
	t.Helper()
	start := time.Now()
	r, err := run(t, e, "bash", m{"command": "sleep 60 & (setsid sleep 60) & sleep 60", "timeout": 1})
	if err != nil || !r.Error || !strings.Contains(r.Text, "ended after") || time.Since(start) > 20*time.Second {
		t.Errorf("%+v %v after %v", r, err, time.Since(start))
	}
	r, err = run(t, e, "bash", m{"command": "seq 1 100000"})
	if err != nil || len(r.Text) > maxOutput+100 || !strings.Contains(r.Text, "left out") || !strings.HasSuffix(r.Text, "100000\n") {
		t.Errorf("%d bytes %v", len(r.Text), err)
	}
	// What it leaves in the background ends with it.
	r, err = run(t, e, "bash", m{"command": "(sleep 1; echo late > late.txt) >/dev/null 2>&1 & echo begun"})
	if err != nil || !strings.Contains(r.Text, "begun") {
		t.Errorf("%+v %v", r, err)
	}
	testenv.Stays(t, "what a command leaves in the background does nothing", 1500*time.Millisecond, func() bool {
		_, err := os.Stat(filepath.Join(e.Dir, "late.txt"))
		return os.IsNotExist(err)
	})
}

// Bubblewrap hides what may hold keys. Landlock cannot, and says so before the command runs.
func TestKeysInTheFolder(t *testing.T) {
	b := around(t, tool.Bubblewrap)
	for _, p := range []string{".env", "sub/secrets/k"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(b.Dir, p)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(b.Dir, p), []byte("KEY"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := run(t, b.Env, "bash", m{"command": "cat .env; cat sub/secrets/k; ls sub/secrets"})
	if err != nil || strings.Contains(r.Text, "KEY") {
		t.Errorf("%+v %v", r, err)
	}
	plan := func(e *tool.Env) *tool.Plan {
		t.Helper()
		p, err := bash{}.Plan(e, []byte(`{"command":"true"}`))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := plan(b.Env); p.Touch.Caution != "" || p.Touch.Tool != "bash" {
		t.Errorf("%+v", p.Touch)
	}
	l := around(t, tool.Landlock)
	if p := plan(l.Env); p.Touch.Caution != "" {
		t.Errorf("%+v", p.Touch)
	}
	l.Dir, l.Scope = b.Dir, b.Scope
	if p := plan(l.Env); !strings.Contains(p.Touch.Caution, ".env and others") || p.Touch.Tool != "bash.exposed" {
		t.Errorf("%+v", p.Touch)
	}
	// Tandem's own state inside the granted folder, wherever it is: hidden, or no command runs.
	inner := filepath.Join(b.Dir, "state")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(inner, "db"), []byte("STATE"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.Scope = tool.NewScope(b.Scope.Folders(), inner)
	l.Scope = b.Scope
	if r, err := run(t, b.Env, "bash", m{"command": "cat state/db"}); err != nil || strings.Contains(r.Text, "STATE") {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := run(t, l.Env, "bash", m{"command": "true"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("%v", err)
	}
	for _, c := range []struct {
		tool string
		args m
	}{{"read", m{"path": "state/db"}}, {"write", m{"path": "state/x", "content": "y"}}, {"grep", m{"pattern": "STATE"}}, {"list", m{}}} {
		r, err := run(t, b.Env, c.tool, c.args)
		if strings.Contains(r.Text, "state") || err == nil && (c.tool == "read" || c.tool == "write") {
			t.Errorf("%s: %q %v", c.tool, r.Text, err)
		}
	}
}

// With Landlock the network is the internet: a granted network is no way to the sockets of programs on this machine.
func TestNetworkUnderLandlock(t *testing.T) {
	e := around(t, tool.Landlock)
	_, port, _ := net.SplitHostPort(e.tcp)
	for line, reached := range map[string]bool{python + " AF_INET " + port: true, python + " AF_UNIX " + e.unix: false,
		python + " AF_UNIX " + e.abstract: false} {
		r, err := run(t, e.Env, "bash", m{"command": line, "network": true})
		if err != nil || strings.Contains(r.Text, "REACHED") != reached {
			t.Errorf("%s: %q %v", line, r.Text, err)
		}
	}
}

// A machine without a sandbox runs nothing, unless a person said so for the session.
func TestNoSandbox(t *testing.T) {
	e := env(t, map[string]string{"a.txt": "hello"})
	for _, none := range []*tool.Sandbox{nil, {Machine: &box.Machine{Kind: box.None}}} {
		e.Sandbox, e.Unconfined = none, false
		if _, err := run(t, e, "bash", m{"command": "true"}); !fault.Is(err, fault.Conflict) {
			t.Errorf("without a sandbox: %v", err)
		}
		e.Unconfined = true
		t.Setenv("TANDEM_TEST_LEAK", "LEAKED")
		if r, err := run(t, e, "bash", m{"command": "cat a.txt; env"}); err != nil || !strings.Contains(r.Text, "hello") ||
			strings.Contains(r.Text, "LEAKED") {
			t.Errorf("%+v %v", r, err)
		}
	}
	// So the sockets of the other tests can be reached where nothing keeps a command from them.
	at := filepath.Join(testenv.Dir(t), "s")
	listen(t, "unix", at)
	if r, err := run(t, e, "bash", m{"command": python + " AF_UNIX " + at}); err != nil || !strings.Contains(r.Text, "REACHED") {
		t.Errorf("%+v %v", r, err)
	}
}

// A hook that a command wrote into the repository ran at the person's next commit, outside of the sandbox.
func TestBashLeavesNoHook(t *testing.T) {
	e := around(t, tool.Bubblewrap)
	r, err := run(t, e.Env, "bash",
		m{"command": "git init -q . && git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m one && echo READY"})
	if err != nil || !strings.Contains(r.Text, "READY") {
		t.Fatalf("%+v %v", r, err)
	}
	line := "mv .git x; cp -a x .git; echo touch > .git/hooks/pre-commit && echo WROTE-HOOK; " +
		"git config core.fsmonitor touch && echo WROTE-CONFIG; echo x >> .git/config && echo WROTE-CONFIG; " +
		"git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m two && git log --oneline | wc -l"
	r, err = run(t, e.Env, "bash", m{"command": line})
	if err != nil || strings.Contains(r.Text, "WROTE-") || !strings.Contains(r.Text, "2\n") {
		t.Errorf("%+v %v", r, err)
	}
	// The same in a repository below the granted folder, from within it.
	if r, err = run(t, e.Env, "bash", m{"command": "git init -q sub/deep/r && echo READY"}); err != nil || !strings.Contains(r.Text, "READY") {
		t.Fatalf("%+v %v", r, err)
	}
	e.Dir = filepath.Join(e.Dir, "sub", "deep", "r")
	line = "git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m one; mv ../r ../x && cp -a ../x ../r; " + line
	r, err = run(t, e.Env, "bash", m{"command": line})
	if err != nil || strings.Contains(r.Text, "WROTE-") || !strings.Contains(r.Text, "2\n") {
		t.Errorf("%+v %v", r, err)
	}
}
