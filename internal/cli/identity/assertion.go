package identity

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	room "tandem/internal/identity"
	"tandem/internal/op"
)

func newAssertion(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "assertion", Short: "Signed assertions that say whom a request is for",
		Long: "A control plane in front of this server says whom a request is for with a signed assertion. They are taken in the modes " +
			"hosted_single_tenant and enterprise_required of the setting auth_mode, from keys that are enrolled here."}
	key := &cobra.Command{Use: "key", Short: "Keys that sign assertions"}
	key.AddCommand(newSignerAdd(k), newSignerList(k), newSignerRevoke(k))
	cmd.AddCommand(key)
	return cmd
}

// maxKeyFile bounds what is read as a public key.
const maxKeyFile = 64 << 10

func newSignerAdd(k *kit.Kit) *cobra.Command {
	var in room.SignerIn
	var life time.Duration
	cmd := &cobra.Command{
		Use: "add KID FILE", Short: "Enrol a key; needs your PIN", Args: cobra.ExactArgs(2),
		Long: "Enrol an Ed25519 public key from FILE, - for standard input: PEM, or base64 of its 32 bytes. KID is how assertions name it. " +
			"Whoever has its other half speaks for everybody in this house, and never as somebody who is present.",
		Example: "  tandem assertion key add web-1 web.pub --organization acme --expires 2160h",
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := readKey(k, args[1])
			if err != nil {
				return err
			}
			in.ID, in.PublicKey = args[0], text
			if cmd.Flags().Changed("expires") {
				secs, err := kit.Life(cmd, "expires", life, time.Second)
				if err != nil {
					return err
				}
				until := time.Now().Add(time.Duration(secs) * time.Second).UTC()
				in.NotAfter = &until
			}
			out, err := op.Do(cmd.Context(), k, room.AssertionKeyAdd, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "enrolled %s (%s)\n", out.ID, out.Purpose)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Purpose, "purpose", "context_assertion", "what it signs")
	f.StringVar(&in.Organization, "organization", "", "the org_id for which it speaks (any; enterprise_required needs one)")
	f.StringVar(&in.Deployment, "deployment", "", "the deployment_id for which it speaks (any)")
	f.StringArrayVar(&in.Audiences, "audience", nil, "for whom it signs (any)")
	f.DurationVar(&life, "expires", 0, "how long it counts (for ever)")
	return cmd
}

func readKey(k *kit.Kit, file string) (string, error) {
	from := io.Reader(k.In)
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", fault.New(fault.Invalid, "assertion.key_add", "the key cannot be read: %w", err)
		}
		defer f.Close()
		from = f
	}
	data, err := io.ReadAll(io.LimitReader(from, maxKeyFile))
	return string(data), err
}

func newSignerList(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the keys, with their last use", Args: cobra.NoArgs, Example: "  tandem assertion key list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, room.AssertionKeys, room.Nothing{})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Keys) == 0 {
					fmt.Fprintln(w, "no key signs assertions; enrol one: tandem assertion key add KID FILE")
					return
				}
				t := kit.Table(w)
				fmt.Fprintln(t, "KID\tSTATE\tORGANIZATION\tPURPOSE\tUNTIL\tLAST USED\tFROM")
				for _, s := range out.Keys {
					until := "for ever"
					if s.NotAfter != nil {
						until = when(s.NotAfter)
					}
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.ID, s.Status, cmp.Or(s.Organization, "any"), s.Purpose, until, when(s.UsedAt),
						s.From)
				}
				t.Flush()
			})
		},
	}
}

func newSignerRevoke(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "revoke KID", Short: "Revoke a key: none of its assertions is taken any more; needs your PIN", Args: cobra.ExactArgs(1),
		Example: "  tandem assertion key revoke web-1",
		RunE: func(cmd *cobra.Command, args []string) error {
			return done(cmd, k, room.AssertionKeyRevoke, room.SignerRef{ID: args[0]}, "revoked "+args[0])
		},
	}
}
