package identity

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"tandem/internal/server/wire"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/cli/qr"
	"tandem/internal/fault"
	room "tandem/internal/identity"
	"tandem/internal/op"
)

// inviteOut is an invitation, and the line that uses it.
type inviteOut struct {
	room.InviteOut
	Join string `json:"join"`
}

func newInvite(k *kit.Kit) *cobra.Command {
	var life time.Duration
	var in room.InviteIn
	var code bool
	var tenant string
	cmd := &cobra.Command{
		Use: "invite", Short: "Make an invitation for another person, machine or agent; needs your PIN", Args: cobra.NoArgs,
		Long: "Make an invitation. It lets one machine in, once, within a day. With --uses it lets several in: " +
			"then it can stand in the recipe that makes them, and nobody has to be there when they join. What it lets in is an agent, " +
			"with what the policy says of agents.\n\n" +
			"With --person it is for somebody else, who logs in with it on their own machine, where tandem is installed. " +
			"What their commands do has everyday rights. With --tenant they come into another tenant of this server.",
		Example: "  tandem invite\n  tandem invite --person anna\n  tandem invite --person ben --tenant acme\n" +
			"  tandem invite --expires 1h\n  tandem invite --uses 20 --expires 24h",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if cmd.Flags().Changed("uses") && in.Uses < 1 {
				return kit.Usagef("--uses says how many machines may join: 1 or more")
			}
			if in.TTL, err = kit.Life(cmd, "expires", life, time.Second); err != nil {
				return err
			}
			if tenant != "" && in.Person == "" {
				return kit.Usagef("--tenant goes with --person: machines and agents are invited by the tenant's own people")
			}
			return invite(cmd.Context(), k, in, tenant, code)
		},
	}
	cmd.Flags().StringVar(&in.Person, "person", "", "the name of the person whom it is for")
	cmd.Flags().StringVar(&tenant, "tenant", "", "the tenant that the person comes into; the house's own when left out")
	cmd.Flags().BoolVar(&code, "qr", false, "draw it as a QR code, too; at a terminal one for a person is drawn by itself")
	cmd.Flags().DurationVar(&life, "expires", 0, "how long it is good for (24h)")
	cmd.Flags().Int64Var(&in.Uses, "uses", 0, "how many machines may join with it (1)")
	cmd.AddCommand(newInviteList(k), newInviteRevoke(k))
	return cmd
}

// listening is how this server is reached, where it has an address.
func listening(ctx context.Context, k *kit.Kit) (wire.Status, error) {
	st, err := op.Do(ctx, k, wire.ServerStatus, room.Nothing{})
	if fault.Is(err, fault.Denied) { // a tenant of another house knows the server as its people log in there
		if l, known := k.Login(ctx); known == nil && l != nil {
			return wire.Status{Listen: l.Server, Key: l.Key}, nil
		}
	}
	if err == nil && st.Listen == "" {
		err = fault.New(fault.Conflict, "invite", "this server has no address, so nobody could use an invitation").
			WithNext("give it one: tandem up --replace --listen 0.0.0.0:13013")
	}
	return st, err
}

// loginLink is where a person logs in, and with what.
func loginLink(st *wire.Status, invite string) string {
	return cmp.Or(st.Address, st.Listen) + "#" + room.InviteLine(invite, st.Key)
}

// unreached says that nobody elsewhere reaches this server.
func unreached(w io.Writer, st *wire.Status) {
	if st.Key == "" {
		fmt.Fprintln(w, "only programs of this machine reach that address; for others: tandem up --replace --listen 0.0.0.0:13013")
	}
}

func invite(ctx context.Context, k *kit.Kit, in room.InviteIn, tenant string, code bool) error {
	st, err := listening(ctx, k)
	if err != nil {
		return err
	}
	var out room.InviteOut
	if tenant != "" {
		out, err = op.Do(ctx, k, room.TenantInvite, room.TenantInviteIn{Tenant: tenant, Person: in.Person, TTL: in.TTL})
	} else {
		out, err = op.Do(ctx, k, room.JoinInvite, in)
	}
	if err != nil {
		return err
	}
	c, err := k.Client(ctx)
	if err != nil {
		return err
	}
	link := loginLink(&st, out.Invite)
	line := "tandem login " + link
	if in.Person == "" {
		if line, err = kit.JoinLine(ctx, c, &st, room.InviteLine(out.Invite, st.Key)); err != nil {
			return err
		}
	}
	return k.Show(inviteOut{out, line}, func(w io.Writer) {
		fmt.Fprintln(w, line)
		if code || in.Person != "" && k.Terminal() {
			if drawn, err := qr.Encode(link); err == nil {
				fmt.Fprint(w, drawn.Lines())
			}
		}
		if in.Person != "" {
			fmt.Fprintf(k.Err, "%s types that on their own machine, once, until %s; tandem has to be installed there\n", in.Person,
				when(&out.ExpiresAt))
		}
		if in.Person != "" && tenant == "" {
			fmt.Fprintf(k.Err, "%s's terminal may then start agents on this machine, in the folders granted here; what it changes or runs there "+
				"itself asks first, and what you deny person:%s it may not do\n", in.Person, in.Person)
		}
		if out.Receives != "" {
			fmt.Fprintf(k.Err, "grants wait for that name: %s\n", out.Receives)
		}
		unreached(k.Err, &st)
		if out.Uses > 1 {
			fmt.Fprintf(k.Err, "%s lets %d machines in until %s; to end it before: tandem invite revoke %s\n", out.ID, out.Uses,
				when(&out.ExpiresAt), out.ID)
		}
	})
}

func newInviteList(k *kit.Kit) *cobra.Command {
	var in room.PageIn
	return paged(&cobra.Command{
		Use: "list", Short: "List invitations and who came by them", Args: cobra.NoArgs, Example: "  tandem invite list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, room.JoinInvites, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Invites) == 0 {
					fmt.Fprintln(w, "no invitation is open; to make one: tandem invite")
					return
				}
				t := kit.Table(w)
				fmt.Fprintln(t, "ID\tUSED\tSTATE\tUNTIL\tJOINED")
				for _, v := range out.Invites {
					fmt.Fprintf(t, "%s\t%d of %d\t%s\t%s\t%s\n", v.ID, v.Used, v.Uses, inviteState(v), when(&v.ExpiresAt),
						cmp.Or(joined(v.Joined), invited(v)))
				}
				t.Flush()
				later(w, out.More, out.Invites[len(out.Invites)-1].ID)
			})
		},
	}, &in.After, &in.Limit, "invitations")
}

func newInviteRevoke(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "revoke ID", Short: "End an invitation; who joined with it stays; needs your PIN", Args: cobra.ExactArgs(1),
		Example: "  tandem invite revoke inv_…",
		RunE: func(cmd *cobra.Command, args []string) error {
			return done(cmd, k, room.JoinRevoke, room.InviteRef{ID: args[0]},
				args[0]+" is revoked; to shut out who joined with it: tandem actor disable NAME")
		},
	}
}

func inviteState(v *room.Invitation) string {
	switch {
	case v.RevokedAt != nil:
		return "revoked"
	case v.Used >= v.Uses:
		return "used"
	case time.Now().After(v.ExpiresAt):
		return "expired"
	}
	return "open"
}

// invited says whom an invitation waits for that nobody came by yet.
func invited(v *room.Invitation) string {
	if v.Person == "" {
		return ""
	}
	return "for " + v.Person
}

// joined names the first of those who came, and where from.
func joined(all []room.JoinedBy) (out string) {
	for i, j := range all {
		if i == 5 {
			return fmt.Sprintf("%s and %d more", out, len(all)-i)
		}
		if i > 0 {
			out += ", "
		}
		out += j.Name
		if j.From != "" {
			out += " (" + j.From + ")"
		}
	}
	return out
}
