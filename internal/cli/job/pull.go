package job

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	forge "tandem/internal/forge/wire"
	"tandem/internal/job/wire"
	"tandem/internal/op"
)

func newPost(k *kit.Kit) *cobra.Command {
	var in forge.PostIn
	cmd := &cobra.Command{
		Use: "post JOB", Short: "Post a job as a pull request, or bring the one that it has up to date", Args: cobra.ExactArgs(1),
		Long: "Post a job in review as a pull request at a forge. Without --commit it shows what would be posted, and the line to type.\n" +
			"With it, which needs you, present, exactly that commit is pushed to a branch of its own. The next time the same pull\n" +
			"request is brought up to date.",
		Example: "  tandem job post job_01j…\n  tandem job post job_01j… --commit 4f2a… --title \"Mend the login\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID = args[0]
			if in.Commit == "" {
				d, err := op.Do(cmd.Context(), k, forge.Draft, forge.DraftIn{ID: in.ID, Forge: in.Forge})
				if err != nil {
					return err
				}
				return k.Show(d, func(w io.Writer) { drafted(w, in.ID, d) })
			}
			p, err := op.Do(cmd.Context(), k, forge.Post, in)
			if err != nil {
				return err
			}
			return k.Show(p, func(w io.Writer) {
				fmt.Fprintf(w, "%s holds %s: %s\nsee what is said of it: tandem job pull %s\n", p.Ref(), p.Commit, kit.VisibleLine(p.URL), in.ID)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Commit, "commit", "", "the commit that you looked at, whole; another one is refused")
	f.StringVar(&in.Forge, "forge", "", "the forge, where several were added")
	f.StringVar(&in.Title, "title", "", "its title (the first line of the task)")
	f.StringVar(&in.Text, "text", "", "its text (what tandem knows of the job)")
	return cmd
}

func drafted(w io.Writer, job string, d *forge.Drafted) {
	what := "a new pull request"
	if d.Number > 0 {
		what = fmt.Sprintf("the pull request %s#%d", d.Forge, d.Number)
	}
	fmt.Fprintf(w, "would go to %s: %s, for %s\ntitle: %s\n", d.Where, what, kit.VisibleLine(d.Base), kit.VisibleLine(d.Title))
	for line := range strings.SplitSeq(strings.TrimSpace(d.Text), "\n") {
		fmt.Fprintf(w, "    %s\n", kit.Visible(line))
	}
	fmt.Fprintf(w, "look at it: tandem job diff %s\npost it: tandem job post %s --commit %s --forge %s\n", job, job, d.Commit, d.Forge)
}

func newPull(k *kit.Kit) *cobra.Command {
	var tell, merge, wait bool
	var commit, text string
	cmd := &cobra.Command{
		Use: "pull JOB", Short: "Look at a job's pull request: what people and CI say of it", Args: cobra.ExactArgs(1),
		Long: "Ask the forge how a job's pull request stands: comments, reviews, what CI says, whether it was merged there.\n" +
			"With --tell its agent hears the comments that it has not heard, quoted as data. With --merge it is merged there, which\n" +
			"needs you, present.",
		Example: "  tandem job pull job_01j…\n  tandem job pull job_01j… --tell\n  tandem job pull job_01j… --merge --commit 4f2a…",
		RunE: func(cmd *cobra.Command, args []string) error {
			var p *forge.Pull
			var err error
			switch {
			case tell && merge:
				return kit.Usagef("say one of --tell and --merge")
			case merge && commit == "":
				return kit.Usagef("say which commit you looked at: --commit")
			case merge:
				p, err = op.Do(cmd.Context(), k, forge.Merge, forge.MergeIn{ID: args[0], Commit: commit})
			default:
				p, err = op.Do(cmd.Context(), k, forge.Sync, forge.JobIn{ID: args[0]})
			}
			if err == nil && tell {
				if p, err = op.Do(cmd.Context(), k, forge.Tell, forge.TellIn{ID: args[0], Text: text}); err == nil && wait {
					j, err := op.Do(cmd.Context(), k, wire.Get, wire.IDIn{ID: args[0]})
					return shown(cmd, k, j, err, true)
				}
			}
			if err != nil {
				return err
			}
			return k.Show(p, func(w io.Writer) { pulled(w, p) })
		},
	}
	f := cmd.Flags()
	f.BoolVar(&tell, "tell", false, "send its agent the comments that it has not heard, as data")
	f.StringVar(&text, "text", "", "with --tell: what you say beside them")
	f.BoolVar(&wait, "wait", false, "with --tell: wait until it needs somebody or is over")
	f.BoolVar(&merge, "merge", false, "merge it there; needs your PIN")
	f.StringVar(&commit, "commit", "", "with --merge: the commit that you looked at, whole")
	return cmd
}

// pulled prints a pull request. All of it was written elsewhere.
func pulled(w io.Writer, p *forge.Pull) {
	if p == nil {
		return
	}
	fmt.Fprintf(w, "pull request %s is %s at %.12s: %s\n", p.Ref(), p.State, p.Commit, kit.VisibleLine(p.URL))
	if p.Problem != "" {
		fmt.Fprintf(w, "look first: %s\n", kit.VisibleLine(p.Problem))
	}
	if p.State == forge.Merged {
		fmt.Fprintf(w, "%s merged it there, as %.12s\n", kit.VisibleLine(p.MergedBy), p.MergedAs)
	}
	for _, c := range p.Checks {
		fmt.Fprintf(w, "CI there: %s is %s on %.12s\n", kit.VisibleLine(c.Name), c.State, c.Commit)
	}
	for _, r := range p.Reviews {
		fmt.Fprintf(w, "review there: %s says of %.12s: %s\n", kit.VisibleLine(r.By), r.Commit, r.Says)
	}
	for _, c := range p.Comments {
		place := ""
		if c.File != "" {
			place = fmt.Sprintf(" on %s:%d", kit.VisibleLine(c.File), c.Line)
		}
		heard := "not told to the agent"
		if c.Heard {
			heard = "told to the agent"
		}
		fmt.Fprintf(w, "comment there by %s%s (%s):\n", kit.VisibleLine(c.By), place, heard)
		for line := range strings.SplitSeq(strings.TrimRight(c.Text, "\n"), "\n") {
			fmt.Fprintf(w, "    %s\n", kit.Visible(line))
		}
	}
	if p.Unheard() > 0 && p.State == forge.Open {
		fmt.Fprintf(w, "let its agent hear them, as data: tandem job pull %s --tell\n", p.Job)
	}
}
