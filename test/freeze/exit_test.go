package freeze

import (
	"fmt"
	"strings"
	"testing"

	"tandem/internal/fault"
)

// Exit codes are an interface of scripts: 0 done, 1 failed, 2 wrong usage, 8 waiting for an approval.
func TestFrozenExitCodes(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.call(t, h.socket, "pin.set", map[string]any{"pin": pin}, nil)
	present := h.socket.WithPIN(pin)
	h.call(t, present, "actor.add", map[string]any{"name": "builder", "kind": "agent"}, nil)
	var minted struct{ Secret string }
	h.call(t, present, "token.new", map[string]any{"actor": "builder"}, &minted)
	h.call(t, present, "grant.add", map[string]any{"principal": "agent:builder", "resource": "resource:/prod", "effect": "ask",
		"permissions": []string{"edit"}}, nil)
	var lines strings.Builder
	for _, line := range []string{
		"version", "status", "settings", "--help", "session --help", "resource list", "session list", "jj version", "jj help", "jj help log",
		"nosuch", "--nosuch", "session nosuch", "session list --nosuch", "session show", "resource get", "resource get a b",
		"jj nosuch", "jj log --nosuch", "jj log", "jj root",
		"resource get no/such", "session show ses_nosuch", "approvals show ask_nosuch", "token list", "board show nosuch",
		"--data /nowhere/at/all status", "--control-socket /nowhere/at/all resource list", "--env-file /nowhere status",
		"resource put a/b 1",
	} {
		code, _ := h.tandem(t, nil, strings.Fields(line)...)
		fmt.Fprintf(&lines, "%d tandem %s\n", code, line)
	}
	for _, line := range []string{"resource put prod/flag 1", "approvals", "approvals approve", "token list", "whoami"} {
		code, _ := h.tandem(t, []string{"TANDEM_AS_TOKEN=" + minted.Secret}, strings.Fields(line)...)
		fmt.Fprintf(&lines, "%d tandem %s (an agent)\n", code, line)
	}
	code, _ := h.tandem(t, []string{"TANDEM_AS_TOKEN=tdm_nobody_has_this_token"}, "resource", "list")
	fmt.Fprintf(&lines, "%d tandem resource list (a stranger)\n", code)
	var kinds strings.Builder
	for k := fault.Internal; ; k++ {
		if k > fault.Internal && k.String() == fault.Internal.String() {
			break
		}
		fmt.Fprintf(&kinds, "%d %s %d\n", k, k, k.Status())
	}
	Check(t, "exit", map[string]string{"codes.txt": lines.String(), "faults.txt": kinds.String()})
}
