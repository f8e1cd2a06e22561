package connector

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/connector/wire"
	"tandem/internal/fault"
	"tandem/internal/op"
)

func newLogin(k *kit.Kit) *cobra.Command {
	var nowait bool
	cmd := &cobra.Command{
		Use: "login NAME", Short: "Sign in at a connector, in the browser", Args: cobra.ExactArgs(1),
		Long: "Begin a sign-in at a connector that wants one: the address to open in a browser is printed, and the command waits until you " +
			"are back. The sign-in is kept sealed and renewed by itself.",
		Example: "  tandem connector login mail\n  tandem connector login mail --no-wait",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			out, err := op.Do(ctx, k, wire.Login, wire.NameIn{Name: args[0]})
			if err != nil {
				return err
			}
			if out.URL == "" || nowait {
				return k.Show(out, func(w io.Writer) {
					if out.URL == "" {
						fmt.Fprintf(w, "%s needs no sign-in; it is %s\n", args[0], out.State)
						return
					}
					fmt.Fprintln(w, out.URL)
				})
			}
			fmt.Fprintf(k.Err, "open this in a browser:\n%s\nwaiting for you to come back …\n", out.URL)
			for end := time.Now().Add(10 * time.Minute); time.Now().Before(end); {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(500 * time.Millisecond):
				}
				list, err := op.Do(ctx, k, wire.List, wire.Nothing{})
				if err != nil {
					return err
				}
				for _, c := range list.Connectors {
					if c.Name == args[0] && c.State != wire.AuthRequired {
						return k.Show(c, func(w io.Writer) {
							fmt.Fprintf(w, "signed in; %s is %s\n", c.Name, c.State)
							if c.State == wire.Quarantined {
								fmt.Fprintf(w, "look at what it offers: tandem connector show %s; then: tandem connector accept %s\n", c.Name, c.Name)
							}
						})
					}
				}
			}
			return fault.New(fault.Unavailable, "connector.login", "nobody came back in ten minutes").
				WithNext("begin again: tandem connector login %s", args[0])
		},
	}
	cmd.Flags().BoolVar(&nowait, "no-wait", false, "print the address and end")
	return cmd
}
