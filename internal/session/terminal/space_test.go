package terminal_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/approval"
	"tandem/internal/session/agents"
	"tandem/internal/space/peer"
	"tandem/internal/testenv"
)

// Messages of a space reach two real Claude Codes in their terminals: one that
// tandem opened, one that a person started in a project with tandem's hooks.
// Idle, a message wakes them and is known to be surfaced by the prompt that
// carries its id; busy, it is folded into the running turn, the tool goes on,
// and the transcript tells. A wake says ids and no words, and a half-typed
// draft stays.
func TestMailWakesRealAgents(t *testing.T) {
	h := newHouse(t)
	var made peer.Created
	h.call("space.rename", peer.RenameIn{Name: "person"}, nil)
	h.call("space.create", peer.CreateIn{Name: "wakes"}, &made)
	code := func() string {
		var inv peer.Invited
		h.call("space.invite", peer.InviteIn{}, &inv)
		return inv.Code
	}
	send := func(to, words string) string {
		var said peer.Said
		h.call("space.send", peer.SendIn{Type: "question", Message: words, To: to}, &said)
		return said.ID
	}
	reached := func(id, who string) string {
		var r peer.Receipt
		h.call("space.receipt", peer.ReceiptIn{ID: id}, &r)
		return r.Peers[who]
	}
	woken := func(id string) bool {
		for _, q := range h.model.Requests() {
			if strings.Contains(string(q.Body), id+": call intandem_inbox") {
				return true
			}
		}
		return false
	}
	wakes := func(who string) string {
		t.Helper()
		id := send(who, "words that are not in a wake")
		h.eventually("the message wakes "+who, func() bool { return woken(id) })
		h.eventually("it is known to be surfaced", func() bool { return reached(id, who) == "surfaced" })
		for _, q := range h.model.Requests() {
			if strings.Contains(string(q.Body), id) && strings.Contains(string(q.Body), "words that are not in a wake") {
				t.Error("the wake carries words")
			}
		}
		return id
	}

	t.Run("a session that tandem opened", func(t *testing.T) {
		h.open("a")
		for _, call := range []string{fmt.Sprintf(`intandem_join {"code":%q}`, made.Code), `intandem_rename {"name":"opened"}`} {
			h.send("a", "work [[tool mcp__tandem__"+call+"]] [[result]]")
		}
		h.eventually("it waits for a prompt", func() bool { return h.seat("a").State == "ready" })
		h.tmux("send-keys", "-l", "-t", "=ccm-a:", "half a thought")
		h.eventually("a draft stands", func() bool { return strings.Contains(h.shown("a"), "half a thought") })
		wakes("opened")
		if !strings.Contains(h.shown("a"), "half a thought") {
			t.Errorf("the draft is gone:\n%s", h.shown("a"))
		}
		h.tmux("send-keys", "-t", "=ccm-a:", "C-u")
		h.eventually("it waits again", func() bool {
			s := h.seat("a")
			return s.State == "ready" && !strings.Contains(h.shown("a"), "half a thought")
		})

		out := h.begin("a", `[[tool Bash {"command":"touch begun.txt; sleep 3; echo ran > ran.txt","description":"wait"}]] [[say went on]]`)
		h.decide(approval.Approve, "")
		h.eventually("the command begins", func() bool { _, err := os.Stat(filepath.Join(h.project, "begun.txt")); return err == nil })
		id := send("opened", "while you are busy")
		if out = h.ended("a", out.Cursor); !strings.Contains(out.Report, "went on") {
			t.Errorf("%+v", out)
		}
		if _, err := os.Stat(filepath.Join(h.project, "ran.txt")); err != nil {
			t.Errorf("the running tool was cancelled: %v", err)
		}
		h.eventually("the folded message is known to be surfaced", func() bool { return reached(id, "opened") == "surfaced" })
	})

	t.Run("a channel", func(t *testing.T) {
		cmd := exec.Command(testenv.Tandem(t), "mcp", "--channel")
		cmd.Dir, cmd.Env = h.project, h.env
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { in.Close(); cmd.Wait() }()
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 4<<20)
		until := func(want string) string {
			t.Helper()
			for lines.Scan() {
				if strings.Contains(lines.Text(), want) {
					return lines.Text()
				}
			}
			t.Fatalf("%q never came", want)
			return ""
		}
		fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo`+
			`":{"name":"test","version":"1"}}}`)
		until(`"experimental":{"claude/channel":{}}`)
		fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		for i, call := range []string{fmt.Sprintf(`"intandem_join","arguments":{"code":%q}`, code()),
			`"intandem_rename","arguments":{"name":"listener"}`} {
			fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%s}}`+"\n", i+2, call)
			until(fmt.Sprintf(`"id":%d,`, i+2))
		}
		id := send("listener", "words that are not in a wake")
		if said := until("notifications/claude/channel"); !strings.Contains(said, id) || strings.Contains(said, "words that are") {
			t.Error(said)
		}
		if how := reached(id, "listener"); how != "stored" { // nobody knows whether a channel was heard
			t.Errorf("the message is %s", how)
		}
	})

	t.Run("a program that a person started", func(t *testing.T) {
		dir := filepath.Join(h.dir, "home", "hers")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		init := h.tandem(dir, "space", "init", "--hooks")
		if !strings.Contains(init, "messages wake an idle agent") {
			t.Fatal(init)
		}
		trust := agents.Claude{Project: dir, Config: filepath.Join(h.dir, "home", ".claude")}
		if _, err := trust.Trust(t.Context(), filepath.Join(h.dir, "home")); err != nil {
			t.Fatal(err)
		}
		line := []string{"new-session", "-d", "-s", "hers", "-x", "160", "-y", "50", "-c", dir, "env", "-i"}
		line = append(line, h.env...)
		line = append(line, testenv.Tool(t, "claude"), "--allowedTools", "mcp__intandem")
		h.tmux(line...)
		shown := func() string { return h.tmux("capture-pane", "-p", "-t", "=hers:") }
		h.eventually("she is asked about the server", func() bool { return strings.Contains(shown(), "1. Use this MCP server") })
		h.tmux("send-keys", "-t", "=hers:", "Enter")
		say := func(text string) {
			t.Helper()
			h.eventually("an empty input box", func() bool { return strings.Contains(shown(), "? for shortcuts") })
			h.eventually("the text stands there", func() bool { // what is typed too early is dropped
				if !strings.Contains(shown(), text[len(text)-15:]) {
					h.tmux("send-keys", "-l", "-t", "=hers:", text)
				}
				return testenv.Within(2*time.Second, func() bool { return strings.Contains(shown(), text[len(text)-15:]) })
			})
			h.tmux("send-keys", "-t", "=hers:", "Enter")
		}
		seated := func(name string) func() bool {
			return func() bool {
				var p peer.Peers
				h.call("space.peers", nil, &p)
				for _, m := range p.Peers {
					if m.Username == name {
						return true
					}
				}
				return false
			}
		}
		done := false
		defer func() {
			if !done {
				t.Log(shown())
			}
		}()
		say(fmt.Sprintf(`[[tool mcp__intandem__intandem_join {"code":%q}]] [[tool mcp__intandem__intandem_rename {"name":"hers"}]] [[say in]]`,
			code()))
		h.eventually("it sits in the space", seated("hers"))
		h.eventually("its turn is over", func() bool { return strings.Contains(shown(), "● in") })
		id := wakes("hers")
		say(`[[tool mcp__intandem__intandem_inbox {}]] [[say read it]]`)
		h.eventually("it is read", func() bool { return reached(id, "hers") == "read" })
		done = true
	})
}

// A message wakes a real Codex that tandem opened, though it has no hook for it:
// tandem prompts it through its app-server with the fixed sentence. A draft
// stays; a running tool goes on, and the prompt follows when its turn is over.
// When the wakes of the hour are used up, the sender is told.
func TestMailWakesACodexThatTandemOpened(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t, "TANDEM_WAKES_PER_HOUR=2")
	var made peer.Created
	h.call("space.rename", peer.RenameIn{Name: "person"}, nil)
	h.call("space.create", peer.CreateIn{Name: "wakes"}, &made)
	h.openAs("a", "codex")
	if out := h.send("a", fmt.Sprintf(`[[tool mcp__tandem/intandem_join {"code":%q}]] [[tool mcp__tandem/intandem_rename `+
		`{"name":"opened"}]] [[tool mcp__tandem/intandem_share {"file":"a.txt"}]] [[say in]]`, made.Code)); !strings.Contains(out.Report, "in") {
		t.Fatalf("%+v\n%s", out, h.shown("a"))
	}
	send := func(words string) string {
		t.Helper()
		var said peer.Said
		h.call("space.send", peer.SendIn{Type: "question", Message: words, To: "opened"}, &said)
		return said.ID
	}
	reached := func(id string) string {
		var r peer.Receipt
		h.call("space.receipt", peer.ReceiptIn{ID: id}, &r)
		return r.Peers["opened"]
	}
	prompts := func(id string) (n int) {
		for _, q := range h.model.Requests() {
			if strings.Contains(q.Prompt, id+": call intandem_inbox") && q.Call == 0 {
				n++
			}
		}
		return n
	}
	var peers peer.Peers
	h.call("space.peers", nil, &peers)
	if !strings.Contains(peers.Text, "Agent: codex-mcp-client") || !strings.Contains(peers.Text, "Model: scripted-1") ||
		!strings.Contains(peers.Text, "Working directory: "+h.project) {
		t.Errorf("what it brings is not announced:\n%s", peers.Text)
	}

	var box peer.Inbox
	if h.call("space.inbox", peer.InboxIn{}, &box); !strings.Contains(box.Text, "hello from a file") {
		t.Errorf("what it shared did not arrive:\n%s", box.Text)
	}

	h.tmux("send-keys", "-l", "-t", "=ccm-a:", "half a thought")
	h.eventually("a draft stands", func() bool { return strings.Contains(h.shown("a"), "half a thought") })
	id := send("words that are not in a wake")
	h.eventually("the message wakes it", func() bool { return prompts(id) == 1 })
	h.eventually("it is known to be surfaced", func() bool { return reached(id) == "surfaced" })
	if !strings.Contains(h.shown("a"), "half a thought") {
		t.Errorf("the draft is gone:\n%s", h.shown("a"))
	}
	h.tmux("send-keys", "-t", "=ccm-a:", "C-u")

	out := h.begin("a", execute("sleep 3; echo ran > ran.txt")+" [[say went on]]")
	h.decide(approval.Approve, "")
	id = send("while you are busy")
	if out = h.ended("a", out.Cursor); !strings.Contains(out.Report, "went on") {
		t.Errorf("%+v", out)
	}
	if _, err := os.Stat(filepath.Join(h.project, "ran.txt")); err != nil {
		t.Errorf("the running tool was cancelled: %v", err)
	}
	h.eventually("the message follows the turn", func() bool { return prompts(id) == 1 && reached(id) == "surfaced" })
	for _, q := range h.model.Requests() {
		if strings.Contains(string(q.Body), "words that are not") || strings.Contains(string(q.Body), "while you are busy") {
			t.Error("a wake carries words")
		}
	}

	id = send("beyond the budget")
	h.eventually("the sender is told that it waits", func() bool { return reached(id) == "waiting" })
	if prompts(id) != 0 {
		t.Error("it was woken beyond the budget")
	}
}

// wakesOpenCode has a real OpenCode that tandem opened join a space. A message
// wakes it through its own server with the fixed sentence, is known to be
// surfaced, and leaves the draft of whoever is at the terminal alone.
func wakesOpenCode(t *testing.T, h *house, name string) {
	t.Helper()
	var made peer.Created
	h.call("space.rename", peer.RenameIn{Name: "person"}, nil)
	h.call("space.create", peer.CreateIn{Name: "wakes"}, &made)
	out := h.begin(name, fmt.Sprintf(`[[tool tandem_intandem_join {"code":%q}]] [[tool tandem_intandem_rename {"name":"opened"}]] [[say in]]`,
		made.Code))
	h.decide(approval.Approve, "")
	h.decide(approval.Approve, "")
	if out = h.ended(name, out.Cursor); !strings.Contains(out.Report, "in") {
		t.Fatalf("%+v\n%s", out, h.shown(name))
	}
	var peers peer.Peers
	if h.call("space.peers", nil, &peers); !strings.Contains(peers.Text, "Agent: opencode") ||
		!strings.Contains(peers.Text, "Working directory: "+h.project) {
		t.Errorf("what it brings is not announced:\n%s", peers.Text)
	}
	h.tmux("send-keys", "-l", "-t", "=ccm-"+name+":", "half a thought")
	h.eventually("a draft stands", func() bool { return strings.Contains(h.shown(name), "half a thought") })
	var said peer.Said
	h.call("space.send", peer.SendIn{Type: "question", Message: "words that are not in a wake", To: "opened"}, &said)
	h.eventually("the message wakes it", func() bool { return h.prompts(said.ID+": call intandem_inbox") > 0 })
	h.eventually("it is known to be surfaced", func() bool {
		var r peer.Receipt
		h.call("space.receipt", peer.ReceiptIn{ID: said.ID}, &r)
		return r.Peers["opened"] == "surfaced"
	})
	for _, q := range h.model.Requests() {
		if strings.Contains(string(q.Body), "words that are not") {
			t.Error("a wake carries words")
		}
	}
	h.eventually("its turn is over", func() bool { return h.seat(name).State == "ready" })
	if !strings.Contains(h.shown(name), "half a thought") {
		t.Errorf("the draft is gone:\n%s", h.shown(name))
	}
	h.tmux("send-keys", "-t", "=ccm-"+name+":", "C-u")
}
