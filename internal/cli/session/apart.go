package session

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/op"
	room "tandem/internal/session"
	"tandem/internal/session/checkout"
)

func (s *settings) apartFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.worktree, "worktree", "", "in a git worktree of its own, beside the repository, on the branch tandem/NAME")
	cmd.Flags().StringVar(&s.workspace, "workspace", "", "in a jj workspace of its own with this name, beside the repository")
}

// apart gives a new session the checkout that its flags name.
func (s *settings) apart(ctx context.Context, k *kit.Kit, in *room.CreateIn) error {
	want := room.CheckoutIn{Directory: in.Directory, Name: s.worktree, Kind: checkout.Worktree}
	switch {
	case s.worktree == "" && s.workspace == "":
		return nil
	case s.worktree != "" && s.workspace != "":
		return fault.New(fault.Invalid, "session", "a worktree is git's and a workspace is jj's: choose one")
	case s.workspace != "":
		want.Name, want.Kind = s.workspace, checkout.Workspace
	}
	out, err := op.Do(ctx, k, room.SessionCheckout, want)
	if err != nil {
		return err
	}
	in.Directory = out.Folder
	if in.Title == "" {
		in.Title = want.Name
	}
	fmt.Fprintf(k.Err, "it works in %s\n", out.Folder)
	return nil
}

func newKeep(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "keep SESSION", Short: "Keep what a session did in its own checkout", Args: cobra.ExactArgs(1),
		Long: "Keep what a session did in its own checkout. What it had not committed is committed first; its branch (git) or commits " +
			"(jj) stay in the repository, and the checkout's folder goes. " +
			"Your own checkout is not touched: the command that is printed brings the work into it.",
		Example: "  tandem session keep fixer",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := sessionID(cmd.Context(), k, args[0])
			if err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, room.SessionKeep, room.IDIn{ID: id})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if out.Commits == 0 {
					fmt.Fprintf(w, "nothing was done in %s, which is gone\n", out.Path)
					return
				}
				fmt.Fprintf(w, "%d commits are kept on %s\nnext: %s\n", out.Commits, out.Name, out.Next)
			})
		},
	}
}

func newDiscard(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "discard SESSION", Short: "Discard a session's own checkout with all that was done in it", Args: cobra.ExactArgs(1),
		Long: "Discard a session's own checkout: its folder, its branch (git) or commits (jj), " +
			"and what was not committed. The conversation stays.",
		Example: "  tandem session discard fixer",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := sessionID(cmd.Context(), k, args[0])
			if err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, room.SessionDiscard, room.IDIn{ID: id})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is gone, with %s\n", out.Path, out.Name) })
		},
	}
}
