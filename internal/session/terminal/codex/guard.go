package codex

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"time"

	"tandem/internal/session/agents"
)

// Guard asks the program what it calls the hook that runs before its tools: it runs only hooks whose hash it was told to
// trust. A version that does not know the hook is not driven. start makes the command in the box of the session: the program reads
// settings that can name commands of their own.
func Guard(ctx context.Context, c agents.Codex, start func(ctx context.Context, argv []string) (*exec.Cmd, func(), error)) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd, done, err := start(ctx, append([]string{c.Program, "app-server", "--listen", "stdio://"}, c.Flags()...))
	if err != nil {
		return "", err
	}
	defer done()
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	defer func() {
		in.Close()
		cancel()
		_ = cmd.Wait() // it was told to end
	}()
	for _, m := range []message{
		{ID: json.RawMessage("1"), Method: "initialize",
			Params: json.RawMessage(`{"clientInfo":{"name":"tandem","title":"tandem","version":"1"}}`)},
		{Method: "initialized"},
		{ID: json.RawMessage("2"), Method: "hooks/list", Params: params(map[string]any{"cwds": []string{c.Project}})},
	} {
		data, err := json.Marshal(m)
		if err != nil {
			return "", err
		}
		if _, err := in.Write(append(data, '\n')); err != nil {
			return "", err
		}
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var m message
		if json.Unmarshal(lines.Bytes(), &m) != nil || string(m.ID) != "2" {
			continue
		}
		if m.Error != nil {
			return "", m.Error
		}
		var list struct {
			Data []struct {
				Hooks []struct {
					Key  string `json:"key"`
					Hash string `json:"currentHash"`
				} `json:"hooks"`
			} `json:"data"`
		}
		if err := json.Unmarshal(m.Result, &list); err != nil {
			return "", err
		}
		for _, d := range list.Data {
			for _, h := range d.Hooks {
				if h.Key == agents.GuardKey && h.Hash != "" {
					return h.Hash, nil
				}
			}
		}
		return "", fmt.Errorf("it does not list the hook %s", agents.GuardKey)
	}
	if err := lines.Err(); err != nil {
		return "", err
	}
	return "", fmt.Errorf("it ended without an answer")
}

func params(v any) json.RawMessage {
	data, _ := json.Marshal(v) // maps of strings always encode
	return data
}
