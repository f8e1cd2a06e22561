package server

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/daemon"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// keysToRotate are the keys that can be replaced.
var keysToRotate = []string{"journal", "secret", "space", "tls", "tokens"}

func newRotate(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "rotate journal|secret|space|tls|tokens", Short: "Replace a key of the server while it runs; needs your PIN",
		Args:      cobra.ExactArgs(1),
		ValidArgs: keysToRotate,
		Example:   "  tandem server rotate journal\n  tandem server rotate tokens",
		Long: "Replace a key of the server while it runs.\n\n" +
			"journal  the key that signs the journal's checkpoints and receipts and vouches for every row that confers authority. " +
			"Those rows are sealed anew; what the old key signed can still be checked, by tandem audit verify, too.\n" +
			"secret   the master key of the secrets, which are sealed anew. The same as tandem secret rotate.\n" +
			"space    the key under which this machine's seats in spaces and their messages are kept. " +
			"The server starts anew with it, which takes a second.\n" +
			"tls      the key by which other machines know this server. The old key announces the new one, " +
			"and machines that joined follow by themselves.\n" +
			"tokens   the two default tokens, api and connector, have new values; the old ones stop working at once.\n\n" +
			"A rotation that is cut off by a crash is finished, or never happened, at the next start. " +
			"Copies from before restore with the keys that they hold.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(keysToRotate, args[0]) { // nobody types a PIN for a word that is none
				return fault.New(fault.Invalid, "server.rotate", "%q is no key that can be replaced", args[0]).
					WithNext("it is one of %s: tandem server rotate KEY", strings.Join(keysToRotate, ", "))
			}
			out, err := op.Do(cmd.Context(), k, daemon.ServerRotate, daemon.RotateIn{Key: args[0]})
			if err != nil {
				return err
			}
			if out.Key == "space" {
				if err := restarted(cmd.Context(), k, "space.key.next"); err != nil {
					return err
				}
			}
			return k.Show(out, func(w io.Writer) {
				switch {
				case out.Key == "tls":
					fmt.Fprintf(w, "other machines know this server by another key now\nold: %s\nnew: %s\n", out.Old, out.New)
				case out.Key == "space":
					fmt.Fprintln(w, "the seats of this machine are sealed under a new key")
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
