package automation

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tandem/internal/automation/wire"
	"tandem/internal/cli/kit"
	"tandem/internal/op"
	"tandem/internal/told"
)

func newHook(k *kit.Kit) *cobra.Command {
	var theirs bool
	cmd := &cobra.Command{
		Use: "hook NAME [TRIGGER]", Short: "Make the address of a webhook and show it once; needs your PIN", Args: cobra.RangeArgs(1, 2),
		Long: `Make the address to which a sender posts, and the secret with which it signs. Both are shown once: the
address is kept as a hash and the secret is sealed. Where there was an address before, it is replaced.`,
		Example: "  tandem automation hook triage\n  tandem automation hook paid stripe --secret",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			in := wire.MakeHookIn{Name: args[0]}
			if len(args) == 2 {
				in.Trigger = args[1]
			}
			if theirs {
				if in.Secret, err = k.Secret("The secret that the sender made: "); err != nil {
					return err
				}
			}
			out, err := op.Do(cmd.Context(), k, wire.MakeHook, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s (%s) is shown once:\naddress: %s\n", out.Trigger, out.Scheme, out.Path)
				if out.Secret != "" {
					fmt.Fprintln(w, "secret:  "+out.Secret)
				}
				fmt.Fprintln(w, "Put the server's own address before it, or the one that tandem share gives.")
			})
		},
	}
	cmd.Flags().BoolVar(&theirs, "secret", false, "ask for the secret that the sender made (Stripe, Notion, Linear)")
	return cmd
}

func newHooks(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "hooks NAME", Short: "List the webhooks of an automation, and what they brought", Args: cobra.ExactArgs(1),
		Example: "  tandem automation hooks triage",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, wire.Hooks, wire.NameIn{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { showHooks(w, args[0], out) })
		},
	}
}

func showHooks(w io.Writer, name string, out wire.HooksOut) {
	if len(out.Hooks) == 0 {
		fmt.Fprintln(w, `it has no webhook; add one to the definition: [[trigger]] webhook = "github"`)
	}
	for _, h := range out.Hooks {
		if !h.Made {
			fmt.Fprintf(w, "%s (%s) has no address yet: tandem automation hook %s %s\n", h.Trigger, h.Scheme, name, h.Trigger)
			continue
		}
		fmt.Fprintf(w, "%s (%s): %d taken, %d refused; made by %s, %s\n", h.Trigger, h.Scheme, h.Accepted, h.Refused, told.By(h.MadeBy),
			kit.Age(h.MadeAt))
		if h.Most > 0 && h.Remembered >= h.Most/10*9 {
			fmt.Fprintf(w, "  it knows %d messages again, of at most %d; then it takes none. Give it another secret: tandem automation hook %s %s\n",
				h.Remembered, h.Most, name, h.Trigger)
		}
	}
	if len(out.Deliveries) == 0 {
		return
	}
	t := kit.Table(w)
	fmt.Fprintln(t, "DELIVERY\tCAME\tTRIGGER\tKIND\tRUN\tWHY NOT")
	for _, d := range out.Deliveries {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", d.ID, kit.Age(d.At), d.Trigger, kit.VisibleLine(d.Kind), d.Run, kit.VisibleLine(d.Why))
	}
	t.Flush()
}

func newReplay(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "replay NAME DELIVERY", Short: "Begin a run with a message that a webhook brought before", Args: cobra.ExactArgs(2),
		Example: "  tandem automation replay triage dlv_01k…",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, wire.Replay, wire.ReplayIn{Name: args[0], ID: args[1]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if out.Run == "" {
					fmt.Fprintf(w, "the runs of %s that wait for it hear it again\nsee who took it: tandem automation hooks %s\n", args[0], args[0])
					return
				}
				fmt.Fprintf(w, "%s begins: %s\nsee how it goes: tandem automation runs show %s\n", args[0], out.Run, out.Run)
			})
		},
	}
}
