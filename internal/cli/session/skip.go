package session

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/session/terminal"
	"tandem/internal/told"
)

func newSkip(k *kit.Kit) *cobra.Command {
	var lasts time.Duration
	var list bool
	var revoke string
	cmd := &cobra.Command{
		Use: "skip [FOLDER]", Short: "Let agents in a folder skip their permissions for a while", Args: cobra.MaximumNArgs(1),
		Long: "Ask that sessions opened in a folder may skip their permissions until a time. A person approves it (tandem approvals); " +
			"then run the command again. Deny rules hold all the same.",
		Example: "  tandem session skip ~/code/app --for 4h\n  tandem session skip --list\n  tandem session skip --revoke skp_01j…",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case list:
				out, err := op.Do(cmd.Context(), k, terminal.SessionSkips, terminal.LiveIn{})
				if err != nil {
					return err
				}
				return k.Show(out, func(w io.Writer) {
					if len(out.Skips) == 0 {
						fmt.Fprintln(w, "no folder's agents may skip their permissions")
						return
					}
					t := kit.Table(w)
					fmt.Fprintln(t, "ID\tFOLDER\tGRANTED BY\tUNTIL")
					for _, s := range out.Skips {
						fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", s.ID, s.Folder, told.By(s.Owner), s.ExpiresAt.Local().Format("01-02 15:04"))
					}
					t.Flush()
				})
			case revoke != "":
				out, err := op.Do(cmd.Context(), k, terminal.SessionUnskip, terminal.SkipIDIn{ID: revoke})
				if err != nil {
					return err
				}
				return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is taken back\n", out.ID) })
			}
			folder := "."
			if len(args) == 1 {
				folder = args[0]
			}
			abs, err := k.Folder(cmd.Context(), folder)
			if err != nil {
				return err
			}
			secs, err := kit.Life(cmd, "for", lasts, time.Second)
			if err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, terminal.SessionSkip, terminal.SkipIn{Folder: abs, Seconds: secs})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s: agents in %s may skip their permissions until %s\n", out.ID, out.Folder,
					out.ExpiresAt.Local().Format("2006-01-02 15:04"))
			})
		},
	}
	f := cmd.Flags()
	f.DurationVar(&lasts, "for", 8*time.Hour, "for how long")
	f.BoolVar(&list, "list", false, "list the grants that stand")
	f.StringVar(&revoke, "revoke", "", "take this grant back")
	return cmd
}
