package identity

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/client"
	"tandem/internal/fault"
	room "tandem/internal/identity"
	login "tandem/internal/login/wire"
	"tandem/internal/op"
)

func newLogin(k *kit.Kit) *cobra.Command {
	var name string
	var noPIN bool
	cmd := &cobra.Command{
		Use: "login HOST:PORT#INVITE", Short: "Log in at a server of somebody who invited you", Args: cobra.ExactArgs(1),
		Long: "Log in at a server with the line that its owner got from tandem invite --person. The server's key is remembered, and " +
			"every command about a server takes that one from then on: approvals, sessions, grants, audit and the like. --server NAME or " +
			"TANDEM_SERVER takes another for one command, --server own this machine's. What your commands do there has everyday rights.\n\n" +
			"You set a PIN for that server. It stays on this machine: it seals a key, whose other half the server is told. Where the server needs " +
			"you present, as for an answer to an ask, the PIN is asked for here and opens that key for one signature.",
		Example: "  tandem login build.example.org:13013#tdj_…\n  tandem login list\n  tandem login use own",
		RunE:    func(cmd *cobra.Command, args []string) error { return logIn(cmd.Context(), k, args[0], name, noPIN) },
	}
	cmd.Flags().StringVar(&name, "name", "", "what to call the server (its host's name)")
	cmd.Flags().BoolVar(&noPIN, "no-pin", false, "set no PIN: this machine then never answers for you there")
	cmd.AddCommand(newLoginList(k), newLoginUse(k), newLoginPIN(k), newLoginForget(k))
	return cmd
}

func logIn(ctx context.Context, k *kit.Kit, line, name string, noPIN bool) error {
	a, err := client.ParseAddress(line)
	if err != nil {
		return err
	}
	if a.Invite == "" {
		return fault.New(fault.Invalid, "login", "the invitation is missing: it stands behind # in the line that you were given").
			WithNext("ask for one; over there: tandem invite --person NAME")
	}
	reach, err := k.Reach(ctx, a)
	if err != nil {
		return err
	}
	if reach.Own {
		return fault.New(fault.Conflict, "login", "%s is this machine's own server, where you need no login", a.Host).
			WithNext("use the line on the machine of whom it is for")
	}
	if name == "" {
		name = serverName(a.Host)
	}
	all, err := op.Do(ctx, k, login.List, struct{}{})
	if err != nil {
		return err
	}
	if old := all.Find(name); old != nil && old.Server != a.Host { // before the invitation is spent
		return fault.New(fault.Conflict, "login", "%s is what you call %s", name, old.Server).WithNext("give this one another name: --name NAME")
	}
	s, err := k.Settings()
	if err != nil {
		return err
	}
	var key newKey
	if !noPIN {
		if err := key.make(k, name); err != nil {
			return err
		}
		defer clear(key.private)
	}
	server, got, err := client.Login(ctx, a, client.OpenPins(s.Data()+"/known_servers"), machineName(), key.public)
	if err != nil {
		return err
	}
	in := login.AddIn{Name: name, Server: a.Host, Key: server.Key, Person: got.Person, Terminal: got.Terminal, Token: got.Secret}
	if err := key.seal(&in, got); err != nil {
		return err
	}
	l, err := op.Do(ctx, k, login.Add, in)
	if err != nil {
		return err
	}
	return k.Show(l, func(w io.Writer) {
		fmt.Fprintf(w, "you are %s at %s (%s), and commands take that server\n", l.Person, l.Name, l.Server)
		if l.Device == "" {
			fmt.Fprintln(k.Err, "no PIN was set, so this machine never answers for you there: not one ask")
		}
		fmt.Fprintln(k.Err, "to come back to this machine's own: tandem login use own; to leave: tandem logout")
	})
}

// machineName is what this machine is called, as a name that an actor may have.
func machineName() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		name = "machine"
	}
	return plain(name)
}

// serverName is what a server is called where nobody says: its host's name.
func serverName(address string) string {
	return plain(address[:strings.LastIndex(address, ":")])
}

func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.", r):
			return r
		case r == '[' || r == ']':
			return -1
		}
		return '-'
	}, name)
	return strings.TrimLeft(name, "-")
}

func newLoginList(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the servers that you are logged in at", Args: cobra.NoArgs, Example: "  tandem login list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, login.List, struct{}{})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Logins) == 0 {
					fmt.Fprintln(w, "you are logged in nowhere else; to log in: tandem login HOST:PORT#INVITE")
					return
				}
				t := kit.Table(w)
				fmt.Fprintln(t, "NAME\tSERVER\tPERSON\tTERMINAL\tTAKEN")
				for _, l := range out.Logins {
					taken := ""
					if l.Taken {
						taken = "yes"
					}
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", l.Name, l.Server, l.Person, l.Terminal, taken)
				}
				t.Flush()
			})
		},
	}
}

func newLoginUse(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "use NAME", Short: "Have commands take another server; own is this machine's", Args: cobra.ExactArgs(1),
		Example: "  tandem login use own",
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := op.Do(cmd.Context(), k, login.Use, login.NameIn{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(l, func(w io.Writer) {
				if l.Name == login.Own {
					fmt.Fprintln(w, "commands take this machine's own server")
					return
				}
				fmt.Fprintf(w, "commands take %s (%s), where you are %s\n", l.Name, l.Server, l.Person)
			})
		},
	}
}

func newLoginForget(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "forget NAME", Short: "Forget a login on this machine, whether its server answers or not", Args: cobra.ExactArgs(1),
		Example: "  tandem login forget build.example.org",
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := op.Do(cmd.Context(), k, login.Forget, login.NameIn{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(l, func(w io.Writer) { fmt.Fprintf(w, "the login at %s is forgotten\n", l.Name) })
		},
	}
}

func newLogout(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "logout [NAME]", Short: "Log out at a server: it lets this machine in no more", Args: cobra.MaximumNArgs(1),
		Example: "  tandem logout\n  tandem logout build.example.org",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			all, err := op.Do(ctx, k, login.List, struct{}{})
			if err != nil {
				return err
			}
			l := all.Taken()
			if len(args) == 1 {
				l = all.Find(args[0])
			}
			if l == nil {
				return fault.New(fault.NotFound, "logout", "commands take this machine's own server, and there is nothing to log out from").
					WithNext("name one of: tandem login list")
			}
			c, err := k.Own(ctx)
			if err != nil {
				return err
			}
			// Where the server let this machine in no more anyway, there is nothing to end.
			if err := c.Through(l.Name).Call(ctx, string(room.PersonLogout), nil, nil); err != nil && !fault.Is(err, fault.Unauthenticated) {
				return err
			}
			if _, err := op.Do(ctx, k, login.Forget, login.NameIn{Name: l.Name}); err != nil {
				return err
			}
			return k.Show(l, func(w io.Writer) { fmt.Fprintf(w, "you are logged out at %s\n", l.Name) })
		},
	}
}
