package session

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/session/terminal"
)

func newCheck(k *kit.Kit) *cobra.Command {
	var in terminal.ProbeIn
	cmd := &cobra.Command{
		Use: "check [AGENT]", Short: "Check which signals of an agent program work, with one short turn", Args: cobra.MaximumNArgs(1),
		Long:    "The programs' own signals come without a promise, so the first turn of every version is looked at. This makes such a turn now, in a session of its own that is closed again. It calls the model once.",
		Example: "  tandem session check\n  tandem session check codex",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				in.Agent = args[0]
			}
			if in.Cwd == "" {
				dir, err := os.Getwd()
				if err != nil {
					return err
				}
				in.Cwd = dir
			}
			var out terminal.Checked
			if err := k.Call(cmd.Context(), "session.probe", in, &out); err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintln(w, out.Verdict) })
		},
	}
	cmd.Flags().StringVarP(&in.Cwd, "cwd", "C", "", "the working folder (this one)")
	return cmd
}
