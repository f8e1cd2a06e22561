package memory

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
)

func newBrief(k *kit.Kit) *cobra.Command {
	var in wire.BriefIn
	cmd := &cobra.Command{
		Use: "brief [WORDS…]", Short: "Show what a session should know", Args: cobra.ArbitraryArgs,
		Long: `Show what a session should know, in a few thousand characters: what matches the words, then decisions, preferences and lessons.
Each record is quoted with its source, age and trust, and said once.`,
		Example: "  tandem memory brief mend the release script\n  tandem memory brief --project payments",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.About = strings.Join(args, " ")
			out, err := op.Do(cmd.Context(), k, wire.Brief, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.IDs) == 0 {
					fmt.Fprintln(w, "nothing is known of that here")
				}
				fmt.Fprint(w, kit.Visible(out.Text))
				if out.Left > 0 {
					fmt.Fprintf(w, "%d more did not fit\n", out.Left)
				}
			})
		},
	}
	cmd.Flags().StringVar(&in.Project, "project", "", "the project it is about")
	cmd.Flags().IntVar(&in.Bytes, "bytes", 0, "at most this long (4000)")
	return cmd
}
