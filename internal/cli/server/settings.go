package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"tandem/internal/server/wire"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/daemon"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/settings"
)

func newSettings(k *kit.Kit) *cobra.Command {
	set := &cobra.Command{
		Use: "set KEY VALUE", Short: "Change a setting in config.toml", Args: cobra.ExactArgs(2),
		Long: "Change a setting in config.toml in the data folder; an empty VALUE removes it. How agents search counts at once, " +
			"the rest from the next start on. What guards this machine (where it listens, which programs agents are, how they are confined) " +
			"needs your PIN, or waits for an approval where nobody can type it. Secrets are not settings.",
		Example: "  tandem settings set log.level debug\n  tandem settings set hosts build.example.org",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := settings.CheckChange(args[0], args[1]); err != nil { // nobody proves who they are for what is refused anyway
				return err
			}
			if s := settings.Known(args[0]); s != nil && s.Guard {
				if err := k.Prove(cmd.Context(), string(wire.SettingSet)); err != nil {
					return err
				}
			}
			if _, err := op.Do(cmd.Context(), k, wire.SettingSet, wire.SetIn{Key: args[0], Value: args[1]}); err != nil {
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
		Use:   "settings",
		Short: "Show every setting, where it came from and what it does",
		Long: "Show every setting: flags win over the environment, that over .env and config.toml in the data folder, " +
			"that over the defaults. What the running server was told when it was started, by flags or its environment, is shown as it has it.",
		Example: "  tandem settings\n  tandem settings --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := k.Settings()
			if err != nil {
				return err
			}
			all := asStarted(cmd.Context(), k, s.All())
			return k.Show(wire.SettingsOut{Settings: all}, func(w io.Writer) {
				t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
				for _, v := range all {
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", v.Key, v.Value, v.Source, v.Doc)
				}
				t.Flush()
			})
		},
	}
	keep := &cobra.Command{
		Use: "keep", Short: "Keep what this start was told about doors and sandboxes; needs your PIN", Args: cobra.NoArgs,
		Long: "Write into config.toml what the running server was told on its command line or by its environment about where it listens, " +
			"which programs agents are and how they are confined. Without that it lasts until the server ends, and a crash is an end, too.",
		Example: "  tandem up --listen 0.0.0.0:13013\n  tandem settings keep",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, daemon.SettingKeep, identity.Nothing{})
			if err != nil {
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

// asStarted are the settings with what the running server was told at its start, which the files here do not know. A server that does not
// answer, or is not this caller's to ask, has nothing to add.
func asStarted(ctx context.Context, k *kit.Kit, all []settings.Value) []settings.Value {
	c, err := k.Running(ctx)
	if err != nil {
		return all
	}
	has, err := op.Do(ctx, c, wire.ServerSettings, identity.Nothing{})
	if err != nil {
		return all
	}
	for i, v := range all {
		for _, h := range has.Settings {
			told := h.Source == "flag" || strings.HasPrefix(h.Source, "environment ")
			if h.Key == v.Key && h.Value != v.Value && told && v.Source != "flag" {
				all[i].Value, all[i].Source = h.Value, h.Source+" of the running server"
			}
		}
	}
	return all
}

// withoutPIN says what to do about an ask that nobody can answer yet.
func withoutPIN(ctx context.Context, k *kit.Kit, err error) error {
	var f *fault.Error
	if !fault.Is(err, fault.Pending) || !errors.As(err, &f) {
		return err
	}
	if who, lost := op.Do(ctx, k, identity.ActorWhoami, identity.Nothing{}); lost != nil || who.PIN {
		return err
	}
	return f.WithNext("set the PIN that such an answer needs: tandem pin set; then: tandem approvals approve %s. "+
		"On a machine that is set up without a "+
		"person, write it into config.toml or the environment before the first start", f.Data["approval"])
}
