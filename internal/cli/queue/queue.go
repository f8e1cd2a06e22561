// Package queue holds the commands for merge queues: jobs that a person approved, merged in their order.
package queue

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	cmd := &cobra.Command{
		Use: "queue", Short: "Approved jobs that are merged in their order", Args: cobra.NoArgs,
		Long: "A queue merges jobs that a person approved into a branch, in their order. When the branch moved on, it is brought into the " +
			"job's workspace first, and the job's check runs on exactly that. What is red or does not go together goes back to the agent.\n" +
			"Several that wait are checked together, as a train, and merged at once when that is green; else the one that is red is " +
			"looked for. The setting queue_train says how many.",
		Example: "  tandem queue\n  tandem queue add job_01j… --commit 4f2a…",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, wire.QueueList, wire.QueueListIn{})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { list(w, out) })
		},
	}
	cmd.AddCommand(newAdd(k), newEvict(k), newPriority(k),
		branch(k, "protect", "Let jobs into a branch through its queue alone", wire.QueueProtect),
		newPush(k),
		branch(k, "pause", "Pause a queue: nothing is merged until somebody lets it go on", wire.QueuePause),
		branch(k, "resume", "Let a paused queue go on, from where its branch stands now", wire.QueueResume))
	return []*cobra.Command{cmd}
}

func list(w io.Writer, out wire.QueueListOut) {
	if len(out.Queues) == 0 {
		fmt.Fprintln(w, "nothing is queued; queue a job that is in review: tandem queue add JOB --commit COMMIT")
		return
	}
	for _, q := range out.Queues {
		head(w, q)
		if len(q.Jobs) == 0 {
			fmt.Fprintln(w, "  nothing waits")
			continue
		}
		t := kit.Table(w)
		for i, j := range q.Jobs {
			title := j.Title()
			why := "waits for the one before"
			stuck := j.Held && !slices.ContainsFunc(q.Jobs[:i], func(k *wire.Job) bool { return k.ID == j.On })
			suspected := q.Suspect != nil && q.Suspect.Job == j.ID && q.Suspect.QueuedAt.Equal(j.QueuedAt)
			switch n := q.Rides(j.ID); {
			case q.Paused:
				why = "waits: the queue is paused"
			case stuck:
				why = "waits until " + cmp.Or(j.On, "another job") + ", which it stands on, is merged"
			case n > 0 && q.Train.Red > 0 && n > q.Train.Red:
				why = "in the train, behind one that is red"
			case n > 0:
				why = fmt.Sprintf("in the train, place %d of %d", n, len(q.Train.Cars))
			case q.Train != nil:
				why = "waits for the train"
			case j.Held && n == 0:
				why = "comes after " + j.On + ", which it stands on"
			case suspected && i > 0:
				why = "comes alone: a train was red with it"
			case i == 0 && j.Verdict == wire.Unchecked && j.Check != "":
				why = "its check runs together with " + j.Onto
			case i == 0:
				why = "is merged now"
			}
			fmt.Fprintf(t, "  %d\t%s\t%s\t%s\t%s\n", i+1, j.ID, j.Known(), why, kit.VisibleLine(title))
		}
		t.Flush()
	}
}

func head(w io.Writer, q *wire.Queue) {
	what := ""
	if q.Protected {
		what = ", protected"
	}
	fmt.Fprintf(w, "%s of %s%s\n", kit.VisibleLine(q.Branch), kit.VisibleLine(q.Repo), what)
	if about := q.About(); about != "" {
		fmt.Fprintf(w, "  train: %s\n", about)
	}
	pushed(w, q)
	if q.Paused {
		fmt.Fprintf(w, "  paused: %s\n  let it go on: tandem queue resume %s -C %s\n", kit.VisibleLine(q.Reason), kit.VisibleLine(q.Branch),
			kit.VisibleLine(q.Repo))
	}
}

func said(ctx context.Context, k *kit.Kit, j *wire.Job, err error) error {
	if err != nil {
		return err
	}
	return k.Show(j, func(w io.Writer) {
		fmt.Fprintf(w, "%s is %s\n", j.ID, j.State)
		if j.State == wire.Queued {
			server := ""
			if l, err := k.Login(ctx); err == nil && l != nil {
				server = " --server " + l.Name
			}
			fmt.Fprintf(w, "see the queue: tandem queue%s\n", server)
		}
	})
}

func newAdd(k *kit.Kit) *cobra.Command {
	var in wire.QueueAddIn
	cmd := &cobra.Command{
		Use: "add JOB", Short: "Have a job merged when its turn comes", Args: cobra.ExactArgs(1),
		Long: "Have a job merged when its turn comes: a person says so, present, about the commit that they looked at.\n" +
			"The line with that commit is at the end of: tandem job diff JOB",
		Example: "  tandem queue add job_01j… --commit 4f2a…\n  tandem queue add job_01j… --commit 4f2a… --priority 10",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID = args[0]
			if in.Commit == "" {
				return fault.New(fault.Invalid, "queue.add", "say which commit you looked at").
					WithNext("look: tandem job diff %s", in.ID)
			}
			j, err := op.Do(cmd.Context(), k, wire.QueueAdd, in)
			return said(cmd.Context(), k, j, err)
		},
	}
	cmd.Flags().StringVar(&in.Commit, "commit", "", "the commit that you looked at, whole; another one is refused")
	cmd.Flags().Int64Var(&in.Priority, "priority", 0, "higher ones come first, -100 to 100")
	return cmd
}

func newEvict(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "evict JOB", Short: "Take a job out of its queue", Args: cobra.ExactArgs(1), Example: "  tandem queue evict job_01j…",
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := op.Do(cmd.Context(), k, wire.QueueEvict, wire.IDIn{ID: args[0]})
			return said(cmd.Context(), k, j, err)
		},
	}
}

func newPriority(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "priority JOB NUMBER", Short: "Let a queued job come sooner or later", Args: cobra.ExactArgs(2),
		Example: "  tandem queue priority job_01j… 10",
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.ParseInt(args[1], 10, 64)
			if err != nil {
				return fault.New(fault.Invalid, "queue.priority", "%.40q is no number", args[1]).WithNext("write one between -100 and 100")
			}
			j, err := op.Do(cmd.Context(), k, wire.QueuePriority, wire.QueuePriorityIn{ID: args[0], Priority: n})
			return said(cmd.Context(), k, j, err)
		},
	}
}

func branch(k *kit.Kit, name, short string, d op.Def[wire.QueueIn, *wire.Queue]) *cobra.Command {
	var in wire.QueueIn
	cmd := &cobra.Command{
		Use: name + " BRANCH", Short: short, Args: cobra.ExactArgs(1), Example: "  tandem queue " + name + " main",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Branch = args[0]
			var err error
			if in.Folder, err = k.Checkout(cmd.Context(), in.Folder); err != nil {
				return err
			}
			q, err := op.Do(cmd.Context(), k, d, in)
			if err != nil {
				return err
			}
			return k.Show(q, func(w io.Writer) { head(w, q) })
		},
	}
	cmd.Flags().StringVarP(&in.Folder, "cwd", "C", ".", "a folder in the repository")
	if name == "protect" {
		cmd.Flags().BoolVar(&in.Off, "off", false, "take the protection away")
		cmd.Flags().StringVar(&in.Push, "push", "", "a remote of the repository; what was merged waits there for: tandem queue push")
		cmd.Flags().BoolVar(&in.Unasked, "push-unasked", false, "push after each merge, and ask nobody")
		cmd.Example = "  tandem queue protect main\n  tandem queue protect main --push origin"
	}
	return cmd
}
