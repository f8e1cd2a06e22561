package identity

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/policy/book"
)

func newOwner(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "owner", Short: "Who owns this house: share it, hand it over",
		Long: "An owner grants, invites, mints and administers. The first person is one; ownership can be shared and handed over. " +
			"The last owner who can prove to be here stays one."}
	cmd.AddCommand(
		ownerVerb(k, book.OwnerAdd, "add NAME", "Make a person an owner beside you; needs your PIN", "  tandem person owner add anna"),
		ownerVerb(k, book.OwnerRemove, "remove NAME", "Take ownership from a person, who stays here; needs your PIN",
			"  tandem person owner remove anna"),
		ownerVerb(k, book.OwnerHandOver, "hand-over NAME", "Hand your ownership over to a person; needs your PIN",
			"  tandem person owner hand-over anna"))
	return cmd
}

func ownerVerb(k *kit.Kit, do op.Def[book.OwnerIn, book.OwnersOut], use, short, example string) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1), Example: example,
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, do, book.OwnerIn{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Owners) == 1 {
					fmt.Fprintf(w, "%s owns this house alone\n", out.Owners[0])
					return
				}
				fmt.Fprintf(w, "this house is owned by %s\n", strings.Join(out.Owners, ", "))
			})
		},
	}
}
