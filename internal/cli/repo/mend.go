package repo

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/repo/host"
	"tandem/internal/repo/replica"
)

func newMend(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use:   "mend",
		Short: "Give the server good copies of what is damaged there",
		Long: `Give the server of this workspace good copies of whatever tandem repo check finds
damaged or missing in the repository there, as far as this workspace has them. Each is
checked against its id by both sides. What nobody here has is listed; run it in another
workspace of the repository, too.`,
		Example: "  tandem repo mend",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := here()
			if err != nil {
				return err
			}
			defer r.Close()
			m, err := way(cmd.Context(), k, r.Server, "")
			if err != nil {
				return err
			}
			mended, left, err := mend(cmd.Context(), m, r)
			if err != nil {
				return err
			}
			err = k.Show(left, func(w io.Writer) {
				for _, p := range left.Problems {
					fmt.Fprintln(w, p)
				}
				fmt.Fprintf(w, "%d mended, %d problems left\n", mended, len(left.Problems)+left.More)
			})
			if err == nil && len(left.Problems) > 0 {
				return kit.Silent{Code: 1}
			}
			return err
		},
	}
}

// rounds is how often is looked again: behind what was damaged there may be more.
const rounds = 20

// maxSent bounds what one call carries.
const maxSent = 8 << 20

func mend(ctx context.Context, m replica.Remote, r *replica.Replica) (mended int, left host.CheckOut, err error) {
	for range rounds {
		left, err = op.Do(ctx, m, host.RepoCheck, host.RepoIn{Repo: r.Ref()})
		if err != nil || len(left.Faults) == 0 {
			return mended, left, err
		}
		in, size := host.MendIn{Repo: r.Ref(), Workspace: r.Workspace}, 0
		for _, f := range left.Faults {
			if p, ok := r.Store.Good(ctx, f); ok && (size == 0 || size+len(p.Data) <= maxSent) && len(in.Pieces) < 500 {
				in.Pieces = append(in.Pieces, p)
				size += len(p.Data)
			}
		}
		if len(in.Pieces) == 0 {
			return mended, left, nil
		}
		out, err := op.Do(ctx, m, host.RepoMend, in)
		if err != nil {
			return mended, left, err
		}
		mended += out.Mended
		if out.Mended == 0 {
			return mended, left, nil
		}
	}
	return mended, left, nil
}
