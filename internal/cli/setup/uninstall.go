package setup

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/daemon"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
)

func newUninstall(k *kit.Kit) *cobra.Command {
	var purge, yes bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Undo everything that tandem wrote on this machine",
		Long: "Stop the server and remove the service. The data folder stays unless --purge is given; removing it cannot be undone. " +
			"The program itself is one file: delete it last.",
		Example: "  tandem uninstall\n  tandem uninstall --purge --yes",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := k.Settings()
			if err != nil {
				return err
			}
			data := s.Data()
			if purge && !yes {
				return fault.New(fault.Invalid, "uninstall", "--purge deletes %s with everything in it: sessions, journal, keys", tilde(data, s.Home)).
					WithNext("make a copy first (tandem server backup PATH), then add --yes")
			}
			var done []string
			stopped, err := stopServer(cmd.Context(), k)
			if err != nil {
				return err
			}
			if stopped {
				done = append(done, "stopped the server")
			}
			removed, err := uninstallService(k)
			if err != nil {
				return err
			}
			if removed != "" {
				done = append(done, "removed "+tilde(removed, s.Home))
			}
			if _, err := os.Stat(data); purge && err == nil {
				if err := removeData(data); err != nil {
					return err
				}
				done = append(done, "deleted "+tilde(data, s.Home))
			}
			return k.Show(map[string]any{"done": done}, func(w io.Writer) {
				for _, d := range done {
					fmt.Fprintln(w, d)
				}
				if purge && len(done) == 0 {
					fmt.Fprintln(w, "there was nothing to undo")
				}
				if !purge {
					fmt.Fprintf(w, "your data is still in %s (--purge deletes it)\n", tilde(data, s.Home))
				}
			})
		},
	}
	cmd.Flags().BoolVar(&purge, "purge", false, "delete the data folder too")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask again")
	return cmd
}

// removeData deletes a data folder, and nothing that is not one.
func removeData(data string) error {
	if _, err := os.Stat(data); os.IsNotExist(err) {
		return nil
	}
	if err := daemon.CheckFolder(data); err != nil {
		return err
	}
	if _, err := os.Stat(data + "/lock"); err != nil {
		return fault.New(fault.Invalid, "uninstall", "%s does not look like a data folder of tandem: it has no lock file", data).
			WithNext("delete it yourself if you are sure")
	}
	return os.RemoveAll(data)
}

// stopServer stops the server if one runs, and waits until it has let go of the data folder.
func stopServer(ctx context.Context, k *kit.Kit) (stopped bool, err error) {
	c, err := k.Running(ctx)
	if err != nil {
		return false, nil
	}
	if _, err := op.Do(ctx, c, daemon.ServerStop, identity.Nothing{}); err != nil {
		return false, err
	}
	return true, k.Gone(ctx, 15*time.Second)
}
