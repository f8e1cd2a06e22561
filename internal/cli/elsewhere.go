package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/job"
	"tandem/internal/cli/kit"
	"tandem/internal/cli/session"
	"tandem/internal/fault"
	"tandem/internal/id"
)

// aboutServer says which server a command is about.
func aboutServer(k *kit.Kit, root, cmd *cobra.Command, args []string) error {
	follows, stays := kit.About(strings.TrimPrefix(cmd.CommandPath(), root.Name()+" "))
	k.Far = follows || stays && k.Server != ""
	if !follows && !stays && k.Server != "" && cmd.InheritedFlags().Changed("server") {
		top := cmd
		for top.HasParent() && top.Parent() != root {
			top = top.Parent()
		}
		return kit.Usagef("%s is about this machine, and takes no --server", top.CommandPath())
	}
	if follows || stays {
		return whereItIs(cmd.Context(), k, args)
	}
	return nil
}

// whereItIs lets a command that names a job or a session by its id go where that is. What is nowhere, the command itself says so.
func whereItIs(ctx context.Context, k *kit.Kit, args []string) error {
	for _, arg := range args {
		var err error
		switch {
		case id.Check("job", arg) != nil && id.Check("ses", arg) != nil || !k.Two(ctx):
			continue
		case id.Check("job", arg) == nil:
			err = k.Seek(ctx, func() error { return job.Look(ctx, k, arg) })
		default:
			err = k.Seek(ctx, func() error { return session.Look(ctx, k, arg) })
		}
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		return err
	}
	return nil
}
