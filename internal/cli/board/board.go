// Package board holds the commands of a space's task board.
package board

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/cli/space"
	"tandem/internal/op"
	"tandem/internal/space/peer"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	var in peer.BoardIn
	cmd := &cobra.Command{
		Use: "board", Short: "The task board of your space", Args: cobra.NoArgs,
		Long: "Show the task board of the space you are in, and work with it. What is done or cancelled is left out, " +
			"unless you ask for it. The first to claim a task wins; a claim is a lease that is renewed while you are here.",
		Example: "  tandem board\n  tandem board --ready\n  tandem board --mine --text auth\n  tandem board claim T-a1b2c3",
		RunE:    func(cmd *cobra.Command, _ []string) error { return space.Say(k, cmd, peer.BoardShow, in) },
	}
	f := cmd.Flags()
	f.BoolVar(&in.Mine, "mine", false, "only tasks that you hold or are to get")
	f.BoolVar(&in.Ready, "ready", false, "only tasks that can be claimed now")
	f.StringVar(&in.Status, "status", "", "only these states, behind commas: open, blocked, claimed, in_progress, done, cancelled")
	f.StringVar(&in.Text, "text", "", "only tasks with these words")
	f.StringVar(&in.Label, "label", "", "only tasks with this label; with several, behind commas, those that have them all")
	f.StringVar(&in.Under, "under", "", "only parts of this task, and their parts")
	f.BoolVar(&in.All, "all", false, "done and cancelled ones, too")
	f.BoolVar(&in.Archived, "archived", false, "only tasks that were put away")
	cmd.AddCommand(newAdd(k), newPlan(k), newUpdate(k), newDone(k), newBlock(k), newHandoff(k), newDepend(k), newFinding(k), newFindings(k),
		newShow(k), newEdit(k), newCancel(k), newComment(k), task(k, "reopen", "Open a done or cancelled task again", peer.BoardReopen),
		task(k, "claim", "Claim a task", peer.BoardClaim), task(k, "unclaim", "Release a task back to open", peer.BoardUnclaim),
		task(k, "take-back", "Free a task whose holder is gone", peer.BoardTakeBack), newStart(k), newImport(k), newExport(k),
		newGraph(k), newArchive(k), newHistory(k))
	for _, c := range append(cmd.Commands(), cmd) {
		space.Choose(c)
	}
	return []*cobra.Command{cmd}
}

func task(k *kit.Kit, verb, short string, act op.Def[peer.TaskIn, peer.Tasked]) *cobra.Command {
	var in peer.TaskIn
	cmd := &cobra.Command{Use: verb + " ID", Short: short, Example: "  tandem board " + verb + " T-a1b2c3", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.TaskID = args[0]
			return space.Say(k, cmd, act, in)
		}}
	cmd.Flags().Int64Var(&in.IfVer, "if-version", 0, "only when the task is at this version")
	return cmd
}

func newAdd(k *kit.Kit) *cobra.Command {
	var in peer.AddIn
	cmd := &cobra.Command{Use: "add TITLE", Short: "Add a task",
		Example: "  tandem board add 'Fix auth' --priority critical --depends-on T-a1b2c3\n" +
			"  tandem board add 'Round the cents' --label billing,easy --parent T-a1b2c3", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Title = args[0]
			return space.Say(k, cmd, peer.BoardAdd, in)
		}}
	f := cmd.Flags()
	f.StringVar(&in.Description, "description", "", "more about it")
	f.StringVar(&in.Priority, "priority", "", "critical, high, medium or low (medium)")
	f.StringSliceVar(&in.DependsOn, "depends-on", nil, "ids of tasks that must be done first")
	f.StringVar(&in.Assignee, "assign", "", "a peer's username")
	f.StringSliceVar(&in.Labels, "label", nil, "a label to find it by; several behind commas")
	f.StringVar(&in.Parent, "parent", "", "the id of the task that it is part of")
	return cmd
}

func newPlan(k *kit.Kit) *cobra.Command {
	return &cobra.Command{Use: "plan FILE", Short: "Add several tasks from a JSON file (- is standard input)",
		Long: `Add several tasks at once from {"tasks":[{"title":…,"ref":…,"depends_on":[…],"assignee":…,"priority":…,"labels":[…],` +
			`"parent":…}]}. A task may depend on an earlier one of the plan by its ref, its title or its number.`,
		Example: "  tandem board plan plan.json", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := read(k, args[0])
			if err != nil {
				return err
			}
			var in peer.PlanIn
			if err := json.Unmarshal(data, &in); err != nil {
				return kit.Usagef("%s is not a plan, {\"tasks\":[{\"title\":…}]}: %w", args[0], err)
			}
			return space.Say(k, cmd, peer.BoardPlan, in)
		}}
}

func read(k *kit.Kit, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(k.In)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the plan: %w", err)
	}
	return data, nil
}

func newUpdate(k *kit.Kit) *cobra.Command {
	var in peer.UpdateIn
	cmd := &cobra.Command{Use: "update ID STATUS", Short: "Change a task's status",
		Example: "  tandem board update T-a1b2c3 done --result 'patched in 1.2'", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.TaskID, in.Status = args[0], args[1]
			return space.Say(k, cmd, peer.BoardUpdate, in)
		}}
	cmd.Flags().StringVar(&in.Result, "result", "", "what came out of it")
	cmd.Flags().StringVar(&in.Reason, "reason", "", "why it is blocked")
	cmd.Flags().Int64Var(&in.IfVer, "if-version", 0, "only when the task is at this version")
	return cmd
}

func newStart(k *kit.Kit) *cobra.Command {
	return &cobra.Command{Use: "start ID", Short: "Claim a task and begin", Example: "  tandem board start T-a1b2c3", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return space.Say(k, cmd, peer.BoardUpdate, peer.UpdateIn{TaskID: args[0], Status: "in_progress"})
		}}
}

func newDone(k *kit.Kit) *cobra.Command {
	var result string
	cmd := &cobra.Command{Use: "done ID", Short: "Finish a task", Example: "  tandem board done T-a1b2c3 --result 'patched in 1.2'",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return space.Say(k, cmd, peer.BoardUpdate, peer.UpdateIn{TaskID: args[0], Status: "done", Result: result})
		}}
	cmd.Flags().StringVar(&result, "result", "", "what came out of it")
	return cmd
}

func newBlock(k *kit.Kit) *cobra.Command {
	return &cobra.Command{Use: "block ID REASON", Short: "Say that you cannot go on with a task",
		Example: "  tandem board block T-a1b2c3 'waiting for the staging key'", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return space.Say(k, cmd, peer.BoardUpdate, peer.UpdateIn{TaskID: args[0], Status: "blocked", Reason: args[1]})
		}}
}

func newHandoff(k *kit.Kit) *cobra.Command {
	var in peer.HandoffIn
	cmd := &cobra.Command{Use: "handoff ID PEER", Short: "Hand a task you hold to a peer",
		Example: "  tandem board handoff T-a1b2c3 NeonOtter --note 'tests are green'", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.TaskID, in.To = args[0], args[1]
			return space.Say(k, cmd, peer.BoardHandoff, in)
		}}
	cmd.Flags().StringVar(&in.Note, "note", "", "what the peer should know")
	return cmd
}

func newDepend(k *kit.Kit) *cobra.Command {
	return &cobra.Command{Use: "depend ID [ON …]", Short: "Change what a task depends on", Example: "  tandem board depend T-d4e5f6 T-a1b2c3",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return space.Say(k, cmd, peer.BoardDepend, peer.DependIn{TaskID: args[0], DependsOn: args[1:]})
		}}
}

func newFinding(k *kit.Kit) *cobra.Command {
	var in peer.FindingIn
	cmd := &cobra.Command{Use: "finding SERVICE SUMMARY", Short: "Report a finding",
		Example: "  tandem board finding auth 'token leaks into the log' --severity high --task T-a1b2c3", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Service, in.Summary = args[0], args[1]
			return space.Say(k, cmd, peer.BoardFinding, in)
		}}
	f := cmd.Flags()
	f.StringVar(&in.Severity, "severity", "medium", "critical, high, medium, low or info")
	f.StringVar(&in.Category, "category", "", "what sort of finding")
	f.IntVar(&in.Count, "count", 0, "how often it occurs")
	f.StringVar(&in.Recommendation, "recommendation", "", "what to do about it")
	f.StringVar(&in.TaskID, "task", "", "the task it belongs to")
	return cmd
}

func newFindings(k *kit.Kit) *cobra.Command {
	var in peer.FindingsIn
	cmd := &cobra.Command{Use: "findings", Short: "List the findings", Example: "  tandem board findings --severity high", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return space.Say(k, cmd, peer.BoardFindings, in) }}
	cmd.Flags().StringVar(&in.Severity, "severity", "", "only this severity")
	cmd.Flags().StringVar(&in.Service, "service", "", "only this service")
	return cmd
}
