package compat_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/client"
	"tandem/internal/connector/connectortest"
	"tandem/internal/provider/scripted"
	"tandem/internal/testenv"
)

const (
	pin   = "135790"
	token = "tk_0123456789abcdef0123456789abcdef"
)

// engine is the real program, with a granted folder, a scripted provider and a token that decides.
type engine struct {
	url, folder, deciding string
	home                  string
	mail                  *connectortest.Server // an outside server that wants a sign-in
}

func start(t *testing.T) engine {
	t.Helper()
	home := testenv.Dir(t)
	folder := filepath.Join(home, "code")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "README.md"), []byte("# Hello\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(testenv.Tandem(t), "serve", "--port", "0")
	cmd.Dir = home
	cmd.Env = append(testenv.Env(t), "HOME="+home, "TANDEM_API_TOKEN="+token)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Logf("the server ended with %v", err)
		}
		if t.Failed() {
			t.Log(log.String())
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c := client.Socket(filepath.Join(home, ".tandem", "tandem.sock"))
	if err := c.Healthy(ctx); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	call := func(c *client.Client, name string, in, out any) {
		t.Helper()
		if err := c.Call(ctx, name, in, out); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	model := &scripted.Server{}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { model.Close() })
	type m = map[string]any
	var status struct{ Listen string }
	call(c, "server.status", m{}, &status)
	call(c, "pin.set", m{"pin": pin}, nil)
	present := c.WithPIN(pin)
	call(present, "provider.add", m{"id": "fake", "base": model.URL(), "wire": "anthropic", "keyless": true}, nil)
	call(present, "folder.grant", m{"path": folder}, nil)
	call(present, "memory.add", m{"text": "Receipts are kept for ten years.", "labels": []string{"law"}}, nil)
	call(present, "source.add", m{"name": "code", "folder": folder}, nil)
	call(present, "source.resume", m{"name": "code"}, nil)
	var stored struct{ Latest string }
	call(c, "automation.add", m{"text": gated}, &stored)
	call(present, "automation.on", m{"name": "gated", "digest": stored.Latest}, nil)
	var minted struct{ Secret string }
	call(present, "token.new", m{"actor": "owner", "decide": true, "expires_in_secs": 600}, &minted)
	mail, stop := connectortest.Start()
	t.Cleanup(stop)
	return engine{"http://" + status.Listen, folder, minted.Secret, home, mail}
}

func (e engine) run(t *testing.T, argv ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(testenv.Env(t), "TANDEM_URL="+e.url, "TANDEM_API_TOKEN="+token, "DECIDING_TOKEN="+e.deciding, "FOLDER="+e.folder,
		"MAIL_URL="+e.mail.URL,
		"SDK="+filepath.Join(testenv.NodeModules(t), "@frumu/tandem-client/dist/index.js"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(argv[len(argv)-1]), err, out)
	}
	return string(out)
}

// gated is an automation with a clock, a webhook, a gate and something that it makes.
const gated = `
name = "gated"
title = "A gate"
[limits]
runs = 5
[[trigger]]
id = "yearly"
schedule = "0 0 1 1 *"
[[trigger]]
id = "hook"
webhook = "generic"
[[node]]
id = "put"
[node.operation]
name = "resource.put"
input = { key = "gated", value = "a text" }
[node.output.value]
artifact = "markdown"
[[node]]
id = "look"
[node.gate]
shows = ["put.value"]
rework = "put"
`

// The published clients, unchanged, against the real binary.
func TestPublishedClients(t *testing.T) {
	if testing.Short() {
		t.Skip("published clients are not part of the short run")
	}
	e := start(t)
	node, python := testenv.Tool(t, "node"), testenv.Tool(t, "python")
	for _, c := range []struct{ name, program, script, want string }{
		{"core set in TypeScript", node, "core.mjs", "core set ok: 62 methods"},
		{"core set in Python", python, "core.py", "core set ok: 63 methods"},
		{"memory in TypeScript", node, "memory.mjs", "memory ok: 12 methods"},
		{"memory in Python", python, "memory.py", "memory ok: 12 methods"},
		{"automations in Python", python, "automation.py", "automations ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out := e.run(t, c.program, filepath.Join("testdata", c.script)); strings.TrimSpace(out) != c.want {
				t.Errorf("it printed %q", out)
			}
		})
	}
	t.Run("automations in TypeScript", func(t *testing.T) {
		tabled(t, automationsPart, e.run(t, node, filepath.Join("testdata", "automation.mjs")))
	})
	e.signInOnTheCommandLine(t)
	// A key that was stored through a client is in no log, no event and no answer.
	if b, err := os.ReadFile(filepath.Join(filepath.Dir(e.folder), ".tandem", "tandem.log")); err != nil ||
		bytes.Contains(b, []byte("sk-sdk-0123456789")) {
		t.Errorf("the key is in the log: %v", err)
	}
	for _, file := range []string{"tandem.db", "tandem.db-wal", "tandem.log"} {
		b, err := os.ReadFile(filepath.Join(filepath.Dir(e.folder), ".tandem", file))
		for _, secret := range []string{"sk-sdk-0123456789", "access-token-", "refresh-token-"} {
			if err == nil && bytes.Contains(b, []byte(secret)) {
				t.Errorf("%s is in the clear in %s", secret, file)
			}
		}
	}
	if b, err := os.ReadFile(filepath.Join(e.folder, "out.txt")); err != nil || string(b) != "sent once" {
		t.Errorf("the approved text is %q: %v", b, err)
	}
}

// signInOnTheCommandLine signs in with tandem connector login: the browser is sent back to the server itself.
func (e engine) signInOnTheCommandLine(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	tandem := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, testenv.Tandem(t), args...)
		// a person who proved to be here when they made it
		cmd.Dir, cmd.Env = e.home, append(testenv.Env(t), "HOME="+e.home, "TANDEM_AS_TOKEN="+e.deciding)
		return cmd
	}
	if out, err := tandem("connector", "add", "typed", e.mail.URL).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if out, err := tandem("connector", "sync", "typed").CombinedOutput(); err == nil ||
		!bytes.Contains(out, []byte("tandem connector login typed")) {
		t.Errorf("%v %s", err, out)
	}
	login := tandem("connector", "login", "typed")
	stderr, err := login.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	login.Stdout = &said
	if err := login.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "http") {
			continue
		}
		resp, err := http.Get(lines.Text()) // the browser: it is sent back to the server, and follows
		if err != nil {
			t.Fatal(err)
		}
		page, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if !strings.Contains(string(page), "You are signed in") {
			t.Errorf("%s %s", resp.Status, page)
		}
	}
	if err := login.Wait(); err != nil || !strings.Contains(said.String(), "signed in; typed is quarantined") {
		t.Errorf("%v %s", err, said.String())
	}
}
