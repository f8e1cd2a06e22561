package freeze

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/client"
	"tandem/internal/testenv"
)

const (
	apiToken = "tk_0123456789abcdef0123456789abcdef"
	pin      = "135790"
)

// house is the real program, running on a data folder of its own.
type house struct {
	home, url string
	socket    *client.Client
}

func start(t *testing.T, extra ...string) *house {
	t.Helper()
	home := testenv.Dir(t)
	cmd := exec.Command(testenv.Tandem(t), "serve", "--port", "0")
	cmd.Dir = home
	cmd.Env = append(testenv.Env(t), append([]string{"HOME=" + home, "TANDEM_API_TOKEN=" + apiToken}, extra...)...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
		if t.Failed() {
			t.Log(log.String())
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	h := &house{home: home, socket: client.Socket(filepath.Join(home, ".tandem", "tandem.sock"))}
	if err := h.socket.Healthy(ctx); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	var status struct{ Listen string }
	h.call(t, h.socket, "server.status", nil, &status)
	h.url = "http://" + status.Listen
	return h
}

func (h *house) call(t *testing.T, c *client.Client, name string, in, out any) {
	t.Helper()
	if in == nil {
		in = map[string]any{}
	}
	if err := c.Call(t.Context(), name, in, out); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// ask sends a request with the API's token, or another one.
func (h *house) ask(t *testing.T, bearer, method, path string, body any) (int, []byte) {
	t.Helper()
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), method, h.url+path, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+bearer)
	req.Header.Set("Content-Type", "application/json")
	if path == "/mcp" && method == "POST" {
		req.Header.Set("Accept", "application/json, text/event-stream")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	if _, sse, ok := strings.Cut(string(answer), "data: "); ok && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		answer = []byte(sse)
	}
	return resp.StatusCode, answer
}

// tandem runs a command of the program and returns its exit code and what it printed.
func (h *house) tandem(t *testing.T, env []string, words ...string) (int, string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testenv.Tandem(t), words...)
	cmd.Dir, cmd.Env = h.home, append(append(testenv.Env(t), "HOME="+h.home), env...)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}
