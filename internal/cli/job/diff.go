package job

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/unified"
)

func newDiff(k *kit.Kit) *cobra.Command {
	var in wire.DiffIn
	var commits, mine, beside, looked bool
	cmd := &cobra.Command{
		Use: "diff JOB", Short: "Show what a job changed: all of it, one commit, or what came since your last look", Args: cobra.ExactArgs(1),
		Long: "Show what a job changed, as a diff. Where all of it was shown, --since-look shows what came since. What came in from the branch " +
			"that the job is for is left out. With --looked you say with your PIN that it is you who looks, as you say it in the panel: then " +
			"what came since that look is enough to merge by.",
		Example: "  tandem job diff job_01j…\n  tandem job diff job_01j… --since-look\n  tandem job diff job_01j… --side-by-side --no-blanks\n" +
			"  tandem job diff job_01j… --commits\n  tandem job diff job_01j… --commit 4f2a…\n" +
			"  tandem job diff job_01j… --stack\n  tandem job diff job_01j… --looked",
		RunE: func(cmd *cobra.Command, args []string) error {
			if in.ID = args[0]; mine {
				in.Since = wire.MyLook
			}
			if looked {
				if err := k.Prove(cmd.Context(), string(wire.Viewed)); err != nil {
					return err
				}
			}
			out, err := op.Do(cmd.Context(), k, wire.Diff, in)
			if err != nil {
				return err
			}
			if err := k.Show(out, func(w io.Writer) {
				if commits {
					showSteps(w, in.ID, out)
					return
				}
				showDiff(w, in.ID, out, beside)
			}); err != nil || commits || k.JSON && !looked {
				return err
			}
			return viewed(cmd.Context(), k, looked, in.ID, out)
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Commit, "commit", "", "only what this commit of the job changed")
	f.BoolVar(&commits, "commits", false, "list the job's commits, oldest first")
	f.BoolVar(&in.Stack, "stack", false, "together with the jobs that it stands on and that are not merged yet")
	f.StringVar(&in.Since, "since", "", "only what came since this commit of the job")
	f.BoolVar(&mine, "since-look", false, "only what came since your last look at all of it")
	f.BoolVar(&looked, "looked", false, "say with your PIN that it is you who looks at it")
	f.BoolVarP(&in.Blanks, "no-blanks", "w", false, "leave out lines in which only blanks are others")
	f.BoolVarP(&beside, "side-by-side", "y", false, "what was on the left, what is on the right")
	cmd.MarkFlagsMutuallyExclusive("commit", "since", "since-look", "commits")
	cmd.MarkFlagsMutuallyExclusive("commits", "looked")
	for _, other := range []string{"since", "since-look", "looked"} {
		cmd.MarkFlagsMutuallyExclusive("stack", other)
	}
	return cmd
}

// viewed writes down that all of it was shown, once: as the person's own look where they say so.
func viewed(ctx context.Context, k *kit.Kit, myself bool, id string, out wire.DiffOut) error {
	whole := out.All() || out.Since != "" && out.Since == out.Shown && out.Whole()
	if !whole && myself {
		return fault.New(fault.Conflict, "job.diff", "that was not all that the job changed since you looked, so it is no look of yours").
			WithNext("look at all of it: tandem job diff %s --looked", id)
	}
	if !whole || out.Looked == out.Commit || out.Shown == out.Commit && !myself {
		return nil
	}
	_, err := op.Do(ctx, k, wire.Viewed, wire.ViewedIn{ID: id, Commit: out.Commit, Myself: myself})
	if !myself && (fault.Is(err, fault.Conflict) || fault.Is(err, fault.Denied)) { // it moved on while it was shown, or nobody's look is kept
		return nil
	}
	return err
}

// showSteps lists the job's commits.
func showSteps(w io.Writer, id string, out wire.DiffOut) {
	for _, s := range out.Steps {
		mark := ""
		switch s.Commit {
		case out.Looked:
			mark = "  (your last look)"
		case out.Shown:
			mark = "  (shown on a terminal)"
		}
		fmt.Fprintf(w, "%.12s  %s  %s%s\n", s.Commit, s.At.Local().Format(time.DateTime), kit.VisibleLine(s.Subject), mark)
	}
	fmt.Fprintf(w, "see one of them: tandem job diff %s --commit COMMIT\n", id)
}

// showDiff prints what a job changed, and how to merge it where that was all.
func showDiff(w io.Writer, id string, out wire.DiffOut, beside bool) {
	for _, f := range out.Files {
		if f.Checks {
			fmt.Fprintf(w, "look first: the check consists of %s (%s)\n", kit.VisibleLine(f.Path), f.How)
		}
	}
	if out.Diff == "" { // a part may hold nothing
		fmt.Fprintln(w, "nothing of the text is another")
	} else if beside {
		sideBySide(w, unified.Parse(out.Diff), kit.Columns(w))
	} else {
		kit.Diff(w, kit.Visible(out.Diff))
	}
	if out.Cut {
		fmt.Fprintf(w, "\n(it goes on; the rest is too long to show. All %d files:)\n", len(out.Files))
		for _, f := range out.Files {
			fmt.Fprintf(w, "  %s (%s, +%d -%d)\n", kit.VisibleLine(f.Path), f.How, f.Added, f.Deleted)
		}
	}
	if out.Part && !out.All() {
		fmt.Fprintf(w, "(this is a part of what the job changed)\nsee all of it: tandem job diff %s\n", id)
	} else if last := cmp.Or(out.Looked, out.Shown); last != "" && last != out.Commit && !out.Part {
		fmt.Fprintf(w, "what came since your last look: tandem job diff %s --since-look\n", id)
	}
	if out.On != "" && !out.Part {
		fmt.Fprintf(w, "together with what it stands on: tandem job diff %s --stack\n", id)
	}
	if out.Commit != "" && out.State != wire.Merged {
		fmt.Fprintf(w, "comment on a line of this: tandem job comment %s FILE:LINE \"…\" --commit %s\n", id, out.Commit)
	}
	switch {
	case out.Hidden > 0:
		fmt.Fprintf(w, "(%d changed files are not shown: you may not see them)\nsomebody has to merge it who may see them\n", out.Hidden)
	case out.Cut:
		fmt.Fprintf(w, "look at all of it with git: git diff %s %s\n", out.Base, out.Commit)
	case !out.All():
	case out.State == wire.Review && out.On != "":
		fmt.Fprintf(w, "merge this after %s, on which it stands: tandem queue add %s --commit %s\n", out.On, id, out.Commit)
	case out.State == wire.Review:
		fmt.Fprintf(w, "merge this: tandem job merge %s --commit %s\n", id, out.Commit)
	default:
		fmt.Fprintf(w, "the job is %s: only what is in review is merged\n", out.State)
	}
}
