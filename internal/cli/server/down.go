package server

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/client"
	"tandem/internal/daemon"
	"tandem/internal/fault"
)

func newDown(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use:     "down",
		Short:   "Stop the server",
		Long:    "Ask the running server, however it was started, to drain and end, and wait until it has.",
		Example: "  tandem down",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			c, err := k.Running(ctx)
			if client.Absent(err) {
				return fault.New(fault.Unavailable, "down", "tandem is not running")
			}
			if err != nil {
				return err
			}
			var st daemon.Status
			if err := c.Call(ctx, "server.status", nil, &st); err != nil {
				return err
			}
			if err := c.Call(ctx, "server.stop", nil, nil); err != nil {
				return err
			}
			if err := k.Gone(ctx, 15*time.Second); err != nil {
				return err
			}
			return k.Show(map[string]any{"stopped": true, "pid": st.PID}, func(w io.Writer) { fmt.Fprintf(w, "tandem has stopped (PID %d)\n", st.PID) })
		},
	}
}
