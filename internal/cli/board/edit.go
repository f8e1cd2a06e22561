package board

import (
	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/cli/space"
	"tandem/internal/space/peer"
)

func newShow(k *kit.Kit) *cobra.Command {
	return &cobra.Command{Use: "show ID", Short: "Show one task, and what was said about it", Example: "  tandem board show T-a1b2c3",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return space.Say(k, cmd, peer.BoardShow, peer.BoardIn{TaskID: args[0]})
		}}
}

func newEdit(k *kit.Kit) *cobra.Command {
	var in peer.EditIn
	cmd := &cobra.Command{Use: "edit ID", Short: "Change a task's title, description, priority, labels or parent",
		Long: "Change a task's title, description, priority, labels or what it is part of; what you leave out stays. Its creator may, " +
			"its holder, or a person who is present.",
		Example: "  tandem board edit T-a1b2c3 --title 'Fix auth on mobile' --priority high\n" +
			"  tandem board edit T-a1b2c3 --label auth,mobile --unlabel easy\n  tandem board edit T-d4e5f6 --parent T-a1b2c3",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.TaskID = args[0]
			return space.Say(k, cmd, peer.BoardEdit, in)
		}}
	f := cmd.Flags()
	f.StringVar(&in.Title, "title", "", "a new title")
	f.StringVar(&in.Description, "description", "", "more about it")
	f.StringVar(&in.Priority, "priority", "", "critical, high, medium or low")
	f.StringSliceVar(&in.Labels, "label", nil, "a label that it gets; several behind commas")
	f.StringSliceVar(&in.Unlabel, "unlabel", nil, "a label that it is to have no longer; several behind commas")
	f.StringVar(&in.Parent, "parent", "", "the id of the task that it is part of; none takes it out of the one it is in")
	f.Int64Var(&in.IfVer, "if-version", 0, "only when the task is at this version")
	return cmd
}

func newCancel(k *kit.Kit) *cobra.Command {
	var in peer.CancelIn
	cmd := &cobra.Command{Use: "cancel ID [REASON]", Short: "Say that a task is not to be done",
		Long: "Say that a task is not to be done. Its creator may, its holder, or a person who is present. " +
			"What depends on it goes on waiting, until tandem board depend says otherwise.",
		Example: "  tandem board cancel T-d4e5f6 'the feature was dropped'", Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.TaskID = args[0]
			if len(args) > 1 {
				in.Reason = args[1]
			}
			return space.Say(k, cmd, peer.BoardCancel, in)
		}}
	cmd.Flags().Int64Var(&in.IfVer, "if-version", 0, "only when the task is at this version")
	return cmd
}

func newComment(k *kit.Kit) *cobra.Command {
	return &cobra.Command{Use: "comment ID TEXT", Short: "Say something about a task",
		Example: "  tandem board comment T-a1b2c3 'see the log of last night'",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return space.Say(k, cmd, peer.BoardComment, peer.CommentIn{TaskID: args[0], Text: args[1]})
		}}
}
