// Package repo holds the commands of repositories and workspaces: init, remote, watch,
// repo list, status, check and workspaces, and Run, which runs a jj command in a
// workspace: pull if need be, run it on the copy, push what it made.
package repo

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/repo/host"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	return []*cobra.Command{newInit(k), newRemote(k), newWatch(k), newRepo(k)}
}

// served is the repository that was named, or the only one there is.
func served(ctx context.Context, k *kit.Kit, args []string) (string, error) {
	if len(args) == 1 {
		return args[0], nil
	}
	out, err := op.Do(ctx, k, host.RepoList, struct{}{})
	if err != nil {
		return "", err
	}
	switch len(out.Items) {
	case 0:
		return "", fault.New(fault.NotFound, "repo", "no repository is served").WithNext("serve one: tandem up --repo PATH")
	case 1:
		return out.Items[0].Name, nil
	}
	return "", kit.Usagef("several repositories are served: name one of them (tandem repo list)")
}

func newRepo(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "repo", Short: "Look at the repositories this server serves"}
	cmd.AddCommand(
		&cobra.Command{Use: "list", Short: "List the repositories", Example: "  tandem repo list", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				out, err := op.Do(cmd.Context(), k, host.RepoList, struct{}{})
				if err != nil {
					return err
				}
				return k.Show(out, func(w io.Writer) {
					for _, r := range out.Items {
						if r.Problem != "" {
							fmt.Fprintf(w, "%s  %s  NOT SERVED: %s\n", r.Name, r.Path, r.Problem)
							continue
						}
						fmt.Fprintf(w, "%s  %s  version %d  %s\n", r.Name, r.Path, r.Version, kit.Count(r.Workspaces, "workspace"))
					}
					if len(out.Items) == 0 {
						fmt.Fprintln(w, "no repository is served; serve one: tandem up --repo PATH")
					}
				})
			}},
		&cobra.Command{Use: "status [NAME]", Short: "Say where a repository is and how large it is", Example: "  tandem repo status project",
			Args: cobra.MaximumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				name, err := served(cmd.Context(), k, args)
				if err != nil {
					return err
				}
				out, err := op.Do(cmd.Context(), k, host.RepoStatus, host.RepoIn{Repo: name})
				if err != nil {
					return err
				}
				return k.Show(out, func(w io.Writer) {
					fmt.Fprintf(w, "%s: %s\nhead %.12s, version %d\n%d operations, %d objects, %d bytes\n", out.Name, out.Path, out.Head, out.Version,
						out.Operations, out.Objects, out.Bytes)
				})
			}},
		&cobra.Command{Use: "check [NAME]", Short: "Verify everything a repository holds", Example: "  tandem repo check project",
			Args: cobra.MaximumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				name, err := served(cmd.Context(), k, args)
				if err != nil {
					return err
				}
				out, err := op.Do(cmd.Context(), k, host.RepoCheck, host.RepoIn{Repo: name})
				if err != nil {
					return err
				}
				err = k.Show(out, func(w io.Writer) {
					for _, p := range out.Problems {
						fmt.Fprintln(w, p)
					}
					fmt.Fprintf(w, "%s, %s and %s checked, %s\n", kit.Count(out.Operations, "operation"), kit.Count(out.Views, "view"),
						kit.Count(out.Objects, "object"), kit.Count(len(out.Problems), "problem"))
					if len(out.Problems) > 0 {
						fmt.Fprintln(w, "take good copies from whoever has them; in a workspace of this repository: tandem repo mend")
					}
				})
				if err == nil && len(out.Problems) > 0 {
					return kit.Silent{Code: 1}
				}
				return err
			}},
		newGC(k), newMend(k), newLease(k), newRelease(k), newOlder(k),
		&cobra.Command{Use: "workspaces [NAME]", Short: "Say who works where, and on what", Example: "  tandem repo workspaces project",
			Args: cobra.MaximumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				name, err := served(cmd.Context(), k, args)
				if err != nil {
					return err
				}
				out, err := op.Do(cmd.Context(), k, host.WorkspaceList, host.RepoIn{Repo: name})
				if err != nil {
					return err
				}
				return k.Show(out, func(w io.Writer) {
					for _, ws := range out.Items {
						owner := ws.Owner
						if owner == "" {
							owner = "(the server)"
						}
						fmt.Fprintf(w, "%s  %s  %.8s  %s  %s\n", ws.Name, owner, ws.Change, ws.Changed.Local().Format("2006-01-02 15:04"), ws.Description)
					}
				})
			}})
	return cmd
}
