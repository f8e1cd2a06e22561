package server

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/daemon"
	"tandem/internal/fault"
)

func newServer(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "server", Short: "Copies of the server's data: backup, restore"}
	cmd.AddCommand(newBackup(k), newRestore(k))
	return cmd
}

func newBackup(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "backup PATH", Short: "Write a copy of everything while the server runs; needs your PIN", Args: cobra.ExactArgs(1),
		Long: "Write a copy of everything while the server runs. It can be restored on another machine, and into SQLite or PostgreSQL, whichever it came from.\n" +
			"The copy holds the server's keys: keep it as you keep those.",
		Example: "  tandem server backup ~/tandem-2026-11-15.backup",
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			var out daemon.BackupOut
			if err := k.Call(cmd.Context(), "server.backup", daemon.PathIn{Path: path}, &out); err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%d rows are in %s (%d bytes)\n", out.Rows, out.Path, out.Bytes)
				if out.Keeper == "keyring" {
					fmt.Fprintln(w, "The master key of the secrets is in this machine's keyring and not in the copy: secrets open only here.")
				}
			})
		},
	}
}

func newRestore(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "restore PATH", Short: "Replace everything by a copy; needs your PIN", Args: cobra.ExactArgs(1),
		Long: "Replace everything by a copy. The copy is checked to its end first and the present state is copied aside into the data folder;\n" +
			"then the server restarts with the copy. A copy that is damaged changes nothing.",
		Example: "  tandem server restore ~/tandem-2026-11-15.backup",
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			var out daemon.BackupOut
			if err := k.Call(cmd.Context(), "server.restore", daemon.PathIn{Path: path}, &out); err != nil {
				return err
			}
			if err := restarted(cmd.Context(), k); err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "the server runs with the copy of %s, %d rows\n", out.Made.Local().Format(time.DateTime), out.Rows)
			})
		},
	}
}

// restarted waits until the server has taken up the copy and answers again.
func restarted(ctx context.Context, k *kit.Kit) error {
	s, err := k.Settings()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		if _, err := os.Stat(filepath.Join(s.Data(), "restore.pending")); os.IsNotExist(err) {
			if _, err := k.Running(ctx); err == nil {
				return nil
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fault.New(fault.Unavailable, "server.restore", "the server did not come back").WithNext("see why: tandem logs --level error, or: tandem serve")
}
