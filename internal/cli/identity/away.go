package identity

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/policy/book"
)

func newAway(k *kit.Kit) *cobra.Command {
	var in book.AwayIn
	var life time.Duration
	cmd := &cobra.Command{
		Use: "away [STAND-IN]", Short: "Have somebody answer in your stead while you are away; needs your PIN", Args: cobra.MaximumNArgs(1),
		Long: "While you are away, the person whom you name may answer what you may answer, under their own name. " +
			"It ends by itself, or with tandem person back. An owner says it for somebody else with --person. Without a name, it lists who is away.",
		Example: "  tandem person away ben --for 72h\n  tandem person away",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				out, err := op.Do(cmd.Context(), k, book.PersonAways, book.Nothing{})
				if err != nil {
					return err
				}
				return showAways(k, out)
			}
			in.StandIn, in.TTL = args[0], int64(life/time.Second)
			out, err := op.Do(cmd.Context(), k, book.PersonAway, in)
			if err != nil {
				return err
			}
			return showAways(k, out)
		},
	}
	cmd.Flags().DurationVar(&life, "for", 24*time.Hour, "for how long, 2160h at most")
	cmd.Flags().StringVar(&in.Person, "person", "", "who is away (you)")
	return cmd
}

func newBack(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "back [NAME]", Short: "Say that you are back: nobody stands in for you; needs your PIN", Args: cobra.MaximumNArgs(1),
		Example: "  tandem person back",
		RunE: func(cmd *cobra.Command, args []string) error {
			var in book.BackIn
			if len(args) == 1 {
				in.Person = args[0]
			}
			out, err := op.Do(cmd.Context(), k, book.PersonBack, in)
			if err != nil {
				return err
			}
			return showAways(k, out)
		},
	}
}

func showAways(k *kit.Kit, out book.AwaysOut) error {
	return k.Show(out, func(w io.Writer) {
		if len(out.Away) == 0 {
			fmt.Fprintln(w, "nobody is away")
		}
		for _, a := range out.Away {
			fmt.Fprintf(w, "%s is away until %s, and %s answers\n", a.Person, when(&a.Until), a.StandIn)
		}
	})
}
