package session

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/session/terminal"
)

func newCheck(k *kit.Kit) *cobra.Command {
	var in terminal.ProbeIn
	cmd := &cobra.Command{
		Use: "check [AGENT]", Short: "Check which signals of an agent program work, with one short turn", Args: cobra.MaximumNArgs(1),
		Long: "The programs' own signals come without a promise, so every version is checked when it is first used, and this checks it now: " +
			"one turn of the program in an empty home, with a model on loopback that tandem plays itself. " +
			"It costs nothing and needs no account. With --real the turn is one of the model that you use.",
		Example: "  tandem session check\n  tandem session check codex\n  tandem session check --real",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				in.Agent = args[0]
			}
			if in.Cwd == "" {
				var err error
				if in.Cwd, err = k.Folder(cmd.Context(), ""); err != nil {
					return err
				}
			}
			out, err := op.Do(cmd.Context(), k, terminal.SessionProbe, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintln(w, out.Verdict) })
		},
	}
	cmd.Flags().BoolVar(&in.Real, "real", false, "ask the model that the program uses, once")
	cmd.Flags().StringVarP(&in.Cwd, "cwd", "C", "", "where a real turn works (this folder)")
	return cmd
}
