package server

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/daemon"
	"tandem/internal/fault"
)

func newMove(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "move postgres://…|sqlite", Short: "Move everything into PostgreSQL, or back into SQLite; needs your PIN", Args: cobra.ExactArgs(1),
		Long: `Move everything into another database while no server runs: from the SQLite file of the
data folder into PostgreSQL, from there into another one, or back into SQLite. Identity,
keys, tokens and the journal are the same afterwards; repositories stay where they are.

The data folder changes over by one file that is written whole. A move that is cut off
leaves everything where it was, and what is left of it is never taken for the server's
data: move again. The next start uses the new database; the old one is refused.`,
		Example: "  tandem server move postgres://tandem@db.example.org/tandem\n  tandem server move sqlite",
		RunE:    func(cmd *cobra.Command, args []string) error { return move(cmd.Context(), k, args[0]) },
	}
}

func move(ctx context.Context, k *kit.Kit, to string) error {
	if to == "sqlite" {
		to = ""
	} else if !strings.HasPrefix(to, "postgres://") && !strings.HasPrefix(to, "postgresql://") {
		return fault.New(fault.Invalid, "server.move", "%q is neither an address of PostgreSQL nor the word sqlite", to).
			WithNext("tandem server move postgres://…, or: tandem server move sqlite")
	}
	if err := replaceOnDemand(ctx, k); err != nil {
		return err
	}
	s, err := k.Settings()
	if err != nil {
		return err
	}
	out, err := daemon.Move(ctx, s, k.Version, daemon.MoveIn{To: to, PIN: func(right func(string) bool) error {
		pin, err := k.Secret("server.move needs your PIN: ")
		if err == nil && !right(pin) {
			err = fault.New(fault.Denied, "server.move", "that is not the PIN of this server").WithNext("try again; nothing was changed")
		}
		return err
	}, Progress: func(rows, of int64) {
		if k.Asks() {
			fmt.Fprintf(k.Err, "%d of %d rows\n", rows, of)
		}
	}})
	if err != nil {
		return err
	}
	return k.Show(out, func(w io.Writer) {
		fmt.Fprintf(w, "%d rows moved from %s to %s; the next start uses that: tandem up\n", out.Rows, out.From, out.To)
		switch {
		case out.Aside != "":
			fmt.Fprintf(w, "the file that was left is in %s; remove it when you need it no more\n", out.Aside)
		default:
			fmt.Fprintln(w, "the tables that were left are still there, and are not used any more")
		}
	})
}
