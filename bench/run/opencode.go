package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"tandem/internal/provider"
	"tandem/internal/provider/openai"
	"tandem/internal/provider/scripted"
)

// peerResult is what the measurement inside the namespace prints.
type peerResult struct{ Turn, Bare time.Duration }

// openCode measures OpenCode's server, in a network namespace that has nothing but loopback: it looks up names on its own. why says
// why it was not measured.
func openCode() (turn, bare time.Duration, why string, err error) {
	root := os.Getenv("TANDEM_TEST_TOOLS")
	if root == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return 0, 0, "", err
		}
		root = filepath.Join(home, ".cache", "tandem-test")
	}
	bin := filepath.Join(root, "npm", "node_modules", "opencode-ai", "bin", "opencode.exe")
	if _, err := os.Stat(bin); err != nil {
		return 0, 0, "it is not installed: make test-tools", nil
	}
	if _, err := exec.LookPath("unshare"); err != nil {
		return 0, 0, "this machine has no network namespaces", nil
	}
	self, err := os.Executable()
	if err != nil {
		return 0, 0, "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "-rn", "sh", "-c", `ip link set lo up && exec "$0" "$@"`, self, "-opencode", bin)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		return 0, 0, fmt.Sprintf("it did not answer here: %v %.200s", err, said.String()), nil
	}
	var r peerResult
	err = json.Unmarshal(out.Bytes(), &r)
	return r.Turn, r.Bare, "", err
}

// insideOpenCode is the other side of openCode.
func insideOpenCode(bin string) error {
	model := &scripted.Server{}
	if err := model.Start("127.0.0.1:0"); err != nil {
		return err
	}
	defer model.Close()
	dir, err := os.MkdirTemp("", "tb")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	config := filepath.Join(dir, ".config", "opencode")
	if err := os.MkdirAll(config, 0o700); err != nil {
		return err
	}
	text := fmt.Sprintf(`{"model":"scripted/scripted-1","small_model":"scripted/scripted-1","autoupdate":false,"share":"disabled","provider`+
		`":{"scripted":{"npm":"@ai-sdk/openai-compatible","name":"Scripted",
"options":{"baseURL":"%s/v1","apiKey":"none"},"models":{"scripted-1":{"name":"Scripted","tool_call":true,"limit":{"context":100000,"outp`+
		`ut":8000}}}}}}`, model.URL())
	if err := os.WriteFile(filepath.Join(config, "opencode.json"), []byte(text), 0o600); err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	cmd := exec.Command(bin, "serve", "--hostname", "127.0.0.1", "--port", fmt.Sprint(port))
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = []string{"HOME=" + dir, "PATH=/usr/local/bin:/usr/bin:/bin", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
		"OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1"}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	base := fmt.Sprintf("http://127.0.0.1:%d", port)
	patient := &http.Client{Timeout: 30 * time.Second}
	post := func(path string, in, out any) error {
		body, err := json.Marshal(in)
		if err != nil {
			return err
		}
		resp, err := patient.Post(base+path, "application/json", bytes.NewReader(body))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode/100 != 2 {
			return errors.Join(err, fmt.Errorf("%s: %s %.300s", path, resp.Status, data))
		}
		return json.Unmarshal(data, out)
	}
	var s struct{ ID string }
	for end := time.Now().Add(40 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if err = post("/session", obj{}, &s); err == nil || time.Now().After(end) {
			break
		}
	}
	if err != nil {
		return err
	}
	direct := openai.New(openai.Options{Base: model.URL() + "/v1", Wire: openai.Chat})
	prompt := obj{"parts": []obj{{"type": "text", "text": "[[say hello]]"}}, "model": obj{"providerID": "scripted", "modelID": "scripted-1"}}
	var r peerResult
	var turns, bare []time.Duration
	for i := range 25 {
		began := time.Now()
		if _, err := direct.Stream(context.Background(),
			provider.Request{Model: "scripted-1", Messages: []provider.Message{provider.TextMessage(provider.User, "[[say hello]]")}},
			nil); err != nil {
			return err
		}
		b := time.Since(began)
		began = time.Now()
		var answer json.RawMessage
		if err := post("/session/"+s.ID+"/message", prompt, &answer); err != nil {
			return err
		}
		if !bytes.Contains(answer, []byte("hello")) {
			return fmt.Errorf("it answered %.300s", answer)
		}
		if i >= 5 {
			turns, bare = append(turns, time.Since(began)), append(bare, b)
		}
	}
	r.Turn, r.Bare = middle(turns), middle(bare)
	return json.NewEncoder(os.Stdout).Encode(r)
}
