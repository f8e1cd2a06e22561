package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/id"
	job "tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/session"
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
			err = k.Seek(ctx, func() error { _, err := op.Do(ctx, k, job.Get, job.IDIn{ID: arg}); return err })
		default:
			err = k.Seek(ctx, func() error { _, err := op.Do(ctx, k, session.SessionGet, session.IDIn{ID: arg}); return err })
		}
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		return err
	}
	return nil
}
