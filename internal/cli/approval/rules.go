package approval

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	room "tandem/internal/approval"
	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/told"
)

func newRules(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "rules", Short: "List the standing answers that are in force", Args: cobra.NoArgs, Example: "  tandem approvals rules",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, room.RuleList, room.Nothing{})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Rules) == 0 {
					fmt.Fprintln(w, "no standing answers")
					return
				}
				t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
				fmt.Fprintln(t, "ID\tLETS PASS\tWHERE\tOWNER\tUNTIL")
				for _, r := range out.Rules {
					where := r.Session
					if r.Scope == room.InFolder {
						where = "its folder"
					}
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.ID, kit.VisibleLine(r.Pattern), where, kit.VisibleLine(told.By(r.Owner)),
						r.ExpiresAt.Local().Format("01-02 15:04"))
				}
				t.Flush()
			})
		},
	}
}

func newForget(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "forget RULE", Short: "End a standing answer; the next call asks again", Args: cobra.ExactArgs(1),
		Example: "  tandem approvals forget rul_01j…",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, room.RuleForget, room.IDIn{ID: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is gone\n", args[0]) })
		},
	}
}
