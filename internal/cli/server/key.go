package server

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/daemon"
	"tandem/internal/op"
)

func newKey(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "key", Short: "Give the server's keys to another machine that serves the same PostgreSQL: copy, take"}
	cmd.AddCommand(newKeyCopy(k), newKeyTake(k))
	return cmd
}

func newKeyCopy(k *kit.Kit) *cobra.Command {
	var f secretFlags
	cmd := &cobra.Command{
		Use: "copy PATH", Short: "Write the server's keys to a locked file, for another machine; needs your PIN", Args: cobra.ExactArgs(1),
		Long: `Write the server's keys and its database's address to a locked file. A code is made and
shown once; the file opens with it and with nothing else. Bring both to the other machine by
different ways, and remove the file when they are taken: whoever has both has the server.

Servers that hold the same keys and say the same --cluster serve one PostgreSQL together.`,
		Example: "  tandem server key copy /mnt/usb/keys\n  tandem server key take /mnt/usb/keys\n  tandem up --cluster team",
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			said, err := f.passphrase(k, true)
			if err != nil {
				return err
			}
			in := daemon.KeyCopyIn{Path: path, Passphrase: cmp.Or(said, rand.Text())}
			out, err := op.Do(cmd.Context(), k, daemon.ServerKeyCopy, in)
			if err != nil {
				return err
			}
			shown := keysCopied{KeyCopyOut: out}
			if said == "" {
				shown.Code = in.Passphrase
			}
			return k.Show(shown, shown.write)
		},
	}
	f.add(cmd)
	return cmd
}

// keysCopied is what is shown of a copy of keys: the code is nowhere else.
type keysCopied struct {
	daemon.KeyCopyOut
	Code string `json:"code,omitempty"`
}

func (c keysCopied) write(w io.Writer) {
	fmt.Fprintf(w, "%s are in %s\n", strings.Join(c.Keys, ", "), c.Path)
	if c.Code != "" {
		fmt.Fprintf(w, "the code that opens it: %s\n", c.Code)
	}
	fmt.Fprintf(w, "on the other machine: tandem server key take %s\n", c.Path)
	if c.Cluster == "" {
		fmt.Fprintf(w, "then start both for one cluster, this one with: tandem up --replace --cluster NAME\n")
	}
}

func newKeyTake(k *kit.Kit) *cobra.Command {
	var f secretFlags
	cmd := &cobra.Command{
		Use: "take PATH", Short: "Take over a server's keys into an empty data folder, to serve the same PostgreSQL", Args: cobra.ExactArgs(1),
		Long: `Take over the keys that tandem server key copy wrote on another machine. The data folder must be
empty. It asks for the code that the other machine showed.`,
		Example: "  tandem server key take /mnt/usb/keys\n  tandem up --cluster team",
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := k.Settings()
			if err != nil {
				return err
			}
			code, err := f.passphrase(k, false)
			if err == nil && code == "" {
				code, err = k.Secret("the code that the other machine showed: ")
			}
			if err != nil {
				return err
			}
			out, err := daemon.TakeKeys(s, args[0], strings.TrimSpace(code))
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s are in %s\nstart it with the name that the other server says: tandem up --cluster NAME\n",
					strings.Join(out.Keys, ", "), out.Path)
			})
		},
	}
	f.add(cmd)
	return cmd
}
