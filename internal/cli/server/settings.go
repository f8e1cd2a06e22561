package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/daemon"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/settings"
)

func newSettings(k *kit.Kit) *cobra.Command {
	set := &cobra.Command{
		Use: "set KEY VALUE", Short: "Change a setting in config.toml", Args: cobra.ExactArgs(2),
		Long:    "Change a setting in config.toml in the data folder; an empty VALUE removes it. How agents search counts at once, the rest from the next start on. What guards this machine (where it listens, which programs agents are, how they are confined) waits for an approval. Secrets are not settings.",
		Example: "  tandem settings set log.level debug\n  tandem settings set hosts build.example.org",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := k.Call(cmd.Context(), "setting.set", daemon.SetIn{Key: args[0], Value: args[1]}, nil); err != nil {
				return withoutPIN(cmd.Context(), k, err)
			}
			return k.Show(map[string]any{"key": args[0], "value": args[1]}, func(w io.Writer) {
				when := "it takes effect at the next start"
				if s := settings.Known(args[0]); s != nil && s.Live {
					when = "it counts from now on"
				}
				fmt.Fprintf(w, "%s is written; %s\n", args[0], when)
			})
		},
	}
	cmd := &cobra.Command{
		Use:     "settings",
		Short:   "Show every setting, where it came from and what it does",
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
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", v.Key, v.Value, v.Source, v.Doc)
				}
				t.Flush()
			})
		},
	}
	keep := &cobra.Command{
		Use: "keep", Short: "Keep what this start was told about doors and sandboxes; needs your PIN", Args: cobra.NoArgs,
		Long:    "Write into config.toml what the running server was told on its command line or by its environment about where it listens, which programs agents are and how they are confined. Without that it lasts until the server ends, and a crash is an end, too.",
		Example: "  tandem up --listen 0.0.0.0:13013\n  tandem settings keep",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var out daemon.KeptOut
			if err := k.Call(cmd.Context(), "setting.keep", nil, &out); err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				for _, v := range out.Settings {
					fmt.Fprintf(w, "kept %s = %s\n", v.Key, v.Value)
				}
				if len(out.Settings) == 0 {
					fmt.Fprintln(w, "there is nothing to keep: the files of the data folder say everything")
				}
			})
		},
	}
	cmd.AddCommand(set, keep)
	return cmd
}

// withoutPIN says what to do about an ask that nobody can answer yet.
func withoutPIN(ctx context.Context, k *kit.Kit, err error) error {
	var f *fault.Error
	var who identity.WhoOut
	if !fault.Is(err, fault.Pending) || !errors.As(err, &f) || k.Call(ctx, "actor.whoami", nil, &who) != nil || who.PIN {
		return err
	}
	return f.WithNext("set the PIN that such an answer needs: tandem pin set; then: tandem approvals approve %s. On a machine that is set up without a "+
		"person, write it into config.toml or the environment before the first start", f.Data["approval"])
}
