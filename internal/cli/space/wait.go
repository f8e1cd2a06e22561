package space

import (
	"fmt"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/space/peer"
)

// newWait is for people and scripts: it ends with exit code 2 and one sentence
// on standard error when there is mail.
func newWait(k *kit.Kit) *cobra.Command {
	var in peer.WaitIn
	cmd := &cobra.Command{Use: "wait", Short: "Wait for a message; exit code 2 when there is one",
		Long: "Wait until a message arrives, print one fixed sentence with its id to standard error, and exit with 2; " +
			"exit with 0 when the time is over.",
		Example: "  tandem space wait --seconds 600", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return wait(k, cmd, in) }}
	cmd.Flags().Int64Var(&in.Seconds, "seconds", 0, "how long to wait at most (25)")
	return cmd
}

func wait(k *kit.Kit, cmd *cobra.Command, in peer.WaitIn) error {
	in, err := Chosen(k, cmd, in)
	if err != nil {
		return err
	}
	out, err := op.Do(cmd.Context(), k, peer.SpaceWait, in)
	if err != nil {
		return err
	}
	if out.Text == "" {
		return nil
	}
	fmt.Fprintln(k.Err, out.Text)
	return kit.Silent{Code: 2}
}
