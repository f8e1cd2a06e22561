package terminal_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/internal/testenv"
)

// chat is a chat app: it starts tandem mcp and calls tools.
type chat struct {
	h    *house
	conn *mcp.ClientSession
	mu   sync.Mutex
	told []string
}

func (h *house) chat(flags ...string) *chat {
	h.t.Helper()
	c := &chat{h: h}
	cmd := exec.Command(testenv.Tandem(h.t), append([]string{"mcp"}, flags...)...)
	cmd.Env, cmd.Dir = h.env, h.project
	app := mcp.NewClient(&mcp.Implementation{Name: "chat", Version: "1"},
		&mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.told = append(c.told, r.Params.Message)
		}})
	conn, err := app.Connect(h.t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { conn.Close() })
	c.conn = conn
	return c
}

// tool calls a tool; what it answers is read into out. It returns the text of a refusal.
func (c *chat) tool(name string, args map[string]any, out any) string {
	c.h.t.Helper()
	p := &mcp.CallToolParams{Name: name, Arguments: args}
	p.SetProgressToken("p-" + name)
	ctx, cancel := context.WithTimeout(c.h.t.Context(), 2*time.Minute)
	defer cancel()
	res, err := c.conn.CallTool(ctx, p)
	if err != nil {
		c.h.t.Fatalf("%s: %v", name, err)
	}
	text := res.Content[0].(*mcp.TextContent).Text
	if res.IsError {
		return text
	}
	if err := json.Unmarshal([]byte(text), out); err != nil {
		c.h.t.Fatalf("%s answered %s: %v", name, text, err)
	}
	return ""
}

// said calls a tool that answers with words; the facts in them are read into out. It returns the text of what is no plain answer.
func (c *chat) said(name string, args map[string]any, out any) string {
	c.h.t.Helper()
	res, err := c.conn.CallTool(c.h.t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return err.Error()
	}
	text := res.Content[0].(*mcp.TextContent).Text
	if res.IsError || strings.HasPrefix(text, "pending:") {
		return text
	}
	if data, err := json.Marshal(res.StructuredContent); out != nil && (err != nil || json.Unmarshal(data, out) != nil) {
		return string(data)
	}
	return ""
}

type sent struct {
	Status, Report, Signal, State string
	Idle                          bool
	Cursor                        int64
}

// The six tools as a chat app uses them, with the seed's arguments; the wait is bounded by TANDEM_WAIT_MS from .env, and the app
// hears how the turn goes while it waits.
func TestAChatAppDrivesASession(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "TANDEM_WAIT_MS=", "TANDEM_CWD_ALLOWLIST=")
	h.stop(os.Interrupt)
	other := filepath.Join(h.dir, "home", "other")
	h.write("home/other/x", "")
	h.write("home/elsewhere/x", "")
	h.write("home/.tandem/.env", "TANDEM_WAIT_MS=4000\nTANDEM_CWD_ALLOWLIST="+h.project+":"+other+"\nTANDEM_DEFAULT_CWD="+other+"\n")
	h.start()
	c := h.chat()
	if i := c.conn.InitializeResult().Instructions; !strings.Contains(i, `"start tandem"`) || !strings.Contains(i, `"check"`) {
		t.Errorf("instructions: %s", i)
	}
	var seat struct{ Name, State, Cwd, Attach string }
	if said := c.tool("open_session", map[string]any{"cwd": h.project, "name": "s1", "agent": "claude", "model": "sonnet", "effort": "low"},
		&seat); said != "" {
		t.Fatal(said)
	}
	want(t, "attach", seat.Attach, "tmux -S "+filepath.Join(h.dir, "tmux.sock")+" attach -t ccm-s1")
	for args, refusal := range map[string]string{
		`{"name":"x","model":"gpt"}`: "haiku", `{"name":"x","effort":"huge"}`: "xhigh",
		`{"name":"x","cwd":"` + filepath.Join(h.dir, "home", "elsewhere") + `"}`: "TANDEM_CWD_ALLOWLIST",
		`{"name":"x","cwd":"` + h.project + `/../elsewhere"}`:                    "TANDEM_CWD_ALLOWLIST", `{"name":"relay-x"}`: "relay",
		`{"name":"x","agent":"parrot"}`: "parrot",
	} {
		var in map[string]any
		if err := json.Unmarshal([]byte(args), &in); err != nil {
			t.Fatal(err)
		}
		if said := c.tool("open_session", in, &seat); !strings.Contains(said, refusal) {
			t.Errorf("open_session %s: %q", args, said)
		}
	}
	h.eventually("it is ready", func() bool { return h.seat("s1").State == "ready" })
	var out sent
	if said := c.tool("send_to_session", map[string]any{"name": "s1", "text": "hello [[say good morning]]"}, &out); said != "" {
		t.Fatal(said)
	}
	for !out.Idle {
		c.tool("send_to_session", map[string]any{"name": "s1", "cursor": out.Cursor}, &out)
	}
	want(t, "status", out.Status, "done")
	if !strings.Contains(out.Report, "good morning") || out.Signal == "" {
		t.Errorf("%+v", out)
	}
	begun := time.Now()
	c.tool("send_to_session", map[string]any{"name": "s1", "text": "take your time [[slow 7]]"}, &out)
	want(t, "status", out.Status, "running")
	if took := time.Since(begun); took < 3*time.Second || took > time.Minute {
		t.Errorf("a bounded wait of 4 s took %s", took)
	}
	c.mu.Lock()
	if told := strings.Join(c.told, "|"); !strings.Contains(told, "working") {
		t.Errorf("progress: %q", told)
	}
	c.mu.Unlock()
	for polls := 0; !out.Idle; polls++ {
		if polls > 30 {
			t.Fatalf("never idle: %+v", out)
		}
		c.tool("send_to_session", map[string]any{"name": "s1", "cursor": out.Cursor}, &out)
	}
	want(t, "status", out.Status, "done")
	c.tool("send_to_session", map[string]any{"name": "s1", "text": "wait [[slow 60]]"}, &out)
	c.tool("interrupt_session", map[string]any{"name": "s1"}, &out)
	want(t, "status", out.Status, "interrupted")
	var list struct {
		Sessions []struct{ Name, State string }
	}
	c.tool("list_sessions", map[string]any{}, &list)
	if len(list.Sessions) != 1 || list.Sessions[0].Name != "s1" {
		t.Errorf("%+v", list)
	}
	c.tool("close_session", map[string]any{"name": "s1"}, &seat)
	want(t, "state", seat.State, "closed")
	if said := c.tool("send_to_session", map[string]any{"name": "s1", "text": "x"}, &out); !strings.Contains(said, "not live") {
		t.Errorf("send to a closed session: %q", said)
	}
	if said := c.tool("relay", map[string]any{"action": "read", "loopId": "loop_nobody"}, &out); !strings.Contains(said, "there is no relay") {
		t.Errorf("relay: %q", said)
	}
}
