package job

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
)

func newReview(k *kit.Kit) *cobra.Command {
	var in wire.ReviewIn
	var wait bool
	cmd := &cobra.Command{
		Use: "review JOB", Short: "Have another agent look at a job; it approves nothing", Args: cobra.ExactArgs(1),
		Long: "Another agent looks at the commit of a job in review and says whether it is good, wants changes, or cannot tell. That is shown " +
			"beside the checks. It approves nothing: a person merges. Send the job back with what it says: tandem job send JOB TEXT",
		Example: "  tandem job review job_01j… --by codex\n  tandem job review job_01j… --by claude --wait",
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := op.Do(cmd.Context(), k, wire.Get, wire.IDIn{ID: args[0]})
			if err != nil {
				return err
			}
			if in.ID, in.Commit = j.ID, j.Commit; j.State != wire.Review {
				return fault.New(fault.Conflict, "job.review", "the job is %s, and not in review", j.State).
					WithNext("see where it stands: tandem job show %s", j.ID)
			}
			if j, err = op.Do(cmd.Context(), k, wire.Inspect, in); err != nil {
				return err
			}
			for wait && err == nil && j.Reviewer != "" {
				select {
				case <-cmd.Context().Done():
					return cmd.Context().Err()
				case <-time.After(500 * time.Millisecond):
				}
				j, err = op.Do(cmd.Context(), k, wire.Get, wire.IDIn{ID: j.ID})
			}
			if err != nil {
				return err
			}
			return k.Show(j, func(w io.Writer) { show(w, j) })
		},
	}
	cmd.Flags().StringVar(&in.By, "by", "", "who looks: claude, codex, opencode, or a model as provider/model (the default model)")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until it has said something")
	return cmd
}

// reviews prints what other agents said of a job.
func reviews(w io.Writer, j *wire.Job) {
	for _, r := range j.Reviews {
		fmt.Fprintf(w, "review %d: %s says of %.12s: %s\n", r.N, kit.VisibleLine(cmp.Or(r.By, wire.DefaultReviewer)), r.Commit, r.Says)
		switch {
		case r.Hidden:
			fmt.Fprintln(w, "    (its words are not shown to you: the commit holds files that you may not see)")
		case r.Commit == j.Commit && r.Text != "":
			for line := range strings.SplitSeq(strings.TrimRight(r.Text, "\n"), "\n") {
				fmt.Fprintf(w, "    %s\n", kit.Visible(line))
			}
		}
	}
	if j.Reviewer != "" {
		fmt.Fprintf(w, "%s looks at it now; nothing waits for that\n", kit.VisibleLine(j.Reviewer))
	}
}
