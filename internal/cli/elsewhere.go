package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
)

// elsewhere are the commands that take the server that the person is logged in at. The others are about this machine: its own server,
// its workspaces and repositories, its seats in spaces, the programs that are started on it.
var elsewhere = []string{"whoami", "invite", "person", "group", "device", "actor",
	"token", "approvals", "approve", "deny", "inbox", "grant", "policy", "audit",
	"secret", "session", "relay", "provider", "connector", "budget", "resource", "memory", "source", "automation"}

// aboutServer says which server a command is about.
func aboutServer(k *kit.Kit, root, cmd *cobra.Command) error {
	top := cmd
	for top.HasParent() && top.Parent() != root {
		top = top.Parent()
	}
	k.Far = slices.Contains(elsewhere, top.Name())
	if !k.Far && k.Server != "" && cmd.InheritedFlags().Changed("server") {
		return kit.Usagef("%s is about this machine, and takes no --server", top.CommandPath())
	}
	return nil
}
