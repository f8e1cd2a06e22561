package repo

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/repo/host"
	"tandem/internal/repo/replica"
)

func newLease(k *kit.Kit) *cobra.Command {
	var life time.Duration
	var shared bool
	cmd := &cobra.Command{
		Use:   "lease [PATH]",
		Short: "Lease a path of this workspace's repository, or list the leases",
		Long: `Lease a file, a folder with all that is below it, or a pattern (src/**/*.go) to this
workspace, for an hour unless --for says otherwise. The repository's server holds
everybody to it: whoever else sends a change to it waits for a person's approval,
and you hear of it with your next command. With --shared others may lease it too, likewise
shared, and work on it with you. Without a path, list the leases.`,
		Example: "  tandem repo lease internal/auth --for 2h\n  tandem repo lease",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			minutes, err := kit.Life(cmd, "for", life, time.Minute)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return listLeases(cmd.Context(), k)
			}
			r, err := here()
			if err != nil {
				return err
			}
			defer r.Close()
			in := host.LeaseIn{Repo: r.Ref(), Workspace: r.Workspace, Path: fromRoot(r, args[0]), Minutes: minutes, Shared: shared}
			out, err := atServer(cmd.Context(), k, r, host.RepoLease, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is %s\n", out.Path, out) })
		},
	}
	cmd.Flags().DurationVar(&life, "for", 0, "how long (1h)")
	cmd.Flags().BoolVar(&shared, "shared", false, "others may lease it too, likewise shared")
	return cmd
}

func newRelease(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use:   "release PATH",
		Short: "Give a leased path free",
		Long: `Give a leased path of this workspace's repository free. Whoever administers the
server ends anybody's lease, outside of a workspace.`,
		Example: "  tandem repo release internal/auth",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := inside()
			if err != nil {
				return err
			}
			in := host.ReleaseIn{Path: args[0]}
			if r != nil {
				defer r.Close()
				in.Repo, in.Workspace, in.Path = r.Ref(), r.Workspace, fromRoot(r, in.Path)
			} else if in.Repo, err = served(cmd.Context(), k, nil); err != nil {
				return err
			}
			out, err := atServer(cmd.Context(), k, r, host.RepoRelease, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is free\n", out.Path) })
		},
	}
}

// fromRoot is a path as seen from the root of a workspace: people name files from
// where they are.
func fromRoot(r *replica.Replica, p string) string {
	dir, err := os.Getwd()
	if err != nil {
		return p
	}
	if below, err := filepath.Rel(r.Root, dir); err == nil && !filepath.IsAbs(p) {
		return filepath.ToSlash(filepath.Join(below, p))
	}
	return p
}

// atServer runs an operation at the server of a workspace, or, outside of one, on
// this machine's own.
func atServer[In, Out any](ctx context.Context, k *kit.Kit, r *replica.Replica, act op.Def[In, Out], in In) (out Out, err error) {
	if r == nil {
		return op.Do(ctx, k, act, in)
	}
	m, err := way(ctx, k, r.Server, "")
	if err != nil {
		return out, err
	}
	return op.Do(ctx, m, act, in)
}

func listLeases(ctx context.Context, k *kit.Kit) error {
	r, err := inside()
	if err != nil {
		return err
	}
	var in host.RepoIn
	if r != nil {
		defer r.Close()
		in.Repo = r.Ref()
	} else if in.Repo, err = served(ctx, k, nil); err != nil {
		return err
	}
	out, err := atServer(ctx, k, r, host.RepoLeases, in)
	if err != nil {
		return err
	}
	return k.Show(out, func(w io.Writer) {
		for _, l := range out.Items {
			fmt.Fprintf(w, "%s is %s\n", l.Path, l)
		}
		if len(out.Items) == 0 {
			fmt.Fprintln(w, "nothing is leased")
		}
	})
}
