package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"tandem/internal/testenv"
)

const machinesInside = "TANDEM_TEST_MACHINES_INSIDE"

// TestMachineScripts runs the scripts that need several machines: homes with
// daemons of their own that reach each other over TLS, in a network that has
// these addresses and nothing else.
func TestMachineScripts(t *testing.T) {
	if os.Getenv(machinesInside) == "" {
		line := []string{testenv.Tool(t, "unshare")}
		if os.Getuid() != 0 {
			line = append(line, "--map-root-user")
		}
		line = append(line, "-n", "sh", "-ec", `ip link set lo up
for n in 1 2 3 4; do ip addr add 10.99.3.$n/32 dev lo; done
exec "$0" "$@"`, os.Args[0], "-test.run", "^"+t.Name()+"$")
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Env = append(os.Environ(), machinesInside+"=1", "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/machines",
		RequireUniqueNames: true,
		WorkdirRoot:        testenv.Dir(t),
		Setup:              setup,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"on":         on,
			"eventually": eventually,
			"field":      field,
			"tap":        tapHost,
			"heard":      heard,
			"forge":      forge,
			"post":       post,
		},
	})
}

// on runs tandem on a machine, which is made when it is first named:
//
//	on NAME COMMAND …            tandem there
//	on NAME owner COMMAND …      on its terminal, with the PIN
//	on NAME kill9                a crash of its daemon
func on(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: on NAME COMMAND …")
	}
	home, old := ts.MkAbs(filepath.Join("/", ts.Getenv("WORK"), args[0])), ts.Getenv("HOME")
	if _, err := os.Stat(home); err != nil {
		ts.Check(os.Mkdir(home, 0o700))
		vars := []string{"HOME=" + home, "TMPDIR=" + ts.Getenv("TMPDIR")}
		ts.Defer(func() { killDaemon(lookup(vars)) })
	}
	ts.Setenv("HOME", home)
	ts.Setenv("TANDEM_PORT", "")
	defer ts.Setenv("HOME", old)
	switch args[1] {
	case "kill9":
		if neg || !killDaemon(ts.Getenv) {
			ts.Fatalf("%s has no daemon to kill", args[0])
		}
	case "owner":
		if _, err := os.Stat(filepath.Join(home, ".pin")); err != nil {
			_, err := onTerminal(ts, ownerPIN, "pin", "set")
			ts.Check(err)
			ts.Check(os.WriteFile(filepath.Join(home, ".pin"), nil, 0o600))
		}
		out, err := onTerminal(ts, ownerPIN, args[2:]...)
		ts.Stdout().Write([]byte(out))
		check(ts, neg, err)
	default:
		check(ts, neg, ts.Exec("tandem", args[1:]...))
	}
}

func lookup(vars []string) func(string) string {
	return func(name string) string {
		for _, v := range vars {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

var taps sync.Map // script's folder → *testenv.Tap

// tapHost stands between the members and a host like a tunnel that ends TLS, with
// the host's own key: tap ADDRESS HOST MACHINE.
func tapHost(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: tap ADDRESS HOST MACHINE")
	}
	at := &closer{TB: &testing.T{}}
	ts.Defer(at.close)
	taps.Store(ts.Getenv("WORK"), testenv.NewTap(at, args[0], args[1], filepath.Join(ts.Getenv("WORK"), args[2], ".tandem")))
}

// closer lets a script own what a test would.
type closer struct {
	testing.TB
	ends []func()
}

func (c *closer) Helper()          {}
func (c *closer) Cleanup(f func()) { c.ends = append(c.ends, f) }
func (c *closer) Fatal(args ...any) {
	panic(fmt.Sprint(args...))
}
func (c *closer) close() {
	for _, f := range c.ends {
		f()
	}
}

// heard writes everything that went through the tap to a file.
func heard(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: heard FILE")
	}
	p, ok := taps.Load(ts.Getenv("WORK"))
	if !ok {
		ts.Fatalf("there is no tap")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), p.(*testenv.Tap).Heard(), 0o600))
}

// forge takes the last call of a class from what was heard and changes a field
// of its envelope: forge HEARD CLASS FIELD VALUE OUT. The value other is the
// sender of some other envelope, same leaves all as it is.
func forge(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 5 {
		ts.Fatalf("usage: forge HEARD CLASS FIELD VALUE OUT")
	}
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	type call struct {
		Op    string `json:"op"`
		Input struct {
			Envelope map[string]any `json:"envelope"`
		} `json:"input"`
	}
	var found *call
	others := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		i := strings.Index(line, `{"op":`)
		if i < 0 {
			continue
		}
		var c call
		if json.NewDecoder(strings.NewReader(line[i:])).Decode(&c) != nil || c.Input.Envelope == nil {
			continue
		}
		others[fmt.Sprint(c.Input.Envelope["from"])] = true
		if c.Input.Envelope["class"] == args[1] {
			found = &c
		}
	}
	if found == nil {
		ts.Fatalf("no envelope of class %s was heard", args[1])
	}
	switch field, value := args[2], any(args[3]); value {
	case "same":
	case "other":
		delete(others, fmt.Sprint(found.Input.Envelope["from"]))
		for id := range others {
			value = id
		}
		found.Input.Envelope[field] = value
	default:
		found.Input.Envelope[field] = value
	}
	out, err := json.Marshal(found)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[4]), out, 0o600))
}

// post sends a file to a host as anybody on the network could, and prints the
// status and the answer: post ADDRESS PATH FILE.
func post(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: post ADDRESS PATH FILE")
	}
	body, err := os.ReadFile(ts.MkAbs(args[2]))
	ts.Check(err)
	c := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	res, err := c.Post("https://"+args[0]+args[1], "application/json", bytes.NewReader(body))
	ts.Check(err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%d\n%s\n", res.StatusCode, data)
	if res.StatusCode >= 400 {
		err = fmt.Errorf("%s", res.Status)
	}
	check(ts, neg, err)
}
