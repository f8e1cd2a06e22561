package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// agentName is what a client calls itself when it introduces itself.
func agentName(line []byte) string {
	var m struct {
		Method string `json:"method"`
		Params struct {
			Client struct {
				Name    string `json:"name"`
				Version string `json:"version"`
			} `json:"clientInfo"`
		} `json:"params"`
	}
	if json.Unmarshal(line, &m) != nil || m.Method != "initialize" {
		return ""
	}
	return printable(m.Params.Client.Name + " " + m.Params.Client.Version)
}

// modelOf is the model that works in the agent, as far as the agent program
// shows it when it calls a tool: Codex says it in the call, Claude Code in its
// transcript, and where neither does, its environment may name one.
func modelOf(line []byte, getenv func(string) string) string {
	var m struct {
		Method string `json:"method"`
		Params struct {
			Meta struct {
				Codex struct {
					Model string `json:"model"`
				} `json:"x-codex-turn-metadata"`
			} `json:"_meta"`
		} `json:"params"`
	}
	if json.Unmarshal(line, &m) != nil || m.Method != "tools/call" {
		return ""
	}
	if v := m.Params.Meta.Codex.Model; v != "" {
		return printable(v)
	}
	if v := transcriptModel(getenv); v != "" {
		return printable(v)
	}
	return printable(getenv("ANTHROPIC_MODEL"))
}

var (
	conversation = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Za-z-]{8,64}$`) })
	said         = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"model":"([^"\\<>]{1,100})"`) })
)

// transcriptModel reads the last model that answered from the end of Claude
// Code's own record of the conversation.
func transcriptModel(getenv func(string) string) string {
	id, dir := getenv("CLAUDE_CODE_SESSION_ID"), getenv("CLAUDE_CONFIG_DIR")
	if dir == "" {
		dir = filepath.Join(getenv("HOME"), ".claude")
	}
	if !conversation().MatchString(id) || !filepath.IsAbs(dir) {
		return ""
	}
	found, err := filepath.Glob(filepath.Join(dir, "projects", "*", id+".jsonl"))
	if err != nil || len(found) == 0 {
		return ""
	}
	f, err := os.Open(found[0])
	if err != nil {
		return ""
	}
	defer f.Close()
	const tail = 64 << 10
	if st, err := f.Stat(); err == nil && st.Size() > tail {
		if _, err := f.Seek(-tail, io.SeekEnd); err != nil {
			return ""
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, tail))
	if err != nil {
		return ""
	}
	lines := bytes.Split(data, []byte("\n"))
	for i := len(lines) - 1; i >= 0; i-- {
		if m := said().FindSubmatch(lines[i]); m != nil && bytes.Contains(lines[i], []byte(`"type":"assistant"`)) {
			return string(m[1])
		}
	}
	return ""
}

// printable is what may travel in a header.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, strings.TrimSpace(s))
}
