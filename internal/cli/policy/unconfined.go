package policy

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/told"
)

func newGrantUnconfined(k *kit.Kit) *cobra.Command {
	var take bool
	cmd := &cobra.Command{
		Use: "unconfined [SESSION]", Short: "Let one session's commands run without a sandbox, where there is none; " +
			"without a session, list them; needs your PIN", Args: cobra.MaximumNArgs(1),
		Long: "Let the commands of one session run on a machine without a sandbox (no bubblewrap, no Landlock). " +
			"Such a command can read and change whatever you can. " +
			"Each one still asks as the rules say, and the grant ends with the session.",
		Example: "  tandem grant unconfined ses_01j…\n  tandem grant unconfined ses_01j… --revoke\n  tandem grant unconfined",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && take {
				return kit.Usagef("name the session; see: %s --help", cmd.CommandPath())
			}
			if len(args) == 0 {
				return listUnconfined(cmd, k)
			}
			in := session.IDIn{ID: args[0]}
			if take {
				out, err := op.Do(cmd.Context(), k, session.SessionConfine, in)
				if err != nil {
					return err
				}
				return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "commands of %s no longer run without a sandbox\n", in.ID) })
			}
			out, err := op.Do(cmd.Context(), k, session.SessionUnconfine, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "commands of %s may run without a sandbox\n", out.Session) })
		},
	}
	cmd.Flags().BoolVar(&take, "revoke", false, "take it back")
	return cmd
}

func listUnconfined(cmd *cobra.Command, k *kit.Kit) error {
	out, err := op.Do(cmd.Context(), k, session.SessionUnconfined, session.Nothing{})
	if err != nil {
		return err
	}
	return k.Show(out, func(w io.Writer) {
		if len(out.Sessions) == 0 {
			fmt.Fprintf(w, "no session's commands may run without a sandbox; the sandbox here: %s\n", out.Sandbox)
		}
		for _, u := range out.Sessions {
			fmt.Fprintf(w, "%s  (by %s, %s)\n", u.Session, told.By(u.GrantedBy), u.CreatedAt.Local().Format("2006-01-02 15:04"))
		}
	})
}
