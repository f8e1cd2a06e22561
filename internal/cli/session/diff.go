package session

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	room "tandem/internal/session"
)

func newDiff(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "diff SESSION", Short: "Show what changed in a session's folder since it began", Args: cobra.ExactArgs(1),
		Long: "Show what changed in a session's folder since it began, whoever changed it: new, changed and removed files, " +
			"as a patch that git apply takes. " +
			"What ignore files name, and files that may hold keys, are left out.",
		Example: "  tandem session diff builder\n  tandem session diff builder >builder.patch",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := sessionID(cmd.Context(), k, args[0])
			if err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, room.SessionDiff, room.IDIn{ID: id})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprint(w, out.Diff)
				if out.Diff == "" {
					fmt.Fprintln(k.Err, "nothing changed")
				}
				if out.Note != "" {
					fmt.Fprintln(k.Err, out.Note)
				}
			})
		},
	}
}
