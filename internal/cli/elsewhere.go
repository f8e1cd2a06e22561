package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
)

// aboutServer says which server a command is about.
func aboutServer(k *kit.Kit, root, cmd *cobra.Command) error {
	follows, stays := kit.About(strings.TrimPrefix(cmd.CommandPath(), root.Name()+" "))
	k.Far = follows || stays && k.Server != ""
	if !follows && !stays && k.Server != "" && cmd.InheritedFlags().Changed("server") {
		top := cmd
		for top.HasParent() && top.Parent() != root {
			top = top.Parent()
		}
		return kit.Usagef("%s is about this machine, and takes no --server", top.CommandPath())
	}
	return nil
}
