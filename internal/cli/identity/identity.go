// Package identity holds the commands about who acts: actor, token, pin,
// recover, invite, login, person, device, tenant, assertion, whoami.
package identity

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	room "tandem/internal/identity"
	"tandem/internal/op"
	secret "tandem/internal/secret/wire"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	actor := &cobra.Command{Use: "actor", Short: "People, agents and services that act here"}
	actor.AddCommand(newActorList(k), newActorAdd(k), newActorDisable(k))
	token := &cobra.Command{Use: "token", Short: "Credentials of actors"}
	token.AddCommand(newTokenList(k), newTokenNew(k), newTokenShow(k), newTokenRevoke(k), newTokenClear(k))
	pin := &cobra.Command{Use: "pin", Short: "The PIN that proves your presence on a terminal"}
	pin.AddCommand(newPINSet(k), newPINHash(k))
	return []*cobra.Command{newPerson(k), newDevice(k), actor, token, pin, newWhoami(k), newInvite(k), newRecover(k), newLogin(k),
		newLogout(k), newAssertion(k), newTenant(k)}
}

// whereOut is who calls, and at which server that was asked.
type whereOut struct {
	room.WhoOut
	Server  string `json:"server,omitempty"`
	Address string `json:"address,omitempty"`
	Key     string `json:"key,omitempty"`
}

func newWhoami(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "Say who you are here", Args: cobra.NoArgs, Example: "  tandem whoami",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, room.ActorWhoami, room.Nothing{})
			if err != nil {
				return err
			}
			l, err := k.Login(cmd.Context())
			if err != nil {
				return err
			}
			where := whereOut{WhoOut: out}
			if l != nil {
				where.Server, where.Address, where.Key = l.Name, l.Server, l.Key
			}
			return k.Show(where, func(w io.Writer) {
				fmt.Fprintf(w, "%s (%s) in %s, by the %s\n", out.Name, out.Kind, cmp.Or(out.TenantName, out.Tenant), out.Door)
				if len(out.For) > 0 {
					fmt.Fprintf(w, "acting for %s\n", strings.Join(out.For, ", "))
				}
				if l != nil {
					fmt.Fprintf(w, "at %s (%s), as your terminal there: nobody was proven to be present\n", l.Name,
						strings.TrimSpace(l.Server+" "+l.Key))
				}
			})
		},
	}
}

func newActorList(k *kit.Kit) *cobra.Command {
	var in room.ActorsIn
	return paged(&cobra.Command{
		Use: "list", Short: "List actors", Args: cobra.NoArgs, Example: "  tandem actor list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, room.ActorList, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				t := kit.Table(w)
				fmt.Fprintln(t, "NAME\tKIND\tFOR\tSTATE\tID")
				for _, a := range out.Actors {
					state := "active"
					if a.DisabledAt != nil {
						state = "disabled"
					}
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", a.Name, a.Kind, cmp.Or(a.ForName, a.For), state, a.ID)
				}
				t.Flush()
				if n := len(out.Actors); n > 0 {
					later(w, out.More, out.Actors[n-1].Name)
				}
			})
		},
	}, &in.After, &in.Limit, "actors")
}

func newActorAdd(k *kit.Kit) *cobra.Command {
	var in room.AddIn
	var kind string
	cmd := &cobra.Command{
		Use: "add NAME", Short: "Add an actor; needs your PIN", Args: cobra.ExactArgs(1), Example: "  tandem actor add builder --kind agent",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Name, in.Kind = args[0], op.Kind(kind)
			out, err := op.Do(cmd.Context(), k, room.ActorAdd, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "added %s (%s)\n", out.Name, out.Kind)
			})
		},
	}
	cmd.Flags().StringVar(&kind, "kind", "agent", "person, agent or service")
	cmd.Flags().StringVar(&in.For, "for", "", "on whose behalf it acts (you)")
	return cmd
}

func newActorDisable(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "disable NAME", Short: "Disable an actor and all who act for it; needs your PIN", Args: cobra.ExactArgs(1),
		Example: "  tandem actor disable builder",
		RunE: func(cmd *cobra.Command, args []string) error {
			return done(cmd, k, room.ActorDisable, room.NameIn{Name: args[0]}, args[0]+" is disabled")
		},
	}
}

func newTokenList(k *kit.Kit) *cobra.Command {
	var in room.TokensIn
	cmd := paged(&cobra.Command{
		Use: "list", Short: "List tokens and their last use", Args: cobra.NoArgs,
		Example: "  tandem token list\n  tandem token list --actor builder",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, room.TokenList, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				t := kit.Table(w)
				fmt.Fprintln(t, "ID\tACTOR\tSTATE\tLAST USED\tLABEL")
				for _, tok := range out.Tokens {
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", tok.ID, tok.Actor, state(tok), when(tok.UsedAt), tok.Label)
				}
				t.Flush()
				if n := len(out.Tokens); n > 0 {
					later(w, out.More, out.Tokens[n-1].ID)
				}
			})
		},
	}, &in.After, &in.Limit, "tokens")
	cmd.Flags().StringVar(&in.Actor, "actor", "", "only those of this actor")
	return cmd
}

func newTokenNew(k *kit.Kit) *cobra.Command {
	var in room.MintIn
	var life time.Duration
	var person bool
	cmd := &cobra.Command{
		Use: "new [ACTOR]", Short: "Make a token and show it once; needs your PIN", Args: cobra.MaximumNArgs(1),
		Example: "  tandem token new builder --label laptop\n  tandem token new --person --decide --expires 24h",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 1:
				in.Actor = args[0]
			case person:
				in.Actor = room.Owner
			default:
				return kit.Usagef("name an actor, or use --person for yourself")
			}
			var err error
			if in.TTL, err = kit.Life(cmd, "expires", life, time.Second); err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, room.TokenNew, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintln(w, out.Secret)
				fmt.Fprintf(k.Err, "%s for %s; it is not shown again\n", out.ID, out.Actor)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Label, "label", "", "what it is for")
	f.BoolVar(&person, "person", false, "for yourself")
	f.BoolVar(&in.Decides, "decide", false, "it may decide asks")
	f.DurationVar(&life, "expires", 0, "how long it lives, e.g. 24h")
	return cmd
}

func newTokenShow(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "show api|connector", Short: "Show one of the two default tokens; needs your PIN", Args: cobra.ExactArgs(1),
		Example: "  tandem token show api", ValidArgs: []string{"api", "connector"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(cmd.ValidArgs, args[0]) {
				return kit.Usagef("tokens are shown once, when they are made; only api and connector can be shown again")
			}
			out, err := op.Do(cmd.Context(), k, secret.Unmask, secret.NameIn{Name: "token/" + args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintln(w, out.Value) })
		},
	}
}

func newTokenRevoke(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "revoke ID", Short: "Revoke a token; needs your PIN", Args: cobra.ExactArgs(1), Example: "  tandem token revoke tok_…",
		RunE: func(cmd *cobra.Command, args []string) error {
			return done(cmd, k, room.TokenRevoke, room.TokenIn{ID: args[0]}, args[0]+" is revoked")
		},
	}
}

// newTokenClear is for programs that registered and got no token: nobody consented.
func newTokenClear(k *kit.Kit) *cobra.Command {
	var in room.ClearIn
	cmd := &cobra.Command{
		Use: "clear", Short: "Forget programs that asked to connect and that nobody let in; needs your PIN", Args: cobra.NoArgs,
		Example: "  tandem token clear",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, room.OAuthClear, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%d programs that nobody let in are forgotten\n", out.Cleared) })
		},
	}
	cmd.Flags().StringVar(&in.From, "from", "", "only those that asked from this address")
	return cmd
}

func newPINHash(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "hash", Short: "Turn a PIN into a hash that sets up a machine", Args: cobra.NoArgs, Example: "  tandem pin hash",
		Long: "Turn a PIN into a hash, for a machine that is set up without a person: its first start takes it from TANDEM_PIN_HASH, " +
			"from the file that TANDEM_PIN_HASH_FILE names, or from pin_hash in its config.toml. It counts once, where no PIN was ever set. " +
			"Nothing is stored here. Without a terminal the PIN is read from standard input.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			pin, err := pinToHash(k)
			if err != nil {
				return err
			}
			hash, err := room.HashPIN(pin)
			if err != nil {
				return err
			}
			return k.Show(map[string]string{"pin_hash": hash}, func(w io.Writer) { fmt.Fprintln(w, hash) })
		},
	}
}

// pinToHash is typed twice, or comes through a pipe.
func pinToHash(k *kit.Kit) (string, error) {
	if k.Asks() {
		return newPIN(k)
	}
	data, err := io.ReadAll(io.LimitReader(k.In, 1<<10))
	return strings.TrimRight(string(data), "\r\n"), err
}

func newPINSet(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "set", Short: "Set or change your PIN", Args: cobra.NoArgs, Example: "  tandem pin set",
		Long: "Set the PIN that proves your presence: deciding, granting, minting, unmasking and exporting ask for it. " +
			"The first one is trusted on first use; changing it asks for the old one. Recovery codes are shown with the first: " +
			"each sets a new PIN once, if you forget this one.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			c, err := k.Client(ctx)
			if err != nil {
				return err
			}
			who, err := op.Do(ctx, c, room.ActorWhoami, room.Nothing{})
			if err != nil {
				return err
			}
			if who.PIN {
				old, err := k.Secret("Old PIN: ")
				if err != nil {
					return err
				}
				c = c.WithPIN(old)
			}
			pin, err := newPIN(k)
			if err != nil {
				return err
			}
			out, err := op.Do(ctx, c, room.PINSet, room.PINIn{PIN: pin})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintln(w, "the PIN is set")
				showCodes(w, out.Codes)
			})
		},
	}
}

func done[In any](cmd *cobra.Command, k *kit.Kit, act op.Def[In, room.OK], in In, said string) error {
	out, err := op.Do(cmd.Context(), k, act, in)
	if err != nil {
		return err
	}
	return k.Show(out, func(w io.Writer) { fmt.Fprintln(w, said) })
}

func state(t *room.Token) string {
	switch {
	case t.RevokedAt != nil:
		return "revoked"
	case t.ExpiresAt != nil && time.Now().After(*t.ExpiresAt):
		return "expired"
	case t.Decides:
		return "may decide"
	}
	return "active"
}

func when(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.Local().Format("2006-01-02 15:04")
}
