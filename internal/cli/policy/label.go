package policy

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/policy/book"
)

func newLabel(k *kit.Kit) *cobra.Command {
	var in book.LabelIn
	var remove bool
	cmd := &cobra.Command{
		Use: "label [RESOURCE [CLASS]]", Short: "Say which class of data lies where; needs your PIN", Args: cobra.MaximumNArgs(2),
		Long: "Say which class of data lies in a tree: public, internal, confidential, restricted, executive, credential, regulated, " +
			"customer_data, source_code or financial_record. " +
			"A grant covers it only if it names that class, and the boundary may keep it from passing at all. " +
			"Folders and repositories hold source_code unless labelled. Without arguments, the labels are listed.",
		Example: "  tandem policy label\n  tandem policy label folder:/home/me/customers customer_data\n  tandem policy label " +
			"folder:/home/me/customers --remove",
		RunE: func(cmd *cobra.Command, args []string) error {
			var labels []book.LabelView
			switch {
			case len(args) == 0:
				out, err := op.Do(cmd.Context(), k, book.PolicyShow, book.ShowIn{})
				if err != nil {
					return err
				}
				labels = out.Labels
			case (len(args) == 2) == remove:
				return kit.Usagef("give the class, or --remove")
			default:
				in.Resource = args[0]
				if !remove {
					in.Class = args[1]
				}
				out, err := op.Do(cmd.Context(), k, book.PolicyLabel, in)
				if err != nil {
					return err
				}
				labels = out.Labels
			}
			return k.Show(map[string]any{"labels": labels}, func(w io.Writer) {
				for _, l := range labels {
					if l.Written != "" {
						l.Resource += " (written " + l.Written + ")"
					}
					fmt.Fprintf(w, "%s\t%s\n", l.Resource, l.Class)
				}
				if len(labels) == 0 {
					fmt.Fprintln(w, "nothing is labelled; folders and repositories hold source_code, the rest internal data")
				}
			})
		},
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "take the label off")
	cmd.Flags().StringVar(&in.Note, "note", "", "why, for the history")
	return cmd
}
