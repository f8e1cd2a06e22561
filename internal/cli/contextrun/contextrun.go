// Package contextrun holds the commands for context runs: work that is written down as it goes.
package contextrun

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/contextrun/wire"
	"tandem/internal/op"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	cmd := &cobra.Command{
		Use: "context", Short: "Work that is written down as it goes: steps, tasks, a blackboard, checkpoints",
		Long: `Context runs: work without a definition. Whoever does it writes down what happens, as events; the run's steps, its tasks
and its blackboard are what the events make of it, and a replay folds them again. A task is held by one worker at a time, under a lease.
Work that goes on by itself and under limits is an automation: tandem automation --help`,
	}
	cmd.AddCommand(newStart(k), newList(k), newShow(k), newEvents(k), newAppend(k), newAdd(k), newClaim(k), newTask(k), newNote(k),
		newBoard(k), newCheckpoint(k), newReplay(k), newRemove(k))
	return []*cobra.Command{cmd}
}

func newStart(k *kit.Kit) *cobra.Command {
	var in wire.StartIn
	var steps []string
	cmd := &cobra.Command{
		Use: "start OBJECTIVE…", Short: "Begin a context run", Args: cobra.MinimumNArgs(1),
		Example: "  tandem context start ship version 3 --id release --step build --step 'ship=Ship it to everybody'\n" +
			"  tandem context start look at the slow query --folder . --kind investigation",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Objective = strings.Join(args, " ")
			for _, s := range steps {
				id, title, _ := strings.Cut(s, "=")
				in.Steps = append(in.Steps, wire.Step{ID: id, Title: title})
			}
			if in.Folder != "" {
				abs, err := filepath.Abs(in.Folder)
				if err != nil {
					return err
				}
				in.Folder = abs
			}
			out, err := op.Do(cmd.Context(), k, wire.Start, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is begun\n", out.ID) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.ID, "id", "", "an id of your own (tandem makes one)")
	f.StringVar(&in.Kind, "kind", "", "what sort of run it is (interactive)")
	f.StringVar(&in.Folder, "folder", "", "where it is worked at")
	f.StringArrayVar(&steps, "step", nil, "a step, as ID or ID=TITLE; several times")
	return cmd
}

func newList(k *kit.Kit) *cobra.Command {
	var in wire.ListIn
	cmd := &cobra.Command{
		Use: "list", Short: "List context runs, newest first", Args: cobra.NoArgs,
		Example: "  tandem context list\n  tandem context list --status running --kind investigation",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, wire.List, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Runs) == 0 {
					fmt.Fprintln(w, "no context runs; begin one: tandem context start OBJECTIVE")
					return
				}
				t := kit.Table(w)
				fmt.Fprintln(t, "RUN\tSTATUS\tKIND\tTASKS\tMOVED\tOBJECTIVE")
				for _, r := range out.Runs {
					fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\n", r.ID, r.Status, kit.VisibleLine(r.Kind), r.Tasks, kit.Age(r.MovedAt),
						kit.VisibleLine(brief(r.Objective)))
				}
				t.Flush()
				if out.More {
					fmt.Fprintln(w, "there are more: --limit")
				}
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Kind, "kind", "", "only this kind")
	f.StringVar((*string)(&in.Status), "status", "", "only those that stand so: queued, running, failed …")
	f.StringVar(&in.Folder, "folder", "", "only those that are worked at there")
	f.IntVar(&in.Limit, "limit", 0, "at most this many (50)")
	return cmd
}

// brief is the first line of a text, and not all of a long one.
func brief(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	if r := []rune(line); len(r) > 60 {
		line = string(r[:59]) + "…"
	}
	return line
}

func newShow(k *kit.Kit) *cobra.Command {
	var in wire.ShowIn
	cmd := &cobra.Command{
		Use: "show RUN", Short: "See where a context run stands: its steps, its tasks, who holds them", Args: cobra.ExactArgs(1),
		Example: "  tandem context show release\n  tandem context show release --payloads --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID = args[0]
			out, err := op.Do(cmd.Context(), k, wire.Show, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { describe(w, out) })
		},
	}
	cmd.Flags().BoolVar(&in.Payloads, "payloads", false, "with what tasks say, for --json")
	return cmd
}

func describe(w io.Writer, out wire.ShowOut) {
	fmt.Fprintf(w, "%s  %s\n%s\n", out.ID, out.Status, kit.Visible(out.Objective))
	fmt.Fprintf(w, "revision %d, %s, by %s\n", out.Revision, kit.Count(int(out.Events), "event"), kit.VisibleLine(out.MadeBy))
	for _, line := range []struct{ name, says string }{{"folder", out.Folder}, {"next", out.Why}, {"error", out.LastError}} {
		if line.says != "" {
			fmt.Fprintf(w, "%-9s %s\n", line.name+":", kit.VisibleLine(line.says))
		}
	}
	if len(out.Steps) > 0 {
		fmt.Fprintln(w, "steps:")
	}
	for _, s := range out.Steps {
		fmt.Fprintf(w, "    %-11s %s  %s\n", s.Stage, s.ID, kit.VisibleLine(s.Title))
	}
	if len(out.List) > 0 {
		fmt.Fprintln(w, "tasks:")
	}
	for _, t := range out.List {
		fmt.Fprintf(w, "    %-11s %s  %s%s\n", t.Stage, t.ID, kit.VisibleLine(t.Kind), kit.VisibleLine(about(t)))
	}
	if out.Waits != "" && len(out.List) > 0 {
		fmt.Fprintf(w, "nothing can be claimed: %s\n", out.Waits)
	}
}

// about is what is worth knowing of a task beside its stage.
func about(t *wire.Task) string {
	out := ""
	switch {
	case t.Stage == wire.InProgress && t.LeaseEnds != nil:
		out = fmt.Sprintf(", held by %s until %s", t.Holder, t.LeaseEnds.Local().Format(time.TimeOnly))
	case t.Waits > 0:
		out = ", after " + strings.Join(t.After, " ")
	}
	if t.Attempt > 0 {
		out += fmt.Sprintf(", attempt %d of %d", t.Attempt, t.MaxAttempts)
	}
	if t.LastError != "" {
		out += ": " + brief(t.LastError)
	}
	return out
}

func newEvents(k *kit.Kit) *cobra.Command {
	var in wire.EventsIn
	cmd := &cobra.Command{
		Use: "events RUN", Short: "See what happened to a context run", Args: cobra.ExactArgs(1),
		Example: "  tandem context events release\n  tandem context events release --tail 20",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID = args[0]
			out, err := op.Do(cmd.Context(), k, wire.Events, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				for _, e := range out.Events {
					fmt.Fprintf(w, "%d  %s  %s  %s by %s", e.Seq, e.At.Local().Format(time.DateTime), e.Status, e.Type, kit.VisibleLine(e.By))
					for _, word := range []string{e.Step, e.Task} {
						if word != "" {
							fmt.Fprintf(w, "  %s", word)
						}
					}
					fmt.Fprintln(w)
				}
				if out.More {
					fmt.Fprintf(w, "there are more: --after %d\n", out.Events[len(out.Events)-1].Seq)
				}
			})
		},
	}
	cmd.Flags().Int64Var(&in.After, "after", 0, "only events behind this number")
	cmd.Flags().IntVar(&in.Tail, "tail", 0, "only the newest so many")
	cmd.Flags().IntVar(&in.Limit, "limit", 0, "at most this many (100)")
	return cmd
}

func newAppend(k *kit.Kit) *cobra.Command {
	var in wire.AppendIn
	var payload string
	var rev int64
	cmd := &cobra.Command{
		Use: "append RUN TYPE", Short: "Say what happened, and where the run stands since", Args: cobra.ExactArgs(2),
		Long: `Say what happened to a context run. TYPE is a word with underscores; step_started, step_completed, step_failed and
step_blocked say where their step stands. In the payload why_next_step, steps, step_status and error change the run.`,
		Example: "  tandem context append release step_completed --step build --status running\n" +
			"  tandem context append release run_failed --status failed --payload '{\"error\":\"the disk is full\"}'",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID, in.Type = args[0], args[1]
			if payload != "" {
				in.Payload = []byte(payload)
			}
			if cmd.Flags().Changed("if-revision") {
				in.IfRev = &rev
			}
			out, err := op.Do(cmd.Context(), k, wire.Append, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s is %s, at revision %d\n", out.Run.ID, out.Run.Status, out.Run.Revision)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar((*string)(&in.Status), "status", "", "where the run stands since (as it stood)")
	f.StringVar(&in.Step, "step", "", "the step that it is about")
	f.StringVar(&payload, "payload", "", "a JSON object")
	f.StringVar(&in.Command, "command", "", "a name of your own for it: what is sent twice counts once")
	f.Int64Var(&rev, "if-revision", 0, "only when the run is at this revision")
	return cmd
}

func newRemove(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "remove RUN", Short: "Delete a context run that has ended, with all that was written down", Args: cobra.ExactArgs(1),
		Example: "  tandem context remove release",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, wire.Remove, wire.IDIn{ID: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s is deleted, with %s\n", out.ID, kit.Count(int(out.Events), "event"))
			})
		},
	}
}
