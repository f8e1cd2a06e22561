package server

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"tandem/internal/server/wire"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/client"
	"tandem/internal/daemon"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/session/terminal"
)

func newDown(k *kit.Kit) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Stop the server",
		Long: "Ask the running server, however it was started, to drain and end, and wait until it has. " +
			"One that does not answer is ended with --force: nothing that was acknowledged is lost by that.",
		Example: "  tandem down\n  tandem down --force",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			c, _, err := k.Answering(ctx)
			if client.Absent(err) {
				return fault.New(fault.Unavailable, "down", "tandem is not running")
			}
			if err == nil {
				err = stopped(ctx, k, c)
			}
			if force && err != nil {
				return forced(ctx, k)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&force, "force", false,
		"end a server that does not answer or does not end: its process is told to end, and killed when it does not within five seconds")
	return cmd
}

// stopped asks the server to end, and waits until it has.
func stopped(ctx context.Context, k *kit.Kit, c *client.Client) error {
	c, st, err := asked(ctx, k, c)
	if err != nil {
		return unanswered(k, err)
	}
	going := goOn(ctx, c)
	if _, err := op.Do(ctx, c, daemon.ServerStop, identity.Nothing{}); err != nil {
		return unanswered(k, err)
	}
	if err := k.Gone(ctx, 15*time.Second); err != nil {
		return err
	}
	return k.Show(map[string]any{"stopped": true, "pid": st.PID, "go_on": going}, func(w io.Writer) {
		fmt.Fprintf(w, "tandem has stopped (PID %d)\n", st.PID)
		if st.Unit != "" {
			fmt.Fprintf(w, "It is a service; to start it: %s start %s\n", st.Control, st.Unit)
		}
		if len(going) > 0 {
			fmt.Fprintf(w, "Agents go on in their terminals, and what they ask waits there: %s. With the next tandem up they are in sight again; "+
				"to end one: tandem session close %s\n",
				strings.Join(going, ", "), going[0])
		}
	})
}

// asked is the server's status, and the client that was told it: where the server wants to know who calls, the person says so.
func asked(ctx context.Context, k *kit.Kit, c *client.Client) (*client.Client, wire.Status, error) {
	st, err := op.Do(ctx, c, wire.ServerStatus, identity.Nothing{})
	if !kit.Unnamed(err) {
		return c, st, err
	}
	named, none := k.Said(c)
	if none != nil { // nobody is there to be asked
		return c, st, err
	}
	st, err = op.Do(ctx, named, wire.ServerStatus, identity.Nothing{})
	return named, st, err
}

// goOn are the sessions whose programs outlive the server. Who may not see them is told of none.
func goOn(ctx context.Context, c *client.Client) []string {
	names := []string{}
	live, err := op.Do(ctx, c, terminal.SessionLive, terminal.LiveIn{Recent: 1})
	if err != nil {
		return names
	}
	for _, s := range live.Sessions {
		if s.ClosedAt.IsZero() && s.State != terminal.Crashed && s.State != terminal.Exited {
			names = append(names, s.Name)
		}
	}
	return names
}

// forced ends the process that holds the data folder.
func forced(ctx context.Context, k *kit.Kit) error {
	pid, err := daemon.End(k.Data())
	if err != nil {
		return err
	}
	if err := k.Gone(ctx, 15*time.Second); err != nil {
		return err
	}
	return k.Show(map[string]any{"stopped": true, "pid": pid, "forced": true},
		func(w io.Writer) { fmt.Fprintf(w, "tandem was made to stop (PID %d)\n", pid) })
}

// unanswered says of a server that runs and cannot answer, because its database is away, that it runs, and how it is ended.
func unanswered(k *kit.Kit, err error) error {
	pid := daemon.Holder(k.Data())
	if !fault.Is(err, fault.Unavailable) || pid == 0 {
		return err
	}
	f := fault.Public(err)
	return fault.New(fault.Unavailable, "server", "tandem runs (PID %d) and cannot answer: %s", pid, f.Msg).
		WithNext("%s; to end it as it is: tandem down --force", f.Next)
}
