package automation

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/automation/wire"
	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/plot"
)

func newDraft(k *kit.Kit) *cobra.Command {
	var in wire.DraftIn
	cmd := &cobra.Command{
		Use: "draft TEXT…", Short: "Have a model write a definition from a sentence", Args: cobra.MinimumNArgs(1),
		Long: `Have the default model write a definition from a sentence: one turn, within a budget. It is stored, switched
off, and shown with its picture and what it may do; with --name it changes an automation, and is shown as
a diff; - reads the sentence from stdin. What is no definition, or asks for more than you may, is refused and nothing is stored.`,
		Example: "  tandem automation draft \"every Monday at 9 count the files in /srv/app and keep the number\"\n" +
			"  tandem automation draft - < wish.txt\n" +
			"  tandem automation draft --name morning \"ask ann before the number is kept\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Text = strings.Join(args, " ")
			if in.Text == "-" {
				text, err := io.ReadAll(io.LimitReader(k.In, maxFile))
				if err != nil {
					return err
				}
				in.Text = string(text)
			}
			out, err := op.Do(cmd.Context(), k, wire.Draft, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				describe(w, &out.Version)
				whole(w, &out.Version)
				fmt.Fprintf(w, "written with %d tokens; see how: tandem session show %s\n", out.Tokens, out.Session)
				fmt.Fprintf(w, "it is stored, and switched off; switch it on: tandem automation on %s\n", out.Name)
			})
		},
	}
	cmd.Flags().StringVar(&in.Name, "name", "", "change this automation, in place of a new one")
	cmd.Flags().StringVarP(&in.Model, "model", "m", "", "provider/model (the default one)")
	cmd.Flags().Int64Var(&in.Tokens, "tokens", 0, "at most so many tokens (50000)")
	cmd.Flags().Float64Var(&in.Cost, "cost", 0, "at most so many US dollars, where the model's price is known")
	return cmd
}

// picture draws which node comes after which.
func picture(w io.Writer, shape []wire.Shape) {
	if len(shape) == 0 {
		return
	}
	fmt.Fprintln(w, "its nodes:")
	var nodes []plot.Node
	for _, n := range shape {
		nodes = append(nodes, plot.Node{Name: n.Node, After: n.After})
	}
	for _, r := range plot.Rows(nodes) {
		n := shape[slices.IndexFunc(shape, func(n wire.Shape) bool { return n.Node == r.Name })]
		line := fmt.Sprintf("  %s%s (%s)", r.Stem, n.Node, n.Kind)
		if len(r.Also) > 0 {
			line += " (also after: " + strings.Join(r.Also, ", ") + ")"
		}
		fmt.Fprintln(w, kit.VisibleLine(line))
	}
}
