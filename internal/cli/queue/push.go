package queue

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
)

// pushed says what is known of a queue's remote.
func pushed(w io.Writer, q *wire.Queue) {
	p := q.Push
	if p == nil {
		return
	}
	when := "when you say so"
	if p.Unasked {
		when = "after each merge"
	}
	fmt.Fprintf(w, "  pushed to %s (%s) %s\n", kit.VisibleLine(p.Remote), kit.VisibleLine(p.URL), when)
	if p.Problem != "" {
		fmt.Fprintf(w, "  not pushed: %s\n", kit.VisibleLine(p.Problem))
	}
	if p.Waits != "" && (!p.Unasked || p.Problem != "" || p.Begun == "") {
		fmt.Fprintf(w, "  %.12s waits; push it: tandem queue push %s --commit %s -C %s\n", p.Waits, kit.VisibleLine(q.Branch), p.Waits,
			kit.VisibleLine(q.Repo))
	}
}

func newPush(k *kit.Kit) *cobra.Command {
	var in wire.QueuePushIn
	cmd := &cobra.Command{
		Use: "push BRANCH", Short: "Push what a queue merged to its remote", Args: cobra.ExactArgs(1),
		Long: "Push what a queue merged to the remote that was named for its branch, once: a person says so, present, " +
			"about the commit that waits.\n" +
			"The line with that commit is in: tandem queue",
		Example: "  tandem queue push main --commit 4f2a…",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Branch = args[0]
			var err error
			if in.Folder, err = k.Checkout(cmd.Context(), in.Folder); err != nil {
				return err
			}
			if in.Commit == "" {
				return fault.New(fault.Invalid, "queue.push", "say which commit is to be pushed").WithNext("look: tandem queue")
			}
			q, err := op.Do(cmd.Context(), k, wire.QueuePush, in)
			if err != nil {
				return err
			}
			if err := k.Show(q, func(w io.Writer) { head(w, q) }); err != nil {
				return err
			}
			if q.Push != nil && q.Push.Problem != "" {
				return fault.New(fault.Conflict, "queue.push", "it was not pushed").WithNext("see why above, or: tandem queue")
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&in.Folder, "cwd", "C", ".", "a folder in the repository")
	cmd.Flags().StringVar(&in.Commit, "commit", "", "the commit that waits, whole; another one is refused")
	return cmd
}
