package identity

import (
	"crypto/ed25519"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/login/device"
	login "tandem/internal/login/wire"
	"tandem/internal/op"
)

// newKey is this machine's key at a server, between its making and its sealing.
type newKey struct {
	pin     string
	public  ed25519.PublicKey
	private ed25519.PrivateKey
}

// make asks for a PIN and makes the key, before the invitation is spent.
func (n *newKey) make(k *kit.Kit, name string) (err error) {
	fmt.Fprintf(k.Err, "a PIN for %s: it shows there that it is you who answers, and stays on this machine\n", name)
	if n.pin, err = devicePIN(k); err != nil {
		if fault.Is(err, fault.Denied) {
			return fault.New(fault.Denied, "login", "you set a PIN at a terminal, and there is none").
				WithNext("log in at a terminal; or with --no-pin, and this machine never answers for you there")
		}
		return err
	}
	n.public, n.private, err = device.Make()
	return err
}

// seal closes the key under the PIN, for the device that the server made of it.
func (n *newKey) seal(in *login.AddIn, got client.LoggedIn) error {
	if n.private == nil || got.Device == "" { // an older server knows no devices
		return nil
	}
	in.Of = device.Of{Server: got.Server, Person: got.Person, Device: got.Device}
	sealed, err := device.Seal(in.Of, n.pin, n.private)
	in.Sealed = &sealed
	return err
}

// devicePIN asks for a new PIN until it is one.
func devicePIN(k *kit.Kit) (string, error) {
	for {
		pin, err := k.Secret(fmt.Sprintf("New PIN (%d characters at least): ", device.MinPIN))
		if err != nil {
			return "", err
		}
		if bad := device.CheckPIN(pin); bad != nil {
			fmt.Fprintf(k.Err, "%s; another one, or leave with Ctrl-C\n", bad)
			continue
		}
		again, err := k.Secret("Once more: ")
		if err != nil || pin == again {
			return pin, err
		}
		fmt.Fprintln(k.Err, "the two PINs differ; once again, or leave with Ctrl-C")
	}
}

func newLoginPIN(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "pin NAME", Short: "Change your PIN for a server that you are logged in at", Args: cobra.ExactArgs(1),
		Long: "Change the PIN that opens this machine's key at a server. The server is not asked: it never knew the PIN. " +
			"A PIN that you forgot cannot be replaced: ask there for another invitation and log in anew.",
		Example: "  tandem login pin build.example.org",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			key, err := op.Do(ctx, k, login.Device, login.NameIn{Name: args[0]})
			if err != nil {
				return err
			}
			old, err := k.Secret("Old PIN: ")
			if err != nil {
				return err
			}
			private, err := key.Sealed.Open(key.Of, old)
			if err != nil {
				return fault.New(fault.Denied, "login.pin", "this is not your PIN for %s", args[0]).
					WithNext("try again; if you forgot it, ask there for another invitation and log in anew")
			}
			clear(private)
			pin, err := devicePIN(k)
			if err != nil {
				return err
			}
			sealed, err := key.Sealed.Change(key.Of, old, pin)
			if err != nil {
				return err
			}
			l, err := op.Do(ctx, k, login.PIN, login.PINIn{Name: args[0], Sealed: sealed})
			if err != nil {
				return err
			}
			return k.Show(l, func(w io.Writer) { fmt.Fprintf(w, "your PIN for %s is changed\n", l.Name) })
		},
	}
}
