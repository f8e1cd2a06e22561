package identity

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	room "tandem/internal/identity"
	"tandem/internal/op"
)

func newTenant(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "tenant", Short: "Houses on this server that see nothing of each other"}
	cmd.AddCommand(newTenantCreate(k), newTenantList(k), newTenantShow(k), newTenantSuspend(k), newTenantResume(k), newTenantLimit(k),
		newTenantExport(k), newTenantImport(k), newTenantErase(k))
	return cmd
}

func newTenantCreate(k *kit.Kit) *cobra.Command {
	var life time.Duration
	var in room.TenantIn
	cmd := &cobra.Command{
		Use: "create NAME --owner PERSON", Short: "Make a tenant and invite its owner; needs your PIN", Args: cobra.ExactArgs(1),
		Long: "Make a tenant: people, agents, rules, asks, spaces and events of its own, which see nothing of the others. Its owner logs in " +
			"with the invitation, and invites others. This machine's files, programs, repositories and settings stay with the house.",
		Example: "  tandem tenant create acme --owner anna",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			in.Name = args[0]
			if in.Owner == "" {
				return kit.Usagef("--owner names the person who owns it")
			}
			if in.TTL, err = kit.Life(cmd, "expires", life, time.Second); err != nil {
				return err
			}
			st, err := listening(cmd.Context(), k)
			if err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, room.TenantCreate, in)
			if err != nil {
				return err
			}
			line := "tandem login " + loginLink(&st, out.Invite.Invite)
			return k.Show(struct {
				room.TenantOut
				Join string `json:"join"`
			}{out, line}, func(w io.Writer) {
				fmt.Fprintln(w, line)
				fmt.Fprintf(k.Err, "the tenant %s is made; %s owns it, and types that on their own machine, once, until %s\n", out.Name, in.Owner,
					when(&out.Invite.ExpiresAt))
				unreached(k.Err, &st)
			})
		},
	}
	cmd.Flags().StringVar(&in.Owner, "owner", "", "the person who owns it")
	cmd.Flags().DurationVar(&life, "expires", 0, "how long the owner's invitation is good for (24h)")
	return cmd
}

func newTenantList(k *kit.Kit) *cobra.Command {
	var in room.PageIn
	return paged(&cobra.Command{
		Use: "list", Short: "List tenants", Args: cobra.NoArgs, Example: "  tandem tenant list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, room.TenantList, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Tenants) == 0 {
					fmt.Fprintln(w, "no tenant is yours to see")
					return
				}
				t := kit.Table(w)
				fmt.Fprintln(t, "NAME\tSTATE\tPEOPLE\tACTORS\tSINCE\tWHY")
				for _, v := range out.Tenants {
					fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%s\n", v.Name, v.State, v.People, v.Actors, when(&v.CreatedAt), v.Reason)
				}
				t.Flush()
				later(w, out.More, out.Tenants[len(out.Tenants)-1].ID)
			})
		},
	}, &in.After, &in.Limit, "tenants")
}

func newTenantShow(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Show a tenant", Args: cobra.ExactArgs(1), Example: "  tandem tenant show acme",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, room.TenantShow, room.TenantRef{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { showTenant(w, out) })
		},
	}
}

func showTenant(w io.Writer, t *room.Tenant) {
	fmt.Fprintf(w, "%s (%s) is %s, here since %s\n", t.Name, t.ID, t.State, when(&t.CreatedAt))
	if t.ChangedAt != nil {
		fmt.Fprintf(w, "since %s", when(t.ChangedAt))
		if t.Reason != "" {
			fmt.Fprintf(w, ": %s", t.Reason)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%d people, %d actors\n", t.People, t.Actors)
	uses(w, t)
}

func newTenantSuspend(k *kit.Kit) *cobra.Command {
	var in room.SuspendIn
	cmd := &cobra.Command{
		Use: "suspend NAME", Short: "Suspend a tenant: nothing of it passes; needs your PIN", Args: cobra.ExactArgs(1),
		Long: "Suspend a tenant. Every token, machine, session and timer of it is refused from now on, and told why. Nothing of it is " +
			"lost: tandem tenant resume NAME.",
		Example: "  tandem tenant suspend acme --reason \"the bill is open\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Name = args[0]
			out, err := op.Do(cmd.Context(), k, room.TenantSuspend, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s is suspended; to resume it: tandem tenant resume %s\n", out.Name, out.Name)
			})
		},
	}
	cmd.Flags().StringVar(&in.Reason, "reason", "", "why; everybody of the tenant is told it")
	return cmd
}

func newTenantResume(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "resume NAME", Short: "Resume a suspended tenant; needs your PIN", Args: cobra.ExactArgs(1),
		Example: "  tandem tenant resume acme",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, room.TenantResume, room.TenantRef{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is %s\n", out.Name, out.State) })
		},
	}
}
