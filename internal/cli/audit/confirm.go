package audit

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/journal"
	"tandem/internal/op"
)

func newConfirm(k *kit.Kit) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "confirm", Short: "Look at grants, tokens and the like that are older than the journal's word, and confirm them", Args: cobra.NoArgs,
		Long: "The journal vouches for every row that confers authority: grants, rules, tokens, passkeys, the PIN, who is what. " +
			"Rows from before it did,\n" +
			"or from under a key that was lost, go on working and are listed here until a person who is present confirms them. Take back first\n" +
			"what is not right: tandem grant revoke, tandem token revoke, tandem actor disable. " +
			"Rows of the actors that are there from the start, if\n" +
			"somebody changed them, are set back.",
		Example: "  tandem audit confirm\n  tandem audit confirm --yes",
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := op.Do(cmd.Context(), k, journal.AuditAdopted, struct{}{})
			if err != nil {
				return err
			}
			n := len(list.Rows) + len(list.Missing)
			err = k.Show(list, func(w io.Writer) {
				for _, text := range list.Missing {
					fmt.Fprintf(w, "missing: %s\n", kit.VisibleLine(text))
				}
				for _, r := range list.Rows {
					fmt.Fprintln(w, kit.VisibleLine(r.What))
				}
				if n == 0 {
					fmt.Fprintln(w, "nothing waits to be confirmed")
				}
			})
			if err != nil || n == 0 {
				return err
			}
			if !yes && k.Asks() {
				if yes, err = k.Yes(fmt.Sprintf("are all %d right?", n), false); err != nil {
					return err
				}
			}
			if !yes {
				fmt.Fprintln(k.Err, "nothing was confirmed; when all of it is right: tandem audit confirm --yes")
				return nil
			}
			out, err := op.Do(cmd.Context(), k, journal.AuditConfirm, journal.ConfirmIn{Digest: list.Digest})
			if err != nil {
				return err
			}
			fmt.Fprintf(k.Err, "%d confirmed\n", out.Confirmed)
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "confirm what is listed, without asking")
	return cmd
}
