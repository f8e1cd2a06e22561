package repo

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/repo/host"
)

func newGC(k *kit.Kit) *cobra.Command {
	var age time.Duration
	cmd := &cobra.Command{
		Use:   "gc [NAME]",
		Short: "Pack a repository, and remove what nothing names",
		Long: `Pack a repository, and remove what no operation of its history names and is older
than two weeks. Nothing that a workspace somewhere holds can go.`,
		Example: "  tandem repo gc project\n  tandem repo gc project --older-than 48h",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := served(cmd.Context(), k, args)
			if err != nil {
				return err
			}
			in := host.GCIn{Repo: name, OlderThan: int64(age / time.Second)}
			if age != 0 && in.OlderThan == 0 {
				in.OlderThan = 1 // refused with the reason
			}
			out, err := op.Do(cmd.Context(), k, host.RepoGC, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%d operations, %d objects, %d bytes\n", out.After.Operations, out.After.Objects, out.After.Bytes)
				fmt.Fprintf(w, "were %d operations, %d objects, %d bytes\n", out.Before.Operations, out.Before.Objects, out.Before.Bytes)
			})
		},
	}
	cmd.Flags().DurationVar(&age, "older-than", 0, "how old something must be to be removed (two weeks, one hour at least)")
	return cmd
}
