package agents

import (
	"slices"
	"strings"
	"testing"
)

// A program sees what it needs of tandem's environment, and none of the keys in it but its own. On a stage it sees no key at all.
func TestEnvironmentIsPicked(t *testing.T) {
	from := []string{"HOME=/h", "PATH=/bin", "LC_ALL=C", "ANTHROPIC_API_KEY=a", "OPENAI_API_KEY=o", "TANDEM_TOKEN=t",
		"AWS_SECRET_ACCESS_KEY=s", "GITHUB_TOKEN=g", "HTTPS_PROXY=p", "LD_PRELOAD=l", "NOT_LC_ALL=n"}
	for agent, keys := range map[string]string{ClaudeName: "ANTHROPIC_API_KEY", CodexName: "OPENAI_API_KEY",
		OpenCodeName: "ANTHROPIC_API_KEY OPENAI_API_KEY"} {
		want := append([]string{"TERM", "COLORTERM", "HOME", "PATH", "LC_ALL"}, append(strings.Fields(keys), "HTTPS_PROXY", "MORE")...)
		if got := names(Environment(agent, from, "MORE=1")); !slices.Equal(got, want) {
			t.Errorf("%s sees %v, not %v", agent, got, want)
		}
		staged := strings.Join(Stage{Home: "/stage", Base: "http://127.0.0.1:1"}.Environment(agent, from), " ")
		for _, bad := range []string{"HOME=/h ", "=a ", "=o ", "=t ", "=s ", "=g ", "=p "} {
			if strings.Contains(staged+" ", bad) {
				t.Errorf("%s sees on its stage %s", agent, staged)
			}
		}
	}
}

func names(env []string) (out []string) {
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		out = append(out, name)
	}
	return out
}

// What a person gives the commands of a folder does not move a program's state, load anything into it, or change its door.
func TestWhatSteersAProgram(t *testing.T) {
	for _, agent := range Names {
		for _, name := range []string{"HOME", "XDG_DATA_HOME", "TANDEM_SESSION_SOCKET", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCODE_CONFIG",
			"NODE_OPTIONS"} {
			if !Steers(agent, name) {
				t.Errorf("%s: %s can be set", agent, name)
			}
		}
		for _, name := range []string{"PATH", "LANG", "GOCACHE", "CI", "HOMEBREW_PREFIX", "CARGO_HOME"} {
			if Steers(agent, name) {
				t.Errorf("%s: %s cannot be set", agent, name)
			}
		}
	}
	if !Steers(ClaudeName, "ANTHROPIC_BASE_URL") || !Steers(CodexName, "OPENAI_BASE_URL") {
		t.Error("a program's model can be moved")
	}
}
