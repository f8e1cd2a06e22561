package server

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/daemon"
)

func newSettings(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use:     "settings",
		Short:   "Show every setting and where it came from",
		Long:    "Show every setting as this command line sees it: flags win over the environment, that over .env and config.toml in the data folder, that over the defaults.",
		Example: "  tandem settings\n  tandem settings --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := k.Settings()
			if err != nil {
				return err
			}
			return k.Show(daemon.SettingsOut{Settings: s.All()}, func(w io.Writer) {
				t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
				for _, v := range s.All() {
					fmt.Fprintf(t, "%s\t%s\t%s\n", v.Key, v.Value, v.Source)
				}
				t.Flush()
			})
		},
	}
}
