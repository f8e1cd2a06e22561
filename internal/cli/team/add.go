package team

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/team/wire"
)

// newAdd gives a team a task more: its plan, with one at the end.
func newAdd(k *kit.Kit) *cobra.Command {
	var item wire.Item
	cmd := &cobra.Command{
		Use: "add TEAM TEXT", Short: "Add a task to a team's plan, also while it works", Args: cobra.MinimumNArgs(2),
		Long: "Add a task to a team's plan: a person says so, present. A team that works begins it when those before it are merged and a " +
			"place is free; one whose plan waits has it approved with the rest.",
		Example: "  tandem team add team_01j… \"say it in the changelog\"\n" +
			"  tandem team add team_01j… \"say it in the docs\" --name docs --after redirect --files docs",
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := op.Do(cmd.Context(), k, wire.Get, wire.IDIn{ID: args[0]})
			if err != nil {
				return err
			}
			item.Text = strings.Join(args[1:], " ")
			item.Name = cmp.Or(item.Name, "task-"+strconv.Itoa(len(t.Tasks)+1))
			plan := t.Plan()
			plan.Tasks = append(plan.Tasks, item)
			t, err = op.Do(cmd.Context(), k, wire.Edit, wire.EditIn{ID: t.ID, Plan: plan, Version: t.Version})
			return shown(k, t, err)
		},
	}
	f := cmd.Flags()
	f.StringVar(&item.Name, "name", "", "a short word for it: a-z, 0-9 and - (task- and its number)")
	f.StringSliceVar(&item.After, "after", nil, "the tasks that are merged before it begins")
	f.StringSliceVar(&item.Files, "files", nil, "files or folders that it has to itself")
	f.StringVar(&item.Check, "check", "", "a command that says by its exit code whether it is good (the team's)")
	f.StringVar(&item.Agent, "agent", "", "which of the team's workers does it (in turn)")
	return cmd
}
