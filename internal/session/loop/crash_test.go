package loop_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/client"
	"tandem/internal/provider/scripted"
	"tandem/internal/session"
	"tandem/internal/testenv"
)

type m = map[string]any

// machine is the real program, killed and started again on the same data.
type machine struct {
	t      *testing.T
	home   string
	folder string
	cmd    *exec.Cmd
	log    bytes.Buffer
	c      *client.Client
}

func (x *machine) start() {
	x.t.Helper()
	x.cmd = exec.Command(testenv.Tandem(x.t), "serve", "--port", "0")
	x.cmd.Dir = x.home
	x.cmd.Env = append(testenv.Env(x.t), "HOME="+x.home)
	x.cmd.Stdout, x.cmd.Stderr = &x.log, &x.log
	if err := x.cmd.Start(); err != nil {
		x.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	x.c = client.Socket(filepath.Join(x.home, ".tandem", "tandem.sock"))
	if err := x.c.Healthy(ctx); err != nil {
		x.t.Fatalf("%v\n%s", err, x.log.String())
	}
}

func (x *machine) kill() {
	x.cmd.Process.Kill() //nolint:errcheck // it may have ended
	x.cmd.Wait()         //nolint:errcheck // killed
}

func (x *machine) call(c *client.Client, name string, in, out any) {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	if err := c.Call(ctx, name, in, out); err != nil {
		x.t.Fatalf("%s: %v\n%s", name, err, x.log.String())
	}
}

// kill -9 at random instants of a turn with tools. After each restart the turn ends by itself, every side effect happened
// once, or its call says that nobody knows, and the journal verifies.
func TestKilledAtRandomInstants(t *testing.T) {
	if testing.Short() {
		t.Skip("the crash proof is not part of the short run")
	}
	rnd := testenv.Random(t)
	x := &machine{t: t, home: testenv.Dir(t)}
	x.folder = filepath.Join(x.home, "code")
	if err := os.MkdirAll(x.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	model := &scripted.Server{}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	x.start()
	defer func() { x.kill() }()
	x.call(x.c, "pin.set", m{"pin": "135790"}, nil)
	person := x.c.WithPIN("135790")
	x.call(person, "provider.add", m{"id": "fake", "base": model.URL(), "wire": "anthropic", "keyless": true}, nil)
	x.call(person, "folder.grant", m{"path": x.folder}, nil)
	for _, g := range []m{
		{"principal": "session:*", "resource": "folder:/", "permissions": []string{"read", "edit"},
			"note": "the crash proof works without asking"},
		{"principal": "session:*", "resource": "tool:/bash", "permissions": []string{"execute"}, "note": "the crash proof works without asking"},
	} {
		x.call(person, "grant.add", g, nil)
	}
	rounds := testenv.Rounds(200)
	unknown := 0
	for i := range rounds {
		prompt := fmt.Sprintf(`[[say a ;; tool write {"path":"f%[1]d.txt","content":"one\n"}]] [[tool bash {"command":"echo ran | `+
			`tee -a log%[1]d.txt"}]] `+
			`[[tool edit {"path":"f%[1]d.txt","old":"one","new":"two"} ;; tool read {"path":"f%[1]d.txt"}]] `+
			`[[tool apply_patch {"patch":"*** Begin Patch\n*** Update File: f%[1]d.txt\n@@\n-two\n+three\n*** Add File: `+
			`p%[1]d.txt\n+new\n*** End Patch"}]] `+
			`[[tool task {"prompt":"[[tool bash {\"command\":\"echo ran | tee -a child%[1]d.txt\"}]] [[say ok]]"}]] [[slow 0.02]] [[say end]]`, i)
		var s session.Session
		x.call(x.c, "session.create", m{"directory": x.folder, "model": "fake/scripted-1"}, &s)
		var turn session.Turn
		x.call(x.c, "session.prompt", m{"id": s.ID, "text": prompt}, &turn)
		time.Sleep(time.Duration(rnd.IntN(220)) * time.Millisecond)
		x.kill()
		x.start()
		end := x.wait(s.ID, turn.ID)
		if end.State != session.Done {
			t.Fatalf("round %d: the turn is %s (%s)\n%s", i, end.State, end.Reason, x.log.String())
		}
		unknown += x.check(i, s.ID)
	}
	var report struct{ OK bool }
	x.call(x.c, "audit.verify", m{}, &report)
	if !report.OK {
		t.Error("the journal does not verify")
	}
	t.Logf("%d kills, %d outcomes unknown", rounds, unknown)
}

func (x *machine) wait(id, turn string) session.Turn {
	x.t.Helper()
	var last session.Turn
	testenv.Within(90*time.Second, func() bool { // the caller says what it is otherwise
		var out session.TurnsOut
		x.call(x.c, "session.turns", m{"id": id, "turn": turn}, &out)
		last = *out.Turns[0]
		return last.State.Ended()
	})
	return last
}

// check looks at what round i left, and returns how many outcomes are unknown.
func (x *machine) check(i int, id string) int {
	x.t.Helper()
	var out session.TurnsOut
	x.call(x.c, "session.turns", m{"id": id}, &out)
	file := func(name string) string {
		b, _ := os.ReadFile(filepath.Join(x.folder, fmt.Sprintf("%s%d.txt", name, i)))
		return string(b)
	}
	var kids session.ListOut
	x.call(x.c, "session.list", m{"parent": id}, &kids)
	if len(kids.Sessions) != 1 {
		x.t.Errorf("round %d: %d children", i, len(kids.Sessions))
	}
	calls := len(out.Calls)
	for _, k := range kids.Sessions {
		var more session.TurnsOut
		x.call(x.c, "session.turns", m{"id": k.ID}, &more)
		out.Calls = append(out.Calls, more.Calls...)
	}
	unknown := 0
	for _, c := range out.Calls {
		if c.State == session.CallDone {
			continue
		}
		if !strings.Contains(c.Result.Text, "a crash hid the outcome") {
			x.t.Errorf("round %d: %s failed: %s", i, c.Tool, c.Result.Text)
		}
		unknown++
	}
	for _, name := range []string{"log", "child"} {
		if ran := strings.Count(file(name), "ran"); ran > 1 || ran == 0 && unknown == 0 {
			x.t.Errorf("round %d: the command of %s ran %d times, and %d outcomes are unknown", i, name, ran, unknown)
		}
	}
	if got := file("f"); got != "three\n" || file("p") != "new\n" {
		x.t.Errorf("round %d: the files hold %q and %q", i, got, file("p"))
	}
	if calls != 6 {
		x.t.Errorf("round %d: %d calls", i, calls)
	}
	return unknown
}
