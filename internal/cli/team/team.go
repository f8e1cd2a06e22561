// Package team holds the commands for teams: several agents on one goal.
package team

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	job "tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/team/wire"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	cmd := &cobra.Command{Use: "team", Short: "Several agents on one goal",
		Long: "A team has a lead that makes a plan of tasks. A person approves or edits the plan; then each task is done as a job of its own, " +
			"when those before it are merged and a place is free. The lead is asked again only about a task that failed.",
		Example: "  tandem team start \"move billing to the new API\" --agents 3 --check \"go test ./...\"\n  tandem team show team_01j…"}
	cmd.AddCommand(newStart(k), newList(k), newShow(k), newWait(k), newPlan(k), newAdd(k), newApprove(k),
		verb(k, "pause", "Pause a team: its jobs are stopped, and nothing begins", wire.Pause),
		newResume(k),
		verb(k, "stop", "Stop a team for good; what was merged stays", wire.Stop))
	return []*cobra.Command{cmd}
}

func newStart(k *kit.Kit) *cobra.Command {
	var in wire.StartIn
	var budget, until, workers string
	cmd := &cobra.Command{
		Use: "start GOAL", Short: "Start a team", Args: cobra.MinimumNArgs(1),
		Example: "  tandem team start \"move billing to the new API\" --agents 3 --check \"go test ./...\"\n" +
			"  tandem team start \"move billing to the new API\" --lead claude --workers codex,claude --budget 2000000tokens --until 18:00\n" +
			"  tandem team start \"move billing to the new API\" --workers codex,claude --review others",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			in.Goal = strings.Join(args, " ")
			if in.Folder, err = k.Checkout(cmd.Context(), cmp.Or(in.Folder, ".")); err != nil {
				return err
			}
			if in.Budget, err = job.ParseBudget(budget); err != nil {
				return err
			}
			if in.Until, err = clock(until, time.Now()); err != nil {
				return err
			}
			if workers != "" {
				in.Workers = strings.Split(workers, ",")
			}
			t, err := op.Do(cmd.Context(), k, wire.Start, in)
			return shown(k, t, err)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&in.Folder, "cwd", "C", "", "a folder in the git checkout (this one)")
	f.StringVar(&in.Onto, "onto", "", "the branch that its jobs are for (the one that is checked out there)")
	f.Int64Var(&in.Agents, "agents", 0, "how many work at once (2)")
	f.StringSliceVar(&in.Knowledge, "knowledge", nil, "the knowledge spaces that all of it reads, and no others")
	f.StringVar(&in.Lead, "lead", "", "who plans: claude, codex, opencode, or a model as provider/model (the default model)")
	f.StringVar(&workers, "workers", "", "who works, in turn, with commas (the same as the lead)")
	f.StringVar(&in.Review, "review", "", "who reviews finished tasks before you look: an agent, or others for another one of the workers")
	f.StringVar(&budget, "budget", "", "what all of them together may use up: 20usd, 2000000tokens or 100turns, several with commas")
	f.StringVar(&until, "until", "", "when it is paused: 18:00, or 2026-11-17T18:00:00Z")
	f.StringVar(&in.Check, "check", "", "a command that says by its exit code whether a task's work is good")
	return cmd
}

// clock is a time that is to come: one of today or tomorrow, or a whole one.
func clock(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	at, err := time.ParseInLocation("15:04", text, now.Location())
	if err != nil {
		return at, fault.New(fault.Invalid, "team.start", "%.40q is no time", text).WithNext("write 18:00, or 2026-11-17T18:00:00Z")
	}
	at = time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), 0, 0, now.Location())
	if !at.After(now) {
		at = at.AddDate(0, 0, 1)
	}
	return at, nil
}

func shown(k *kit.Kit, t *wire.Team, err error) error {
	if err != nil {
		return err
	}
	return k.Show(t, func(w io.Writer) { show(w, t) })
}

func newList(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List teams", Args: cobra.NoArgs, Example: "  tandem team list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, wire.List, wire.ListIn{})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Teams) == 0 {
					fmt.Fprintln(w, "there are no teams; start one: tandem team start GOAL")
					return
				}
				tab := kit.Table(w)
				fmt.Fprintln(tab, "TEAM\tSTATE\tMERGED\tGOAL")
				for _, t := range out.Teams {
					fmt.Fprintf(tab, "%s\t%s\t%d of %d\t%s\n", t.ID, t.State, merged(t), len(t.Tasks), kit.VisibleLine(title(t)))
				}
				tab.Flush()
			})
		},
	}
}

func newShow(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "show TEAM", Short: "Show where a team stands: who does what, what waits for you, what was used up", Args: cobra.ExactArgs(1),
		Example: "  tandem team show team_01j…",
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := op.Do(cmd.Context(), k, wire.Get, wire.IDIn{ID: args[0]})
			return shown(k, t, err)
		},
	}
}

func newWait(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "wait TEAM", Short: "Wait until a team needs somebody or is over", Args: cobra.ExactArgs(1),
		Example: "  tandem team wait team_01j…",
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := op.Do(cmd.Context(), k, wire.Wait, wire.WaitIn{ID: args[0]})
			for err == nil && !t.NeedsPerson() {
				t, err = op.Do(cmd.Context(), k, wire.Wait, wire.WaitIn{ID: args[0]})
			}
			return shown(k, t, err)
		},
	}
}

func newPlan(k *kit.Kit) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "plan TEAM", Short: "Show a team's plan, or give it another one", Args: cobra.ExactArgs(1),
		Long: "Show a team's plan as JSON, to look at it or to edit it. With --file the plan in that file becomes the team's: a person says " +
			"so, present. While the team works, tasks that have begun stay as they are, and the rest may be more, less or others.",
		Example: "  tandem team plan team_01j… > plan.json\n  tandem team plan team_01j… --file plan.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "" {
				t, err := op.Do(cmd.Context(), k, wire.Get, wire.IDIn{ID: args[0]})
				if err != nil {
					return err
				}
				plan := t.Plan()
				var text strings.Builder
				e := json.NewEncoder(&text)
				e.SetEscapeHTML(false) // a check is read as it is run
				e.SetIndent("", "  ")
				if err := e.Encode(plan); err != nil {
					return err
				}
				return k.Show(plan, func(w io.Writer) { fmt.Fprint(w, kit.Visible(text.String())) })
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return fault.New(fault.Invalid, "team.plan", "%s cannot be read: %v", file, err)
			}
			in := wire.EditIn{ID: args[0]}
			if err := json.Unmarshal(text, &in.Plan); err != nil {
				return fault.New(fault.Invalid, "team.plan", "%s is no plan: %v", file, err).
					WithNext("begin with the one that there is: tandem team plan %s", args[0])
			}
			t, err := op.Do(cmd.Context(), k, wire.Edit, in)
			return shown(k, t, err)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "a plan as JSON, which becomes the team's")
	return cmd
}

func newApprove(k *kit.Kit) *cobra.Command {
	var in wire.ApproveIn
	cmd := &cobra.Command{
		Use: "approve TEAM", Short: "Approve a team's plan, so that its tasks are begun", Args: cobra.ExactArgs(1),
		Long: "Approve a team's plan: a person says so, present, about the plan that they looked at.\n" +
			"The line with its number is at the end of: tandem team show TEAM",
		Example: "  tandem team approve team_01j… --plan 1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if in.ID = args[0]; in.Version == 0 {
				return fault.New(fault.Invalid, "team.approve", "say which plan you looked at").WithNext("look: tandem team show %s", in.ID)
			}
			t, err := op.Do(cmd.Context(), k, wire.Approve, in)
			return shown(k, t, err)
		},
	}
	cmd.Flags().Int64Var(&in.Version, "plan", 0, "the number of the plan that you looked at; another one is refused")
	return cmd
}

func newResume(k *kit.Kit) *cobra.Command {
	var until string
	cmd := &cobra.Command{
		Use: "resume TEAM", Short: "Let a team go on that is paused or blocked", Args: cobra.ExactArgs(1),
		Example: "  tandem team resume team_01j…\n  tandem team resume team_01j… --until 18:00",
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := clock(until, time.Now())
			if err != nil {
				return err
			}
			t, err := op.Do(cmd.Context(), k, wire.Resume, wire.ResumeIn{ID: args[0], Until: at})
			return shown(k, t, err)
		},
	}
	cmd.Flags().StringVar(&until, "until", "", "when it is paused again: 18:00, or 2026-11-17T18:00:00Z; needed when its time is over")
	return cmd
}

func verb(k *kit.Kit, name, short string, d op.Def[wire.IDIn, *wire.Team]) *cobra.Command {
	return &cobra.Command{
		Use: name + " TEAM", Short: short, Args: cobra.ExactArgs(1), Example: "  tandem team " + name + " team_01j…",
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := op.Do(cmd.Context(), k, d, wire.IDIn{ID: args[0]})
			return shown(k, t, err)
		},
	}
}
