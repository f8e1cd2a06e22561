package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"tandem/internal/cli"
	"tandem/internal/db"
	"tandem/internal/testenv"
)

// The test binary is the command: a script that says tandem runs this very
// program under that name.
func TestMain(m *testing.M) {
	run := func() { os.Exit(cli.Main(os.Args, os.Environ(), os.Stdin, os.Stdout, os.Stderr)) }
	names := map[string]func(){}
	for _, name := range []string{"tandem", "tandem-engine", "intandem", "jj"} {
		names[name] = run
	}
	testscript.Main(m, names)
}

// TestScripts runs every script below testdata/script, whatever folder it is in.
func TestScripts(t *testing.T) {
	var files []string
	err := filepath.WalkDir("testdata/script", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".txtar") {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d scripts: %v", len(files), err)
	}
	testscript.Run(t, testscript.Params{
		Files:               files,
		RequireUniqueNames:  true,
		RequireExplicitExec: false,
		WorkdirRoot:         testenv.Dir(t),
		Setup:               setup,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"as":         as,
			"actor":      addActor,
			"server":     server,
			"http":       request,
			"website":    website,
			"ears":       ears,
			"resources":  resources,
			"flood":      flood,
			"eventually": eventually,
			"typed":      typed,
			"elsewhere":  elsewhere,
			"sql":        runSQL,
			"field":      field,
			"postgres":   postgres,
			"pgbouncer":  pgbouncer,
			"role":       role,
			"model":      model,
			"forge":      atForge,
		},
	})
}

// setup gives a script a home, a port and nothing of the tester's environment.
func setup(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	port := testenv.Port(env.T().(testing.TB))
	env.Vars = append(env.Vars, "HOME="+home, "TANDEM_PORT="+fmt.Sprint(port), "TANDEM_API_TOKEN="+apiToken,
		"FAR_PORT="+fmt.Sprint(testenv.Port(env.T().(testing.TB))), "URL="+fmt.Sprintf("http://127.0.0.1:%d", port), "TMPDIR="+env.WorkDir,
		"LANG=C.UTF-8", "TERM=xterm-256color",
		"STOCK_JJ="+testenv.Tool(env.T().(testing.TB), "jj"), "NO_COLOR=1", "GIT_CONFIG_NOSYSTEM=1", "EDITOR=false")
	env.Values[tbKey{}] = env.T().(testing.TB)
	env.Values[forgeKey{}] = &standIn{}
	env.Values[hatsKey{}] = &hats{tokens: map[string]string{"api": apiToken}}
	env.Defer(func() { killDaemon(env.Getenv) })
	return nil
}

// server starts, stops or kills the daemon of this script's home. Flags of
// start are those of tandem up.
func server(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: server start|stop|kill9 [flags]")
	}
	switch verb, flags := args[0], args[1:]; verb {
	case "start":
		check(ts, neg, ts.Exec("tandem", append([]string{"up"}, flags...)...))
	case "stop":
		check(ts, neg, ts.Exec("tandem", append([]string{"down"}, flags...)...))
	case "kill9":
		if neg || !killDaemon(ts.Getenv) {
			ts.Fatalf("no daemon to kill")
		}
	default:
		ts.Fatalf("server knows start, stop and kill9, not %s", verb)
	}
}

// killDaemon ends the daemon that the script's home has, as a crash would, and
// says whether there was one.
func killDaemon(getenv func(string) string) bool {
	path, err := exec.LookPath("tandem")
	if err != nil {
		return false
	}
	cmd := exec.Command(path, "status", "--json")
	cmd.Env = []string{"HOME=" + getenv("HOME"), "TMPDIR=" + getenv("TMPDIR"), "TANDEM_DATA=" + getenv("TANDEM_DATA")}
	out, _ := cmd.Output() // it fails when nothing runs
	var status struct{ PID int }
	if json.Unmarshal(out, &status) != nil || status.PID <= 1 {
		return false
	}
	p, err := os.FindProcess(status.PID)
	if err != nil || p.Kill() != nil {
		return false
	}
	return testenv.Within(time.Minute, func() bool { return p.Signal(syscall.Signal(0)) != nil })
}

// check compares how a command ended with what the script expects.
func check(ts *testscript.TestScript, neg bool, err error) {
	switch {
	case neg && err == nil:
		ts.Fatalf("unexpected success")
	case !neg && err != nil:
		ts.Fatalf("%v", err)
	}
}

// runSQL changes a database file behind the program's back: sql FILE STATEMENT.
func runSQL(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sql FILE STATEMENT")
	}
	d, err := db.Open(context.Background(), ts.MkAbs(args[0]), nil)
	ts.Check(err)
	defer d.Close()
	ts.Check(d.Write(context.Background(), func(tx *db.Tx) error { _, err := tx.Exec(args[1]); return err }))
}

// postgres puts the address of an empty PostgreSQL database of this script's own into $NAME: postgres NAME.
func postgres(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: postgres NAME")
	}
	ts.Setenv(args[0], testenv.Postgres(ts.Value(tbKey{}).(testing.TB)))
}

// pgbouncer puts the address of a PgBouncer in MODE, before the database of $OF, into $NAME: pgbouncer NAME OF MODE.
func pgbouncer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: pgbouncer NAME OF MODE")
	}
	address := testenv.PgBouncer(ts.Value(tbKey{}).(testing.TB), ts.Getenv(args[1]), args[2])
	ts.Setenv(args[0], address)
	u, err := url.Parse(address)
	ts.Check(err)
	ts.Setenv(args[0]+"_PID", filepath.Join(u.Query().Get("host"), "pid"))
}

// role makes a role of PostgreSQL without rights in the database of $OF, and puts its name into $NAME and its address into
// ${NAME}_ADDRESS: role NAME OF [OPTION …].
func role(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: role NAME OF [OPTION …]")
	}
	name, address := testenv.AsRole(ts.Value(tbKey{}).(testing.TB), ts.Getenv(args[1]), strings.Join(args[2:], " "))
	ts.Setenv(args[0], name)
	ts.Setenv(args[0]+"_ADDRESS", address)
}

type tbKey struct{}

// eventually repeats a command until it succeeds: eventually 5s tandem status.
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually TIME COMMAND …")
	}
	limit, err := time.ParseDuration(args[0])
	ts.Check(err)
	if !testenv.Within(limit, func() bool { err = ts.Exec(args[1], args[2:]...); return err == nil }) {
		ts.Fatalf("still failing after %s: %v", limit, err)
	}
}
