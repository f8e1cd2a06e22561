package repo

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/remote/wire"
)

func newTrust(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "trust HOST:PORT FINGERPRINT", Short: "Accept another key of a server that nobody announced; needs your PIN",
		Args: cobra.ExactArgs(2),
		Long: `Accept another key of a server. A server that changes its key announces it under
the old one, and this machine follows by itself. One that did not may be somebody
else: ask its owner for the fingerprint (tandem status shows it there), and name it
here. The server must show that very key. A fresh invitation names it as well: tandem
init with that line asks for your PIN, too.`,
		Example: "  tandem remote trust your-server:13013 SHA256:n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, wire.Rekey, wire.RekeyIn{Server: args[0], Key: args[1]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s is known by %s from now on\n", args[0], args[1])
			})
		},
	}
}
