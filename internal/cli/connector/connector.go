// Package connector holds the commands for outside MCP servers.
package connector

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/connector/wire"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	cmd := &cobra.Command{Use: "connector", Aliases: []string{"connectors"}, Short: "Outside MCP servers as tools of sessions",
		Long: "Outside MCP servers. A connector can be called once a person accepted what it offers; " +
			"when that changes, it is quarantined until somebody looks again."}
	named := func(d op.Def[wire.NameIn, *wire.Connector]) looking {
		return func(ctx context.Context, name string) (*wire.Connector, error) {
			return op.Do(ctx, k, d, wire.NameIn{Name: name})
		}
	}
	accept := func(ctx context.Context, name string) (*wire.Connector, error) {
		return op.Do(ctx, k, wire.Accept, wire.AcceptIn{Name: name})
	}
	cmd.AddCommand(newList(k), newShow(k), newAdd(k), newSecret(k), newLogin(k),
		newVerb(k, "sync", "Ask a connector what it offers now", named(wire.Sync)),
		newVerb(k, "accept", "Accept what a connector offers; needs your PIN", accept),
		newEnable(k, "enable", true), newEnable(k, "disable", false),
		newVerb(k, "logout", "Forget the sign-in of a connector", named(wire.Logout)), newRemove(k))
	return []*cobra.Command{cmd}
}

func newList(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List connectors and their state", Args: cobra.NoArgs, Example: "  tandem connector list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, wire.List, wire.Nothing{})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Connectors) == 0 {
					fmt.Fprintln(w, "no connectors; add one: tandem connector add NAME ADDRESS")
					return
				}
				t := kit.Table(w)
				fmt.Fprintln(t, "NAME\tSTATE\tTOOLS\tWHERE\tFAILURE")
				for _, c := range out.Connectors {
					state := string(c.State)
					if !c.Enabled {
						state += ", disabled"
					}
					fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\n", c.Name, state, len(c.Tools), c.URL+strings.Join(c.Command, " "), kit.VisibleLine(c.Failure))
				}
				t.Flush()
			})
		},
	}
}

func newShow(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Show what a connector offers", Args: cobra.ExactArgs(1), Example: "  tandem connector show mail",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, wire.List, wire.Nothing{})
			if err != nil {
				return err
			}
			for _, c := range out.Connectors {
				if c.Name == args[0] {
					return k.Show(c, func(w io.Writer) { describe(w, c) })
				}
			}
			return fault.New(fault.NotFound, "connector.show", "there is no connector %s", args[0])
		},
	}
}

// describe shows what an outside server says of itself, for a person to accept: nothing of it may hide.
func describe(w io.Writer, c *wire.Connector) {
	fmt.Fprintf(w, "%s is %s\n", c.Name, c.State)
	if c.Failure != "" {
		fmt.Fprintf(w, "why: %s\n", kit.VisibleLine(c.Failure))
	}
	for _, t := range c.Tools {
		fmt.Fprintf(w, "\n%s\n  %s\n  %s\n", kit.VisibleLine(t.Name), strings.ReplaceAll(kit.Visible(t.Doc), "\n", "\n  "),
			kit.Visible(string(t.Schema)))
	}
	if len(c.Tools) > 0 {
		fmt.Fprintf(w, "\ndigest %s\n", c.Digest)
	}
}

func newAdd(k *kit.Kit) *cobra.Command {
	var in wire.AddIn
	var network bool
	var has wire.Given
	cmd := &cobra.Command{
		Use: "add NAME ADDRESS | add NAME -- PROGRAM [ARGUMENT…]", Short: "Add an outside MCP server", Args: cobra.MinimumNArgs(2),
		Long: "Add an MCP server at an address, or a program that speaks MCP on its standard input and output. A program runs in a sandbox, " +
			"and adding one needs your PIN; so does an address inside this machine or its network. " +
			"A program sees the system's own programs and --folder, where one in a home or a virtual environment has to lie; " +
			"--env gives it a variable, and --secret one whose value is stored sealed: " +
			"tandem connector secret NAME VARIABLE. A session keeps one process of it between its calls.",
		Example: "  tandem connector add docs https://docs.example/mcp --header Authorization\n  tandem connector add files -- " +
			"/usr/local/bin/mcp-files --quiet\n  tandem connector add tickets --folder ~/tools/tickets --env TEAM=core --secret TICKETS_KEY -- " +
			"~/tools/tickets/bin/serve",
		RunE: func(cmd *cobra.Command, args []string) error {
			var out *wire.Connector
			var err error
			if strings.Contains(args[1], "://") && len(args) == 2 {
				in.Name, in.URL = args[0], args[1]
				out, err = op.Do(cmd.Context(), k, wire.Add, in)
			} else {
				if has.Folder != "" {
					if has.Folder, err = k.Folder(cmd.Context(), has.Folder); err != nil {
						return err
					}
				}
				program := wire.CommandIn{Name: args[0], Command: args[1:], Network: network, Allow: in.Allow, Given: has}
				out, err = op.Do(cmd.Context(), k, wire.AddCommand, program)
			}
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s is added; look at it: tandem connector sync %s; then accept it: tandem connector accept %s\n", out.Name, out.Name,
					out.Name)
			})
		},
	}
	cmd.Flags().StringVar(&in.Header, "header", "", "the header that carries its secret")
	cmd.Flags().StringSliceVar(&in.Allow, "allow", nil, "only these of its tools")
	cmd.Flags().BoolVar(&in.Inside, "inside", false, "its name leads inside this machine or its network")
	cmd.Flags().StringVar(&has.Folder, "folder", "", "the folder that the program sees and works in")
	cmd.Flags().BoolVar(&has.Write, "write", false, "the program may change its folder")
	cmd.Flags().StringArrayVar(&has.Env, "env", nil, "NAME=VALUE for the program's environment")
	cmd.Flags().StringArrayVar(&has.Secrets, "secret", nil, "a variable of the program whose value is stored sealed")
	cmd.Flags().BoolVar(&network, "network", false, "the program may use the network")
	return cmd
}

func newSecret(k *kit.Kit) *cobra.Command {
	var stdin bool
	cmd := &cobra.Command{
		Use: "secret NAME [VARIABLE]", Short: "Store the secret that a connector's header or a program's variable carries, sealed",
		Args:    cobra.RangeArgs(1, 2),
		Example: "  tandem connector secret docs\n  tandem connector secret tickets TICKETS_KEY",
		RunE: func(cmd *cobra.Command, args []string) error {
			var value string
			var err error
			if stdin {
				if value, err = bufio.NewReader(k.In).ReadString('\n'); err == io.EOF {
					err = nil
				}
			} else {
				value, err = k.SecretFor(cmd.Context(), "secret for "+strings.Join(args, " "))
			}
			if err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, wire.Secret,
				wire.SecretIn{Name: args[0], Secret: strings.TrimSpace(value), For: strings.Join(args[1:], "")})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "the secret for %s is sealed\n", strings.Join(args, " ")) })
		},
	}
	cmd.Flags().BoolVar(&stdin, "stdin", false, "read it from standard input")
	return cmd
}

// looking does something with the connector of a name and answers with it.
type looking func(ctx context.Context, name string) (*wire.Connector, error)

// newVerb is a command that takes a connector's name and shows what became of it.
func newVerb(k *kit.Kit, verb, doc string, do looking) *cobra.Command {
	return &cobra.Command{
		Use: verb + " NAME", Short: doc, Args: cobra.ExactArgs(1), Example: "  tandem connector " + verb + " docs",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := do(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { describe(w, out) })
		},
	}
}

func newEnable(k *kit.Kit, verb string, on bool) *cobra.Command {
	return &cobra.Command{
		Use: verb + " NAME", Short: strings.ToUpper(verb[:1]) + verb[1:] + " a connector; the next call obeys it", Args: cobra.ExactArgs(1),
		Example: "  tandem connector " + verb + " docs",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, wire.Update, wire.UpdateIn{Name: args[0], Enabled: &on})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is %sd\n", out.Name, verb) })
		},
	}
}

func newRemove(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Remove a connector", Args: cobra.ExactArgs(1), Example: "  tandem connector remove docs",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, wire.Remove, wire.NameIn{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is gone\n", args[0]) })
		},
	}
}
