package repo

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/repo/host"
)

func newOlder(k *kit.Kit) *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:   "older [NAME]",
		Short: "Say what came back, and what is lost, after a repository was put back",
		Long: `A served repository that was put back to an older state, from a backup or by hand,
takes back what workspaces elsewhere still have, with their next command, because it
gave them a signed receipt for it. This lists what came back and from whom, which
bookmarks stayed where the older state has them, and what nobody has brought back.

--keep keeps the older state instead: receipts from before bring nothing back by
themselves any more. It needs your PIN, and is best said before workspaces connect.`,
		Example: "  tandem repo older project\n  tandem repo older project --keep",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := served(cmd.Context(), k, args)
			if err != nil {
				return err
			}
			if keep {
				out, err := op.Do(cmd.Context(), k, host.RepoKeepOlder, host.RepoIn{Repo: name})
				if err != nil {
					return err
				}
				return k.Show(out, func(w io.Writer) {
					fmt.Fprintf(w, "%s stays at operation %.12s; what workspaces have beyond that is asked for\n", out.Name, out.Head)
				})
			}
			out, err := op.Do(cmd.Context(), k, host.RepoOlder, host.RepoIn{Repo: name})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { showOlder(w, out) })
		},
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the older state")
	return cmd
}

func showOlder(w io.Writer, out host.OlderOut) {
	for _, r := range out.Returned {
		fmt.Fprintf(w, "%s  %s brought back %d operations", r.Time.Local().Format(time.DateTime), r.Actor, r.Operations)
		for _, name := range slices.Sorted(maps.Keys(r.Of)) {
			fmt.Fprintf(w, "  %s %d", name, r.Of[name])
		}
		fmt.Fprintln(w)
		for _, line := range r.Kept {
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
	for _, l := range out.Lost {
		if l.Heard != "" {
			fmt.Fprintf(w, "lost: operation %.12s, which %s heard of and never had\n", l.Operation, l.Heard)
			continue
		}
		fmt.Fprintf(w, "lost: operation %.12s of %s in %s, %s\n", l.Operation, l.Actor, l.Workspace, l.Time.Local().Format(time.DateTime))
	}
	if len(out.Lost) > 0 {
		fmt.Fprintf(w, "%d acknowledged states are not here; a workspace that has one brings it with its next command\n", len(out.Lost))
		return
	}
	fmt.Fprintf(w, "%s has everything that it is known to have acknowledged\n", out.Name)
}
