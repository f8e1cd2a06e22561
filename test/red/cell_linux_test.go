package red

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandem/internal/client"
	"tandem/internal/provider/scripted"
	"tandem/internal/testenv"
)

const (
	token = "tk_0123456789abcdef0123456789abcdef"
	pin   = "135790"
	// another is a user who is not root.
	another = 12345
)

// cell is the real program with one kind of box, and a session in it that does what it is told.
type cell struct {
	name, home, url, bin, canary, mark, tmp string
	uid, pid, stayed                        int
	session                                 string
	open                                    bool // lines run as the daemon's user without any box
}

// enter starts the program as a user, with a box of that kind; with "none" lines run beside it, as its user, in no box at all.
func enter(t *testing.T, kind string, uid int) *cell {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "red") // a home of another user may not be below ours
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	mark := filepath.Base(dir)
	c := &cell{uid: uid, open: kind == "none", name: fmt.Sprintf("%s, uid %d", kind, uid), home: filepath.Join(dir, "home"),
		bin:    filepath.Join(dir, "tandem"),
		canary: "CANARY-" + mark, mark: mark, tmp: filepath.Join("/tmp", mark)}
	c.furnish(t, uid)
	cmd := exec.Command(c.bin, "serve", "--port", "0")
	cmd.Dir = c.home
	cmd.Env = []string{"HOME=" + c.home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TANDEM_API_TOKEN=" + token,
		"TANDEM_SANDBOX=" + kind, "TANDEM_SECRET_KEEPER=file"}
	cmd.SysProcAttr = as(uid)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.pid = cmd.Process.Pid
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Logf("%s: the server ended: %v\n%s", c.name, err, log.String())
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	local := client.Socket(filepath.Join(c.home, ".tandem", "tandem.sock"))
	if err := local.Healthy(ctx); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	c.settle(t)
	return c
}

// furnish makes what lies around the granted folder: a home with a key, a diary, a file in /tmp, a repository.
func (c *cell) furnish(t *testing.T, uid int) {
	t.Helper()
	code := c.inside("")
	for path, text := range map[string]string{filepath.Join(c.home, ".ssh", "id_ed25519"): c.canary, c.beside("diary.txt"): c.canary,
		c.inside("a.txt"): "hello", c.tmp: c.canary, c.inside(".git/HEAD"): "ref: refs/heads/main\n"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Remove(c.tmp) })
	for _, line := range [][]string{{"git", "init", "-q", code}, {"cp", testenv.Tandem(t), c.bin}, {"chmod", "755", filepath.Dir(c.home)},
		{"chown", "-R", fmt.Sprintf("%d:%d", uid, uid), c.home, c.tmp}} {
		if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v %s", line, err, out)
		}
	}
}

// settle gives the house a person, a model and a granted folder, and opens the session.
func (c *cell) settle(t *testing.T) {
	t.Helper()
	model := &scripted.Server{}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	type m = map[string]any
	var status struct{ Listen string }
	var session struct{ ID string }
	c.call(t, "server.status", m{}, &status)
	c.url = "http://" + status.Listen
	c.call(t, "pin.set", m{"pin": pin}, nil)
	c.call(t, "provider.add", m{"id": "fake", "base": model.URL(), "wire": "anthropic", "keyless": true}, nil)
	c.call(t, "folder.grant", m{"path": c.inside("")}, nil)
	c.call(t, "grant.add", m{"principal": "session:*", "resource": "tool:/bash", "permissions": []string{"execute"}}, nil)
	c.call(t, "session.create", m{"model": "fake/scripted-1", "directory": c.inside("")}, &session)
	c.session = session.ID
	if said := c.run(t, "printf he%s llo"); !strings.Contains(said, "hello") {
		t.Fatalf("%s: the session does not run commands: %s", c.name, said)
	}
}

// call runs an operation on the control socket as the person, present: the daemon listens to its own user only.
func (c *cell) call(t *testing.T, name string, in, out any) {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-s", "-m", "60", "--fail-with-body", "--unix-socket", filepath.Join(c.home, ".tandem", "tandem.sock"),
		"-H", "Content-Type: application/json", "-d", string(body), "http://tandem/op/" + name}
	if name != "pin.set" && name != "server.status" {
		args = append(args, "-H", "Tandem-Pin: "+pin)
	}
	cmd := exec.CommandContext(t.Context(), "curl", args...)
	cmd.Dir, cmd.SysProcAttr = "/", as(c.uid)
	data, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %s: %v %s", c.name, name, err, data)
	}
	if out != nil {
		if err := json.Unmarshal(data, out); err != nil {
			t.Fatalf("%s: %s: %v %s", c.name, name, err, data)
		}
	}
}

// as is how a process is started for a user.
func as(uid int) *syscall.SysProcAttr {
	if uid == os.Getuid() {
		return nil
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
}

// run lets the session run a line, and returns what it was answered.
func (c *cell) run(t *testing.T, line string) string {
	t.Helper()
	// In a file, so that the box is what holds and not the reading of the line.
	if err := os.WriteFile(c.inside("red.sh"), []byte(line+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if c.open {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, "sh", "red.sh")
		cmd.Dir, cmd.Env, cmd.SysProcAttr = c.inside(""), []string{"HOME=" + c.home, "PATH=" + os.Getenv("PATH")}, as(c.uid)
		said, _ := cmd.CombinedOutput() // some lines end with a failure after they worked
		return string(said)
	}
	args, err := json.Marshal(map[string]any{"command": "sh red.sh"})
	if err != nil {
		t.Fatal(err)
	}
	return c.said(t, "[[tool bash "+string(args)+"]] [[result]]")
}

// prompt says something to a session of its own, which does what it is told.
func (c *cell) prompt(s *stage, text string) string {
	s.Helper()
	var made struct{ ID string }
	c.call(s.T, "session.create", fields{"model": "fake/scripted-1", "directory": c.inside("")}, &made)
	first := c.session
	defer func() { c.session = first }()
	c.session = made.ID
	return c.said(s.T, text)
}

// said prompts the session and returns what it answered.
func (c *cell) said(t *testing.T, text string) string {
	t.Helper()
	prompt := map[string]any{"type": "text", "text": text}
	body, err := json.Marshal(map[string]any{"parts": []any{prompt}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", c.url+"/session/"+c.session+"/prompt_sync", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%s: %q: %v", c.name, text, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Text, Response, Reply string }
	if json.Unmarshal(data, &answer) == nil && answer.Text+answer.Response+answer.Reply != "" {
		return answer.Text + answer.Response + answer.Reply
	}
	return string(data)
}

// works tries a way and says whether it led out.
func (c *cell) works(t *testing.T, w way) bool {
	t.Helper()
	x := w.run(c)
	if x.sign != "" && strings.Contains(x.line, x.sign) {
		t.Fatalf("%s: the sign %q is in the line itself", w.name, x.sign)
	}
	said := c.run(t, x.line)
	if x.tidy != nil {
		defer x.tidy()
	}
	return x.worked(said)
}

// worked says whether a way led out, by what it printed.
func (x try) worked(said string) bool {
	if x.outside != nil {
		return x.outside(said)
	}
	return strings.Contains(said, x.sign)
}

// stays is a way that leaves a program behind, told apart by how long it sleeps.
func (c *cell) stays(line string) try {
	c.stayed++
	length := fmt.Sprintf("%d%d", c.pid, c.stayed)
	return try{line: fmt.Sprintf(line, length), outside: func(string) bool {
		<-time.After(time.Second) // it takes a moment to begin, and a box takes one to end what stayed
		return alive("sleep\x0086" + length)
	}}
}

// alive reports whether a process has such a command line.
func alive(words string) bool {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return false
	}
	for _, f := range files {
		if line, err := os.ReadFile(f); err == nil && strings.HasPrefix(string(line), words) {
			return true
		}
	}
	return false
}
