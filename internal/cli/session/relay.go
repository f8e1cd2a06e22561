package session

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	room "tandem/internal/session"
	"tandem/internal/session/relay"
)

func newRelay(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "relay", Short: "A lead and a worker that go on by themselves",
		Long: "A relay is two sessions: a lead that plans and reviews, and a worker that builds. " +
			"When a task is done the lead parks and waits for the next one."}
	cmd.AddCommand(newRelayStart(k), newRelayRead(k), newRelayList(k),
		newRelayText(k, "enqueue", relay.RelayEnqueue, "Give a relay its next task, or the answer to its question"),
		newRelayText(k, "inject", relay.RelayInject, "Tell a running relay's lead something"), newRelayStop(k))
	return cmd
}

func showRelay(w io.Writer, r *relay.Relay) {
	fmt.Fprintf(w, "%s is %s: task %d, turn %d of %d\n", r.ID, r.Status, r.TaskNo, r.Turn, r.Turns)
	if r.Question != "" {
		fmt.Fprintf(w, "it asks: %s\nanswer: tandem relay enqueue %s \"…\"\n", r.Question, r.ID)
	}
	if r.Reason != "" {
		fmt.Fprintln(w, r.Reason)
	}
}

func newRelayStart(k *kit.Kit) *cobra.Command {
	var in relay.StartIn
	cmd := &cobra.Command{
		Use: "start TASK", Short: "Start a relay on a task", Args: cobra.MinimumNArgs(1),
		Example: "  tandem relay start \"make the tests pass\" -C ~/code/app",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Task = strings.Join(args, " ")
			var err error
			if in.Cwd, err = k.Folder(cmd.Context(), in.Cwd); err != nil {
				return err
			}
			begun := k.Meanwhile("starting its lead, which can take half a minute …")
			out, err := op.Do(cmd.Context(), k, relay.RelayStart, in)
			begun()
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				showRelay(w, out)
				fmt.Fprintf(w, "see how it goes: tandem relay read %s\n", out.ID)
			})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&in.Cwd, "cwd", "C", "", "the working folder (this one)")
	f.StringVar(&in.Mission, "mission", "", "the standing definition of done (the task)")
	f.StringVar(&in.Lead.Agent, "lead", "", "claude, codex, opencode or model")
	f.StringVar(&in.Worker.Agent, "worker", "", "claude, codex, opencode or model")
	f.StringVar(&in.Lead.Model, "lead-model", "", "the lead's model")
	f.StringVar(&in.Worker.Model, "worker-model", "", "the worker's model")
	f.Int64Var(&in.Turns, "turns", 0, "turns of the lead for each task (24, at most 50)")
	f.Int64Var(&in.Budget, "budget-seconds", 0, "time for each task (1800)")
	f.Int64Var(&in.Tokens, "budget-tokens", 0, "tokens of both for each task")
	f.Int64Var(&in.Cents, "budget-cents", 0, "cost of both for each task in US cents, where it is known")
	f.Int64Var(&in.Park, "idle-seconds", 0, "how long it waits for the next task (900, at most 3600)")
	f.Int64Var(&in.Answer, "answer-seconds", 0, "how long it waits for an answer (3600, at most 21600)")
	return cmd
}

func newRelayRead(k *kit.Kit) *cobra.Command {
	var in relay.ReadIn
	cmd := &cobra.Command{
		Use: "read RELAY", Short: "Show where a relay stands, and its log", Args: cobra.ExactArgs(1), Example: "  tandem relay read loop_01j…",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID = args[0]
			out, err := op.Do(cmd.Context(), k, relay.RelayRead, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				for _, e := range out.Log {
					fmt.Fprintf(w, "%d %s: %s\n", e.Step, e.Role, strings.TrimSpace(e.Text))
				}
				showRelay(w, &out.Relay)
			})
		},
	}
	cmd.Flags().Int64Var(&in.Cursor, "cursor", 0, "only steps behind this one")
	return cmd
}

func newRelayList(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List relays", Args: cobra.NoArgs, Example: "  tandem relay list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, relay.RelayList, room.Nothing{})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				for _, r := range out.Relays {
					showRelay(w, r)
				}
				if len(out.Relays) == 0 {
					fmt.Fprintln(w, "there are no relays; start one: tandem relay start TASK")
				}
			})
		},
	}
}

func newRelayText(k *kit.Kit, verb string, act op.Def[relay.TextIn, *relay.Relay], short string) *cobra.Command {
	return &cobra.Command{
		Use: verb + " RELAY TEXT", Short: short, Args: cobra.MinimumNArgs(2), Example: "  tandem relay " + verb + " loop_01j… \"now the docs\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, act, relay.TextIn{ID: args[0], Text: strings.Join(args[1:], " ")})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { showRelay(w, out) })
		},
	}
}

func newRelayStop(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "stop RELAY", Short: "Stop a relay and close its sessions", Args: cobra.ExactArgs(1), Example: "  tandem relay stop loop_01j…",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, relay.RelayStop, relay.IDIn{ID: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { showRelay(w, out) })
		},
	}
}
