package memory

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
)

func newEdit(k *kit.Kit) *cobra.Command {
	var in wire.EditIn
	var labels []string
	cmd := &cobra.Command{
		Use: "edit MEMORY [TEXT]", Short: "Mend a record; needs your PIN", Args: cobra.RangeArgs(1, 2),
		Long: "Mend a record: its text, its kind or its labels. Every earlier version stays in its history.",
		Example: "  tandem memory edit mem_01j9z 'Releases are cut on Wednesdays'\n" +
			"  tandem memory edit mem_01j9z --label release,calendar",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID = args[0]
			if len(args) == 2 {
				in.Text = &args[1]
			}
			if cmd.Flags().Changed("label") {
				in.Labels = &labels
			}
			return say(cmd, k, wire.Edit, in)
		},
	}
	cmd.Flags().StringVar((*string)(&in.Kind), "kind", "", "fact, decision, lesson, preference or note")
	cmd.Flags().StringSliceVar(&labels, "label", nil, "these labels, in place of those it has")
	cmd.Flags().Int64Var(&in.Version, "version", 0, "only when it is at this version")
	return cmd
}

func newPromote(k *kit.Kit) *cobra.Command {
	var in wire.MoveIn
	cmd := &cobra.Command{
		Use: "promote MEMORY", Short: "Make a proposal live, or let a record reach further; needs your PIN", Args: cobra.ExactArgs(1),
		Long: `Make a proposed record live: from now on it is found and told, as approved by you. If it replaces another one, that one
is superseded. With --tier a record reaches further: from a session to a project, to the team, to a curated collection.`,
		Example: "  tandem memory promote mem_01j9z\n  tandem memory promote mem_01j9z --tier team",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID = args[0]
			r, err := op.Do(cmd.Context(), k, wire.Show, wire.IDIn{ID: in.ID})
			if err != nil {
				return err
			}
			if in.Version == 0 { // what is approved is what was read here
				in.Version = r.Version
			}
			if !k.JSON {
				whole(k.Screen(k.Out), r)
			}
			return say(cmd, k, wire.Promote, in)
		},
	}
	moves(cmd, &in)
	return cmd
}

func newDemote(k *kit.Kit) *cobra.Command {
	var in wire.MoveIn
	cmd := &cobra.Command{
		Use: "demote MEMORY", Short: "Take a record back, or let it reach less far", Args: cobra.ExactArgs(1),
		Long:    "Take a record back: it is proposed again, and nobody finds it. With --tier it stays live and reaches less far.",
		Example: "  tandem memory demote mem_01j9z\n  tandem memory demote mem_01j9z --tier project --of payments",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID = args[0]
			return say(cmd, k, wire.Demote, in)
		},
	}
	moves(cmd, &in)
	return cmd
}

func moves(cmd *cobra.Command, in *wire.MoveIn) {
	place(cmd, &in.Tier, &in.Of, "how far it reaches from now on")
	cmd.Flags().Int64Var(&in.Version, "version", 0, "only when it is at this version: the one that you read")
}

func newForget(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "forget MEMORY", Short: "Delete every text that a record ever had; needs your PIN", Args: cobra.ExactArgs(1),
		Long: `Delete every text that a record ever had, from the rows, the index and the file. That it was there, and who forgot it,
stays; the journal never held its text. Where it may still be is named.`,
		Example: "  tandem memory forget mem_01j9z",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, wire.Forget, wire.IDIn{ID: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s is forgotten\n", out.ID)
				for _, id := range out.Derived {
					fmt.Fprintf(w, "%s follows from it and is still there: tandem memory show %s\n", id, id)
				}
				for _, where := range out.Beyond {
					fmt.Fprintf(w, "it may still be in %s\n", where)
				}
			})
		},
	}
}
