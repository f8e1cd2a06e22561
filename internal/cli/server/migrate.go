package server

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/daemon"
)

func newMigrate(k *kit.Kit) *cobra.Command {
	var role string
	cmd := &cobra.Command{
		Use: "migrate", Short: "Make the server's tables, or bring them up to date, while no server runs", Args: cobra.NoArgs,
		Long: `Make the server's tables, or bring them to the version of this program. A start does so
by itself; this is for a PostgreSQL where the server's role may not. Name the address of
the role that owns the tables, and with --for the role that the server uses: it may then
read and write them, and not change what they are. The address is not kept.

A copy of what is there is made first, in the data folder.`,
		Example: "  tandem server migrate --database postgres://owner@db.example.org/tandem --for tandem\n  tandem up --database " +
			"postgres://tandem@db.example.org/tandem",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := k.Settings()
			if err != nil {
				return err
			}
			out, err := daemon.Migrate(cmd.Context(), s, k.Version, role)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "the tables in %s are of this version; %d steps were taken\n", out.Database, out.Steps)
				if out.Role != "" {
					fmt.Fprintf(w, "the role %s may read and write them\n", out.Role)
				}
			})
		},
	}
	k.Setting(cmd, "database", "postgres://… of the role that owns the tables")
	cmd.Flags().StringVar(&role, "for", "", "the role of PostgreSQL that the server uses")
	return cmd
}
