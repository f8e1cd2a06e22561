package identity

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/client"
	"tandem/internal/fault"
	room "tandem/internal/identity"
	"tandem/internal/op"
)

func newRecover(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{
		Use: "recover", Short: "Set a new PIN with a recovery code", Args: cobra.NoArgs, Example: "  tandem recover\n  tandem recover status",
		Long: "Set a new PIN when you forgot the old one. It asks for one of the recovery codes that were shown when the PIN was set; " +
			"each works once. A lost passkey is removed with the new PIN afterwards, in the panel under System.\n\nWithout a code, " +
			"root of the machine can do it where the server does not run as root: see tandem recover root.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			c, err := k.Client(ctx)
			if err != nil {
				return err
			}
			code, err := k.Secret("Recovery code: ")
			if err != nil {
				return err
			}
			if code == "" || code == room.ByRoot {
				return kit.Usagef("no code was typed; nothing was changed")
			}
			return replacePIN(ctx, k, c.WithRecovery(code))
		},
	}
	cmd.AddCommand(newRecoverCodes(k), newRecoverStatus(k), newRecoverStop(k), newRecoverRoot(k))
	return cmd
}

// replacePIN asks for a PIN twice and sets it without the old one.
func replacePIN(ctx context.Context, k *kit.Kit, c *client.Client) error {
	pin, err := newPIN(k)
	if err != nil {
		return err
	}
	out, err := op.Do(ctx, c, room.RecoveryUse, room.PINIn{PIN: pin})
	if err != nil {
		return err
	}
	return k.Show(out, func(w io.Writer) {
		fmt.Fprintln(w, "the PIN is replaced")
		showCodes(w, out.Codes)
		if len(out.Codes) == 0 {
			fmt.Fprintf(w, "%d recovery codes are left; new ones: tandem recover codes\n", out.Left)
		}
	})
}

// newPIN asks for a PIN twice, and again until it is one and both are the same.
func newPIN(k *kit.Kit) (string, error) {
	for {
		pin, err := k.Secret(fmt.Sprintf("New PIN (%d characters at least): ", room.MinPIN))
		if err != nil {
			return "", err
		}
		if bad := room.CheckPINForm(pin); bad != nil {
			fmt.Fprintf(k.Err, "%s; another one, or leave with Ctrl-C\n", fault.Public(bad).Msg)
			continue
		}
		again, err := k.Secret("Once more: ")
		if err != nil || pin == again {
			return pin, err
		}
		fmt.Fprintln(k.Err, "the two PINs differ; once again, or leave with Ctrl-C")
	}
}

func showCodes(w io.Writer, codes []string) {
	if len(codes) == 0 {
		return
	}
	fmt.Fprintln(w, "recovery codes, shown this once. If you forget the PIN, each sets a new one, once: "+
		"tandem recover\nkeep them where no program of this machine reads them")
	for _, code := range codes {
		fmt.Fprintln(w, "  "+code)
	}
}

func newRecoverCodes(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "codes", Short: "Make new recovery codes and show them once; needs your PIN", Args: cobra.NoArgs, Example: "  tandem recover codes",
		Long: "Make new recovery codes and show them once. Those from before stop working.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, room.RecoveryCodes, room.Nothing{})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { showCodes(w, out.Codes) })
		},
	}
}

func newRecoverStatus(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Say how a forgotten PIN could be replaced", Args: cobra.NoArgs, Example: "  tandem recover status",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, room.RecoveryShow, room.Nothing{})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%d recovery codes are left\n", out.Codes)
				switch {
				case out.Pending != nil:
					fmt.Fprintf(w, "root of this machine began to replace the PIN on %s; it counts from %s on\nstop it: tandem recover stop\n",
						when(&out.Pending.StartedAt), when(&out.Pending.DueAt))
				case out.ByRoot:
					fmt.Fprintln(w, "without a code, root of this machine can replace the PIN, a day after saying so: tandem recover root")
				default:
					fmt.Fprintln(w, "without a code nobody can replace the PIN: this server runs as root, or its kernel does not say who root is")
				}
			})
		},
	}
}

func newRecoverStop(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "stop", Short: "Stop a recovery that root began; needs your PIN", Args: cobra.NoArgs, Example: "  tandem recover stop",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return done(cmd, k, room.RecoveryStop, room.StopIn{}, "the recovery is stopped")
		},
	}
}

func newRecoverRoot(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "root", Short: "Replace the PIN as root of the machine, a day after saying so", Args: cobra.NoArgs,
		Example: "  tandem recover root --data /home/ann/.tandem",
		Long: "Replace a forgotten PIN without a recovery code. Only root of the machine can, and only where the server runs as another user. " +
			"The first call begins it: every browser and every notice tells of it. " +
			"The same call a day later asks for the new PIN. Until then whoever has a passkey or the old PIN stops it with tandem recover stop.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			s, err := k.Settings()
			if err != nil {
				return err
			}
			c := k.At(s).WithRecovery(room.ByRoot) // never started from here: it would run as root
			out, err := op.Do(ctx, c, room.RecoveryBegin, room.Nothing{})
			if client.Absent(err) {
				return fault.New(fault.Unavailable, "recover", "no server runs with the data folder %s", s.Data()).
					WithNext("name the folder of the user whose server it is: tandem recover root --data PATH; that user starts it: tandem up")
			}
			if err != nil {
				return err
			}
			if out.Due {
				return replacePIN(ctx, k, c)
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "a recovery is under way; everybody is told\nfrom %s on the same command asks for a new PIN\nwhoever has a passkey "+
					"or the old PIN can stop it: tandem recover stop\n", when(&out.DueAt))
			})
		},
	}
}
