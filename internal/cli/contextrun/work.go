package contextrun

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/contextrun/wire"
	"tandem/internal/op"
)

func newAdd(k *kit.Kit) *cobra.Command {
	var t wire.TaskIn
	var payload string
	cmd := &cobra.Command{
		Use: "add RUN KIND", Short: "Add a task to a context run", Args: cobra.ExactArgs(2),
		Example: "  tandem context add release review --id r1 --priority 5\n" +
			"  tandem context add release merge --id m1 --after r1 --payload '{\"branch\":\"main\"}'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if t.Kind = args[1]; payload != "" {
				t.Payload = []byte(payload)
			}
			out, err := op.Do(cmd.Context(), k, wire.Add, wire.AddIn{ID: args[0], Tasks: []wire.TaskIn{t}})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				for _, t := range out.Tasks {
					fmt.Fprintf(w, "%s is added: %s\n", t.ID, t.Stage)
				}
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&t.ID, "id", "", "an id of your own (tandem makes one)")
	f.StringSliceVar(&t.After, "after", nil, "tasks that have to be done first")
	f.IntVar(&t.Priority, "priority", 0, "a larger one is claimed first")
	f.IntVar(&t.MaxAttempts, "attempts", 0, "how often it may be claimed (3)")
	f.StringVar(&payload, "payload", "", "what it says, as JSON")
	return cmd
}

func newClaim(k *kit.Kit) *cobra.Command {
	var in wire.ClaimIn
	var lease time.Duration
	cmd := &cobra.Command{
		Use: "claim RUN", Short: "Take a task: it is yours until its lease ends", Args: cobra.ExactArgs(1),
		Long: `Take the task of a context run that comes first: the highest priority, the oldest of these. It is yours while its lease
lasts; say heartbeat to keep it. What you report goes with the lease token that is printed. When somebody else took the task since, your
token is refused.`,
		Example: "  tandem context claim release --lease 10m\n  tandem context claim release --task m1 --agent builder",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID, in.LeaseMS = args[0], lease.Milliseconds()
			out, err := op.Do(cmd.Context(), k, wire.Claim, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if out.Task == nil {
					fmt.Fprintf(w, "nothing to claim: %s\n", out.Why)
					return
				}
				fmt.Fprintf(w, "%s is yours until %s, attempt %d of %d\n", out.Task.ID, out.Task.LeaseEnds.Local().Format(time.TimeOnly),
					out.Task.Attempt, out.Task.MaxAttempts)
				if len(out.Task.Payload) > 0 {
					fmt.Fprintln(w, kit.Visible(string(out.Task.Payload)))
				}
				fmt.Fprintf(w, "report it: tandem context task %s %s complete --lease-token %s\n", in.ID, out.Task.ID, out.Task.Token)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Task, "task", "", "this task, and no other")
	f.StringVar(&in.Kind, "kind", "", "only tasks of this kind")
	f.StringVar(&in.Agent, "agent", "", "what you call yourself")
	f.DurationVar(&lease, "lease", 0, "how long it is yours without a word from you (30s; 5s to 1h)")
	return cmd
}

func newTask(k *kit.Kit) *cobra.Command {
	var in wire.TransitionIn
	var lease, after time.Duration
	var rev int64
	cmd := &cobra.Command{
		Use: "task RUN TASK ACTION", Short: "Move a task: heartbeat, complete, fail, block, release, retry", Args: cobra.ExactArgs(3),
		Long: `Move a task. A task that is held moves with its lease token alone: heartbeat keeps it, complete and fail end it, block and
release give it up. A failed or blocked one is tried again with retry.`,
		Example: "  tandem context task release r1 complete --lease-token lease_01k4\n" +
			"  tandem context task release m1 fail --lease-token lease_01k5 --error 'the tests do not run'\n" +
			"  tandem context task release m1 retry",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID, in.Task, in.Action = args[0], args[1], args[2]
			if in.LeaseMS, in.AfterMS = lease.Milliseconds(), after.Milliseconds(); cmd.Flags().Changed("if-rev") {
				in.IfRev = &rev
			}
			out, err := op.Do(cmd.Context(), k, wire.Transition, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is %s\n", out.Task.ID, out.Task.Stage) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Token, "lease-token", "", "what you were given when you claimed it")
	f.StringVar(&in.Error, "error", "", "what went wrong")
	f.StringVar((*string)(&in.Stage), "stage", "", "with the action status: where it stands since")
	f.DurationVar(&lease, "lease", 0, "with heartbeat: from now on so long (30s)")
	f.DurationVar(&after, "after", 0, "with release and retry: nobody claims it before")
	f.Int64Var(&rev, "if-rev", 0, "only when the task is at this revision")
	return cmd
}

func newNote(k *kit.Kit) *cobra.Command {
	var in wire.PatchIn
	cmd := &cobra.Command{
		Use: "note RUN OP [TEXT]", Short: "Write on the blackboard of a context run", Args: cobra.RangeArgs(2, 3),
		Long: `Write on the blackboard. OP is add_fact, add_decision, add_open_question or add_artifact, which add a line, or
set_rolling_summary or set_latest_context_pack, which take the place of what was there.`,
		Example: "  tandem context note release add_fact 'the tag is v3'\n" +
			"  tandem context note release add_artifact --path dist/app --type binary",
		RunE: func(cmd *cobra.Command, args []string) error {
			if in.ID, in.Op = args[0], args[1]; len(args) == 3 {
				in.Text = args[2]
			}
			out, err := op.Do(cmd.Context(), k, wire.Patch, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "it is on the blackboard of %s\n", out.Run.ID) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Item, "id", "", "an id of your own for it")
	f.StringVar(&in.Step, "step", "", "the step that it is about")
	f.StringVar(&in.Path, "path", "", "of an artifact: where it is")
	f.StringVar(&in.Type, "type", "", "of an artifact: what sort it is")
	return cmd
}

func newBoard(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "board RUN", Short: "Read the blackboard of a context run", Args: cobra.ExactArgs(1), Example: "  tandem context board release",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, wire.Blackboard, wire.IDIn{ID: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				for _, s := range []struct {
					name  string
					items []wire.Item
				}{{"facts", out.Facts}, {"decisions", out.Decisions}, {"open questions", out.Questions}, {"artifacts", out.Artifacts}} {
					if len(s.items) > 0 {
						fmt.Fprintf(w, "%s:\n", s.name)
					}
					for _, i := range s.items {
						fmt.Fprintf(w, "    %s\n", kit.VisibleLine(i.Path+i.Text))
					}
				}
				if out.Rolling != "" {
					fmt.Fprintf(w, "summary:\n%s\n", kit.Visible(out.Rolling))
				}
				if out.Revision == 0 {
					fmt.Fprintln(w, "nothing is on it")
				}
			})
		},
	}
}

func newCheckpoint(k *kit.Kit) *cobra.Command {
	var in wire.CheckpointIn
	cmd := &cobra.Command{
		Use: "checkpoint RUN", Short: "Keep where a context run stands, for a replay to begin there", Args: cobra.ExactArgs(1),
		Example: "  tandem context checkpoint release --reason 'before the merge'",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID = args[0]
			out, err := op.Do(cmd.Context(), k, wire.Checkpoint, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s keeps how it stands behind event %d\n", out.ID, out.Seq) })
		},
	}
	cmd.Flags().StringVar(&in.Reason, "reason", "", "what it is for")
	return cmd
}

func newReplay(k *kit.Kit) *cobra.Command {
	var in wire.ReplayIn
	cmd := &cobra.Command{
		Use: "replay RUN", Short: "Fold the events again, and see where the run says something else", Args: cobra.ExactArgs(1),
		Long: `Fold the events of a context run again. What the database says otherwise than the events is drift, and is named.
--upto says how the run stood behind an event.`,
		Example: "  tandem context replay release\n  tandem context replay release --upto 3 --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID = args[0]
			out, err := op.Do(cmd.Context(), k, wire.Replay, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s folded: %s, revision %d, %s\n", kit.Count(out.Applied, "event"), out.Run.Status, out.Run.Revision,
					kit.Count(len(out.Tasks), "task"))
				for _, d := range out.Drift {
					fmt.Fprintf(w, "drift: %s is %s, and the events say %s\n", kit.VisibleLine(d.What), kit.VisibleLine(d.Stored),
						kit.VisibleLine(d.Replayed))
				}
				if out.Whole && len(out.Drift) == 0 {
					fmt.Fprintln(w, "no drift")
				}
			})
		},
	}
	cmd.Flags().Int64Var(&in.Upto, "upto", 0, "only as far as this event")
	cmd.Flags().BoolVar(&in.Checkpoint, "checkpoint", false, "begin at the newest checkpoint")
	return cmd
}
