package server

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/daemon"
)

func newRotate(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "rotate journal|secret|tls|tokens", Short: "Replace a key of the server while it runs; needs your PIN", Args: cobra.ExactArgs(1),
		ValidArgs: []string{"journal", "secret", "tls", "tokens"},
		Example:   "  tandem server rotate journal\n  tandem server rotate tokens",
		Long: "Replace a key of the server while it runs.\n\n" +
			"journal  the key that signs the journal's checkpoints and receipts and vouches for every row that confers authority. Those rows are sealed anew; what the old key signed can still be checked, by tandem audit verify, too.\n" +
			"secret   the master key of the secrets, which are sealed anew. The same as tandem secret rotate.\n" +
			"tls      the key by which other machines know this server. The old key announces the new one, and machines that joined follow by themselves.\n" +
			"tokens   the two default tokens, api and connector, have new values; the old ones stop working at once.\n\n" +
			"A rotation that is cut off by a crash is finished, or never happened, at the next start. Copies from before restore with the keys that they hold.",
		RunE: func(cmd *cobra.Command, args []string) error {
			var out daemon.RotateOut
			if err := k.Call(cmd.Context(), "server.rotate", daemon.RotateIn{Key: args[0]}, &out); err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				switch {
				case out.Key == "tls":
					fmt.Fprintf(w, "other machines know this server by another key now\nold: %s\nnew: %s\n", out.Old, out.New)
				case out.New != "":
					fmt.Fprintf(w, "the journal has a new key; %d rows are sealed anew\nold: %s\nnew: %s\n", out.Sealed, out.Old, out.New)
				case len(out.Tokens) > 0:
					fmt.Fprintf(w, "new tokens: %s\n", strings.Join(out.Tokens, ", "))
				default:
					fmt.Fprintf(w, "%d secrets are sealed under a new key\n", out.Sealed)
				}
				if out.Next != "" {
					fmt.Fprintln(w, out.Next)
				}
			})
		},
	}
}
