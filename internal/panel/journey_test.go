package panel

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandem/internal/panel/browsertest"
	"tandem/internal/testenv"
)

const testPIN = "482915"

// house is the real program with an owner's PIN, an agent, and a rule that
// makes the agent ask before it changes anything under prod.
type house struct {
	near  string // by address
	base  string // by the panel's name
	sock  *http.Client
	agent string // the agent's token

	restart func()
}

func startHouse(t *testing.T, env ...string) *house {
	t.Helper()
	data, port := filepath.Join(testenv.Dir(t), "data"), testenv.Port(t)
	listen := fmt.Sprintf("127.0.0.1:%d", port)
	var log bytes.Buffer
	var cmd *exec.Cmd
	start := func() {
		cmd = exec.Command(testenv.Tandem(t), "serve", "--data", data, "--listen", listen)
		cmd.Env, cmd.Stdout, cmd.Stderr = testenv.Env(t, env...), &log, &log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	stop := func() {
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v\n%s", err, log.String())
		}
	}
	start()
	t.Cleanup(func() { stop() })
	h := &house{near: "http://" + listen}
	answers := func() {
		t.Helper()
		healthy := func() bool {
			res, err := http.Get(h.near + "/global/health")
			if err != nil {
				return false
			}
			res.Body.Close()
			return res.StatusCode == http.StatusOK
		}
		if !testenv.Within(2*time.Minute, healthy) {
			t.Fatalf("the server did not start\n%s", log.String())
		}
	}
	h.restart = func() { stop(); start(); answers() }
	h.sock = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(data, "tandem.sock"))
	}}}
	answers()
	h.base = h.do(t, "server.status", "", nil)["panel"].(string)
	h.do(t, "pin.set", "", map[string]any{"pin": testPIN})
	h.do(t, "actor.add", testPIN, map[string]any{"name": "builder", "kind": "agent"})
	minted := h.do(t, "token.new", testPIN, map[string]any{"actor": "builder", "expires_in_secs": 3600})
	h.agent = minted["secret"].(string)
	h.do(t, "grant.add", testPIN, map[string]any{"principal": "agent:builder", "effect": "ask", "resource": "resource:/prod",
		"permissions": []string{"edit"}, "data_classes": []string{"*"}, "note": "production is not for agents alone"})
	return h
}

// do runs an operation over the control socket; a PIN makes the owner present.
func (h *house) do(t *testing.T, name, pin string, in any) map[string]any {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest("POST", "http://tandem/op/"+name, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if pin != "" {
		req.Header.Set("Tandem-Pin", pin)
	}
	res, err := h.sock.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if res.StatusCode >= 300 || json.Unmarshal(raw, &out) != nil {
		t.Fatalf("%s answered %d %s", name, res.StatusCode, raw)
	}
	return out
}

func (h *house) code(t *testing.T) string {
	return h.do(t, "signin.link", "", map[string]any{})["code"].(string)
}

// A person signs in, registers a passkey, answers asks with it and with the
// PIN, and looks things up. What is not a person, present, for this very
// decision, decides nothing: the cookie alone, a wrong PIN, an answer given
// for another verdict or digest, an answer used twice.
func TestJourney(t *testing.T) {
	h := startHouse(t)
	var got struct {
		Seen     map[string]any
		Problems []string
	}
	browsertest.Run(t, "testdata/journey.cjs", map[string]any{
		"base": h.base, "near": h.near, "code": h.code(t), "pin": testPIN, "agent": h.agent, "shots": browsertest.Shots(t, "panel"),
	}, &got)
	for _, p := range got.Problems {
		t.Error(p)
	}
	for name, want := range map[string]string{
		"stranger": "401", "home": "Overview", "linkTwice": "this sign-in link was used already or is too old",
		"passkeyWrongPin": "That was refused",
		"passkey":         "The passkey is registered.", "emptyInbox": "Nothing waits for you", "approved": "Approved. It may run once.",
		"afterApprove": "200",
		"rework":       "Sent back.", "afterRework": "[403 true]", "verdict": "owner sent it back",
		"cookieAlone": "this needs you: a passkey or the PIN — answer with your passkey, or type the PIN", "wrongPin": "the PIN is wrong",
		"otherVerdict": "the passkey answered another question, or too late — try again",
		"otherDigest":  "the passkey answered another question, or too late — try again",
		"stillPending": "pending", "rightVerdict": "done", "apiWithCookie": "403", "replay": "true", "replayAsItWas": "true",
		"put": "The key was stored.", "odd": "U+202E", "staleEdit": "That was refused",
		"found": "1", "payload": "true", "proof": "The proof holds", "explained": "A person must approve", "actor": "builder",
		"tabs": "true", "denied": "403", "allowedAgain": "200", "check": "Nothing was changed", "minted": "200", "said": "true",
		"sessionRow": "done", "providers": "needs no key",
		"spaceCards": "Members, Safety phrase, Variables, Leased files, Findings, Leave, What happened, Join a space, Open a space, " +
			"Hosted on this machine, Seats on this machine", "hosted": "done", "hostedWords": "false",
		"noSpace": "You are in no space", "task": "Look into <b>it</b>", "mail": "That was not sent", "revoked": "401", "signedOut": "401",
	} {
		if s := fmt.Sprint(got.Seen[name]); s != want {
			t.Errorf("%s: %q, want %q", name, s, want)
		}
	}
	t.Logf("an ask appeared after %v ms", got.Seen["liveMs"])

	log := h.do(t, "audit.log", "", map[string]any{"type": "approval.decide", "phase": "done"})
	var with []string
	for _, e := range log["entries"].([]any) {
		with = append(with, e.(map[string]any)["payload"].(map[string]any)["present"].(string))
	}
	if got := strings.Join(with, " "); got != "passkey pin passkey passkey" {
		t.Errorf("the journal says decisions were made with %q", got)
	}
}
