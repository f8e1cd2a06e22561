package identity

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	room "tandem/internal/identity"
	"tandem/internal/op"
)

func newTenantErase(k *kit.Kit) *cobra.Command {
	in := room.EraseIn{}
	cmd := &cobra.Command{
		Use: "erase NAME [--confirm NAME]", Short: "Erase a suspended tenant for good; needs your PIN", Args: cobra.ExactArgs(1),
		Long: "Erase a suspended tenant for good: its people, sessions, memory, spaces, secrets and whatever else it has on this server, and " +
			"the words of its journal, whose hashes stay and verify. Without --confirm it says what would go, and what that does not reach. " +
			"It cannot be undone.",
		Example: "  tandem tenant erase acme\n  tandem tenant erase acme --confirm acme",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Name = args[0]
			if !cmd.Flags().Changed("confirm") {
				has, err := op.Do(cmd.Context(), k, room.TenantContent, room.TenantRef{Name: in.Name})
				if err != nil {
					return err
				}
				return k.Show(has, func(w io.Writer) {
					showContents(w, has.Contents)
					fmt.Fprintf(w, "nothing is erased yet; it cannot be undone: tandem tenant erase %s --confirm %s\n", has.Name, has.Name)
				})
			}
			out, err := op.Do(cmd.Context(), k, room.TenantErase, in)
			if err != nil {
				return err
			}
			if err := gone(cmd.Context(), k, out.ID); err != nil {
				return err
			}
			out.State = room.TenantErased
			return k.Show(out, func(w io.Writer) {
				showContents(w, out.Contents)
				fmt.Fprintf(w, "%s is erased\n", out.Name)
			})
		},
	}
	cmd.Flags().StringVar(&in.Confirm, "confirm", "", "the tenant's name, once more: it is erased")
	return cmd
}

// gone waits until a tenant is not there any more.
func gone(ctx context.Context, k *kit.Kit, tenant string) error {
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := op.Do(ctx, k, room.TenantShow, room.TenantRef{Name: tenant})
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func showContents(w io.Writer, c room.TenantContents) {
	t := kit.Table(w)
	fmt.Fprintln(t, "OF\tRECORDS")
	for _, r := range c.Rows {
		fmt.Fprintf(t, "%s\t%d\n", r.Of, r.Rows)
	}
	t.Flush()
	fmt.Fprintf(w, "%d records, %d files and folders\nnot reached by it:\n", c.Records, c.Files)
	for _, text := range c.Stays {
		fmt.Fprintf(w, "- %s\n", text)
	}
}
