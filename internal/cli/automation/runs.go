package automation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/automation/wire"
	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/told"
)

func newRun(k *kit.Kit) *cobra.Command {
	var inputs []string
	cmd := &cobra.Command{
		Use: "run NAME", Short: "Begin a run now", Args: cobra.ExactArgs(1),
		Long:    "Begin a run of the version that is switched on. It goes on by itself, also when the server is stopped meanwhile.",
		Example: "  tandem automation run nightly\n  tandem automation run weekly-mail --input week=42",
		RunE: func(cmd *cobra.Command, args []string) error {
			in := wire.BeginIn{Name: args[0], Input: map[string]any{}}
			for _, one := range inputs {
				name, value, ok := wire.ParseInput(one)
				if !ok {
					return kit.Usagef("--input is NAME=VALUE, not %q", one)
				}
				in.Input[name] = value
			}
			r, err := op.Do(cmd.Context(), k, wire.Begin, in)
			if err != nil {
				return err
			}
			return k.Show(r, func(w io.Writer) {
				fmt.Fprintf(w, "%s begins: %s\nsee how it goes: tandem automation runs show %s\n", r.Name, r.ID, r.ID)
			})
		},
	}
	cmd.Flags().StringArrayVar(&inputs, "input", nil, "NAME=VALUE; a value that reads as JSON is that, everything else is text")
	return cmd
}

func newRuns(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "runs", Short: "What became of runs, and what is done with them",
		Long: "What became of runs, and what is done with them. A run that failed for the words of a node goes on with others: " +
			"tandem automation repair."}
	cmd.AddCommand(newRunsList(k), newRunsShow(k),
		steer(k, "pause", "Begin nothing new in a run", wire.Pause), steer(k, "resume", "Go on with a paused run", wire.Resume),
		steer(k, "cancel", "Cancel a run; what was done is not undone", wire.Cancel),
		mend(k, "retry", "Let a step run again that failed or is unknown; needs your PIN", wire.Retry),
		mend(k, "skip", "Skip a step, with a reason; needs your PIN", wire.Skip),
		mend(k, "accept", "Say that a step of which nobody knew was done; needs your PIN", wire.Accept))
	return cmd
}

func newRunsList(k *kit.Kit) *cobra.Command {
	var in wire.RunsIn
	cmd := &cobra.Command{
		Use: "list [NAME]", Short: "List runs, newest first", Args: cobra.MaximumNArgs(1),
		Example: "  tandem automation runs list\n  tandem automation runs list nightly --open",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				in.Name = args[0]
			}
			out, err := op.Do(cmd.Context(), k, wire.Runs, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Runs) == 0 {
					fmt.Fprintln(w, "no runs; begin one: tandem automation run NAME")
					return
				}
				t := kit.Table(w)
				fmt.Fprintln(t, "RUN\tAUTOMATION\tSTATUS\tBEGAN\tBY\tWHY")
				for _, r := range out.Runs {
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, r.Name, r.Status, kit.Age(r.BeganAt), told.By(r.By),
						kit.VisibleLine(cmp.Or(r.Reason, r.Needs, strings.Join(r.Waits, "; "))))
				}
				t.Flush()
			})
		},
	}
	cmd.Flags().BoolVar(&in.Open, "open", false, "only those that have not ended")
	cmd.Flags().IntVar(&in.Limit, "limit", 0, "at most this many (50)")
	return cmd
}

func newRunsShow(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "show RUN", Short: "Show a run: where each step stands, and why it waits", Args: cobra.ExactArgs(1),
		Example: "  tandem automation runs show run_01k…",
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := op.Do(cmd.Context(), k, wire.Trace, wire.RunIn{ID: args[0]})
			if err != nil {
				return err
			}
			return k.Show(r, func(w io.Writer) { showRun(w, r) })
		},
	}
}

// showRun is a run as people read it.
func showRun(w io.Writer, r *wire.Run) {
	fmt.Fprintf(w, "%s of %s is %s\n", r.ID, r.Name, r.Status)
	if r.Reason != "" {
		fmt.Fprintln(w, "reason:  "+kit.VisibleLine(r.Reason))
	}
	fmt.Fprintf(w, "began:   %s, %s, for %s\nversion: %.12s\n",
		r.BeganAt.Local().Format("2006-01-02 15:04:05"), r.Cause, told.By(r.By), r.Digest)
	t := kit.Table(w)
	fmt.Fprintln(t, "NODE\tKIND\tSTATE\tATTEMPT\tGAVE\tWHY")
	for _, s := range r.Steps {
		node := s.Node
		if s.Item > 0 {
			node = fmt.Sprintf("  %s %d", s.Node, s.Item)
		}
		gave := ""
		if len(s.Output) > 0 {
			data, _ := json.Marshal(s.Output) //nolint:errcheck // it came as JSON
			gave = short(string(data))
		}
		why := s.Reason
		if s.Waits != "" {
			why = strings.TrimPrefix(why+"; waits: "+s.Waits, "; ")
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\n", node, s.Kind, s.State, s.Attempt, kit.VisibleLine(gave), kit.VisibleLine(why))
	}
	t.Flush()
	for _, one := range r.Repairs {
		fmt.Fprintf(w, "repaired: %s, by %s, %s", one.Node, told.By(one.By), one.At.Local().Format("2006-01-02 15:04:05"))
		if one.Reason != "" {
			fmt.Fprint(w, ": "+kit.VisibleLine(one.Reason))
		}
		fmt.Fprintf(w, "; version %.12s\n", one.Digest)
	}
	for _, s := range r.Steps {
		if s.Session != "" {
			fmt.Fprintf(w, "%s: %d tokens, $%.4f, %s; see it: tandem session show %s\n", s.Node, s.Tokens, s.Cost, s.Turn, s.Session)
		}
		if s.Run != "" {
			fmt.Fprintf(w, "%s: see its run: tandem automation runs show %s\n", s.Node, s.Run)
		}
	}
}

func short(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return s
}

func steer(k *kit.Kit, verb, text string, d op.Def[wire.RunIn, *wire.Run]) *cobra.Command {
	var in wire.RunIn
	cmd := &cobra.Command{
		Use: verb + " RUN", Short: text, Args: cobra.ExactArgs(1), Example: "  tandem automation runs " + verb + " run_01k…",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID = args[0]
			r, err := op.Do(cmd.Context(), k, d, in)
			if err != nil {
				return err
			}
			return k.Show(r, func(w io.Writer) { fmt.Fprintf(w, "%s is %s\n", r.ID, r.Status) })
		},
	}
	cmd.Flags().StringVar(&in.Reason, "reason", "", "why, for those who look later")
	return cmd
}

func mend(k *kit.Kit, verb, text string, d op.Def[wire.StepIn, *wire.Run]) *cobra.Command {
	var in wire.StepIn
	var output string
	cmd := &cobra.Command{
		Use: verb + " RUN NODE", Short: text, Args: cobra.ExactArgs(2),
		Example: map[string]string{
			"retry":  "  tandem automation runs retry run_01k… draft",
			"skip":   "  tandem automation runs skip run_01k… draft --reason 'written by hand'",
			"accept": "  tandem automation runs accept run_01k… send --output '{\"id\": \"m-1\"}'",
		}[verb],
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID, in.Node = args[0], args[1]
			if output != "" {
				if err := json.Unmarshal([]byte(output), &in.Output); err != nil {
					return kit.Usagef("--output is a JSON object: %v", err)
				}
			}
			r, err := op.Do(cmd.Context(), k, d, in)
			if err != nil {
				return err
			}
			return k.Show(r, func(w io.Writer) { fmt.Fprintf(w, "%s is %s\n", r.ID, r.Status) })
		},
	}
	cmd.Flags().IntVar(&in.Item, "item", 0, "of a map: which item, from 1 on")
	cmd.Flags().StringVar(&in.Reason, "reason", "", "why, for those who look later")
	if verb == "accept" {
		cmd.Flags().StringVar(&output, "output", "", "what the step would have given, as a JSON object")
	}
	return cmd
}

func newTicks(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "ticks NAME", Short: "List when an automation was due, and what became of it", Args: cobra.ExactArgs(1),
		Example: "  tandem automation ticks nightly",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, wire.Ticks, wire.NameIn{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Ticks) == 0 {
					fmt.Fprintln(w, "it was not due yet")
					return
				}
				t := kit.Table(w)
				fmt.Fprintln(t, "DUE\tTRIGGER\tCOUNT\tRUN\tWHY NOT")
				for _, one := range out.Ticks {
					fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\n", one.Due.Local().Format("2006-01-02 15:04:05"), one.Trigger,
						one.Count, one.Run, kit.VisibleLine(one.Why))
				}
				t.Flush()
			})
		},
	}
}
