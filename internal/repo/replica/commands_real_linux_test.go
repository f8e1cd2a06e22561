package replica

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/internal/provider/scripted"
	"tandem/internal/repo"
	"tandem/internal/session/agents"
	"tandem/internal/testenv"
)

// planted is a file that a program is to read, with a word in it that its model is to hear, or a file that appears when it was heard.
type planted struct{ path, text string }

// reader is a program that reads them.
type reader struct {
	name, agent, pkg string
	argv             []string
	plants           []planted
}

// real are the programs that we drive: the package in which each is installed, how it is run once, and what is planted for it. CANARY in a
// text is another word for each file; RAN is a file that is there when the text was obeyed.
var real = []reader{
	{"Claude Code", agents.ClaudeName, "@anthropic-ai/claude-code", []string{"-p", "hi [[say ok]]"}, []planted{
		{"CLAUDE.md", "CANARY"}, {"CLAUDE.local.md", "CANARY"}, {".claude/rules/one.md", "CANARY"},
		{".claude/skills/one/SKILL.md", "---\nname: one\ndescription: CANARY\n---\nx\n"},
		{".claude/agents/one.md", "---\nname: one\ndescription: CANARY\n---\nx\n"},
		{".claude/settings.json", `{"enableAllProjectMcpServers":true,
			"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"echo CANARY"}]}]}}`},
		{".mcp.json", `{"mcpServers":{"one":{"command":"touch","args":["RAN"]}}}`},
	}},
	{"Codex", agents.CodexName, "@openai/codex", []string{"exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "hi [[say ok]]"},
		[]planted{
			{"AGENTS.md", "CANARY"}, {"sub/AGENTS.override.md", "CANARY"}, {".codex/config.toml", `developer_instructions = "CANARY"`},
			{".agents/skills/one/SKILL.md", "---\nname: one\ndescription: CANARY\n---\nx\n"},
		}},
	{"OpenCode", agents.OpenCodeName, "opencode-ai", []string{"run"}, []planted{
		{"AGENTS.md", "CANARY"}, {"opencode.json", `{"agent":{"one":{"mode":"subagent","description":"CANARY"}}}`},
		{"opencode.jsonc", `{"agent":{"two":{"mode":"subagent","description":"CANARY"}}}`},
		{".opencode/agent/three.md", "---\ndescription: CANARY\nmode: subagent\n---\nx\n"},
		{".opencode/skill/one/SKILL.md", "---\nname: one\ndescription: CANARY\n---\nx\n"},
	}},
}

// Which files command a program is data that grows old: each program that we drive is run as it is installed, and what is planted in a
// project for it reaches its model, or is done. A newer program fails this until somebody looked what it reads, and wrote down its version.
// Codex and OpenCode look up names on their own, so each runs in a network that has nothing but loopback.
func TestProgramsReadWhatTheListSays(t *testing.T) {
	const inside = "TANDEM_TEST_NETNS"
	if os.Getenv(inside) == "" {
		t.Parallel()
		c := exec.CommandContext(t.Context(), "unshare", "-rn", "sh", "-c", `ip link set lo up && exec "$0" "$@"`, os.Args[0], "-test.run",
			"^"+t.Name()+"$", "-test.v", "-test.timeout", "10m")
		c.Env = append(os.Environ(), inside+"=1")
		out, err := c.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, r := range real {
		t.Run(r.name, func(t *testing.T) {
			var installed struct{ Version string }
			data, err := os.ReadFile(filepath.Join(testenv.NodeModules(t), r.pkg, "package.json"))
			if err != nil || json.Unmarshal(data, &installed) != nil {
				t.Fatal(err)
			}
			listed := programOf(t, r.name)
			if listed.asOf != installed.Version {
				t.Errorf("%s is %s, and the list of what it reads is as of %s: look what it reads now", r.name, installed.Version, listed.asOf)
			}
			if r.agent == agents.OpenCodeName && !testenv.Soak() {
				return // it takes its time to start
			}
			dir, err := os.MkdirTemp("/var/tmp", "reads") // Codex keeps nothing below /tmp
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			model := &scripted.Server{}
			if err := model.Start("127.0.0.1:0"); err != nil {
				t.Fatal(err)
			}
			defer model.Close()
			project := filepath.Join(dir, "project")
			words := map[string]string{}
			for i, p := range r.plants {
				words[p.path] = fmt.Sprintf("canary%dword", i)
				text := strings.NewReplacer("CANARY", words[p.path], "RAN", filepath.Join(dir, words[p.path])).Replace(p.text)
				put(t, filepath.Join(project, p.path), text)
				if !(commanding{}).Match(repo.Path(p.path)) {
					t.Errorf("%s reads %s, and it is not on the list", r.name, p.path)
				}
			}
			put(t, filepath.Join(project, "sub", "a.txt"), "a")
			put(t, filepath.Join(project, ".git", "HEAD"), "ref: refs/heads/main\n")
			stage := agents.Stage{Home: filepath.Join(dir, "home"), Base: model.URL()}
			if err := stage.Write(r.agent); err != nil {
				t.Fatal(err)
			}
			work := project
			if r.agent == agents.CodexName {
				work = filepath.Join(project, "sub")
				config := filepath.Join(stage.Home, ".codex", "config.toml")
				had, err := os.ReadFile(config)
				if err != nil {
					t.Fatal(err)
				}
				put(t, config, string(had)+fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"\n", project))
			}
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, testenv.Tool(t, r.agent), r.argv...)
			cmd.Dir, cmd.Env = work, stage.Environment(r.agent, os.Environ(), "IS_SANDBOX=1")
			cmd.Stdin = strings.NewReader("")
			if r.agent == agents.OpenCodeName {
				cmd.Stdin = strings.NewReader("hi [[say ok]]")
			}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, p := range r.plants {
				if _, err := os.Stat(filepath.Join(dir, words[p.path])); err != nil && !told(model, words[p.path]) {
					t.Errorf("%s %s does not read %s", r.name, installed.Version, p.path)
				}
			}
		})
	}
}

func told(model *scripted.Server, word string) bool {
	for _, q := range model.Requests() {
		if strings.Contains(string(q.Body), word) {
			return true
		}
	}
	return false
}

func programOf(t *testing.T, name string) program {
	t.Helper()
	for _, x := range commanded {
		if x.name == name {
			return x
		}
	}
	t.Fatalf("%s is not on the list", name)
	return program{}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Every program that we drive is run by the test above; of the others it is said that nobody ran them.
func TestEveryEntryIsDated(t *testing.T) {
	for _, x := range commanded {
		if driven := slices.ContainsFunc(real, func(r reader) bool { return r.name == x.name }); x.asOf == "" || driven == (x.asOf == unseen) {
			t.Errorf("%s: in which version was it looked up what it reads? %q", x.name, x.asOf)
		}
	}
}
