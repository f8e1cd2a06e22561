package job

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/told"
)

func newComment(k *kit.Kit) *cobra.Command {
	var in wire.CommentIn
	cmd := &cobra.Command{
		Use: "comment JOB FILE:LINE TEXT", Short: "Comment on a line of a job's work", Args: cobra.MinimumNArgs(3),
		Long: "Comment on a line of the commit that you looked at, or on a whole file of it. The line to type is at the end of:\n" +
			"tandem job diff JOB. Without --commit it is the newest one, which may be another by now.\n" +
			"The agent hears all comments as one message when you send the job back: tandem job back JOB",
		Example: "  tandem job comment job_01j… internal/login.go:42 \"this redirects twice\"\n" +
			"  tandem job comment job_01j… README.md \"say how to start it\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID, in.Text = args[0], strings.Join(args[2:], " ")
			in.File, in.Line = placeOf(args[1])
			if in.Commit == "" {
				j, err := op.Do(cmd.Context(), k, wire.Get, wire.IDIn{ID: in.ID})
				if err != nil {
					return err
				}
				in.Commit = j.Commit
			}
			j, err := op.Do(cmd.Context(), k, wire.CommentOn, in)
			if err != nil {
				return err
			}
			return k.Show(j, func(w io.Writer) {
				fmt.Fprintf(w, "said about commit %s\n", in.Commit)
				remarks(w, j)
			})
		},
	}
	cmd.Flags().StringVar(&in.Commit, "commit", "", "the commit that you looked at, whole; another one is refused (the newest)")
	return cmd
}

// placeOf reads FILE:LINE, or FILE, in whose name there may be colons.
func placeOf(text string) (file string, line int64) {
	i := strings.LastIndex(text, ":")
	if i < 0 {
		return text, 0
	}
	line, err := strconv.ParseInt(text[i+1:], 10, 64)
	if err != nil || line < 1 {
		return text, 0
	}
	return text[:i], line
}

func newBack(k *kit.Kit) *cobra.Command {
	var agent string
	var wait bool
	cmd := &cobra.Command{
		Use: "back JOB [TEXT]", Short: "Send a job back to its agent, with your comments", Args: cobra.MinimumNArgs(1),
		Example: "  tandem job back job_01j…\n  tandem job back job_01j… \"and add a test\" --wait",
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := op.Do(cmd.Context(), k, wire.Back, wire.BackIn{ID: args[0], Text: strings.Join(args[1:], " "), Agent: agent})
			return shown(cmd, k, j, err, wait)
		},
	}
	takes(cmd, &agent)
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until it needs somebody or is over")
	return cmd
}

// remarks prints what people said about lines, and what became of it.
func remarks(w io.Writer, j *wire.Job) {
	unsent := 0
	for _, c := range j.Comments {
		if !c.Sent {
			unsent++
		}
		fmt.Fprintf(w, "comment %d on %s by %s (%s): %s\n", c.N, kit.VisibleLine(c.Place()), kit.VisibleLine(told.By(c.By)), c.Became(),
			kit.Visible(c.Text))
	}
	if unsent > 0 {
		fmt.Fprintf(w, "send the agent your comments: tandem job back %s\n", j.ID)
	}
}
