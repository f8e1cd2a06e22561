// Package share holds `tandem share`: give the bridge an address that chat apps reach, say what to paste into them, and take
// the address down again.
package share

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tandem/internal/cli/kit"
	"tandem/internal/cli/server"
	"tandem/internal/client"
	"tandem/internal/op"
	"tandem/internal/tunnel/wire"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	var mode string
	cmd := &cobra.Command{
		Use: "share", Short: "Let chat apps reach this machine's sessions", Args: cobra.NoArgs,
		Long: "Give the bridge an address and print what goes into the chat app.\n\n" +
			"  tailscale  a Tailscale Funnel: one login, and the address stays (the default)\n" +
			"  quick      a Cloudflare quick tunnel: no account, a new address each time (also: web)\n" +
			"  desktop    no tunnel: a desktop app starts tandem itself\n\n" +
			"Without --mode, TANDEM_SETUP_MODE says which; without that you are asked. Through a tunnel only the bridge is served, never the panel.",
		Example: "  tandem share --mode tailscale\n  TANDEM_SETUP_MODE=quick tandem share\n  tandem share stop",
		RunE:    func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), k, mode) },
	}
	cmd.Flags().StringVar(&mode, "mode", "", "tailscale, quick or desktop")
	_ = cmd.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions([]string{"tailscale", "quick", "desktop"},
		cobra.ShellCompDirectiveNoFileComp))
	cmd.AddCommand(newStop(k), newStatus(k))
	return []*cobra.Command{cmd}
}

func run(ctx context.Context, k *kit.Kit, given string) error {
	s, err := k.Settings()
	if err != nil {
		return err
	}
	if given == "" {
		given = s.Get("setup_mode")
	}
	if given == "" {
		if given, err = ask(k); err != nil {
			return err
		}
	}
	mode, err := wire.ParseMode(given)
	if err != nil {
		return err
	}
	for _, need := range []struct{ program, why string }{{"tmux", "sessions with agent programs run in it"},
		{"claude", "it is the agent that sessions open first; codex and opencode work too"}} {
		if _, err := exec.LookPath(need.program); err != nil && !(need.program == "claude" && s.Get("claude") != "") {
			fmt.Fprintf(k.Err, "warning: %s is not installed: %s\n", need.program, need.why)
		}
	}
	if mode != wire.Desktop {
		if err := server.Ensure(ctx, k); err != nil {
			return err
		}
		if f, ok := k.Err.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			fmt.Fprintln(k.Err, "opening; a new name can take a minute to be known")
		}
	}
	out, err := op.Do(ctx, k, wire.Share, wire.ShareIn{Mode: string(mode)})
	if err != nil {
		return err
	}
	return k.Show(out, func(w io.Writer) { show(w, out) })
}

// ask asks a person at a terminal; Enter is the default.
func ask(k *kit.Kit) (string, error) {
	in, ok := k.In.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return "", nil
	}
	line, answered, err := k.Ask("tailscale (the address stays), quick (no account) or desktop? [tailscale] ")
	if err == nil && !answered {
		err = context.Canceled
	}
	return line, err
}

func show(w io.Writer, out wire.ShareOut) {
	if out.Mode == wire.Desktop {
		fmt.Fprintf(w, "%s\n\nSaved to %s. Merge it into the app's configuration (Claude Desktop: "+
			"claude_desktop_config.json) and restart the app.\n", out.Config, out.Connector)
		return
	}
	if out.Spreading == "" {
		fmt.Fprintf(w, "The bridge answers at %s\n\n", out.URL)
	} else {
		fmt.Fprintf(w, "The bridge is opened at %s, and its name is still spreading: it can take some minutes.\n  %s\n"+
			"  It stays open and keeps this name; when it answers is shown by: tandem share status\n\n", out.URL, out.Spreading)
	}
	fmt.Fprintf(w, "MCP URL: %s\n  whoever has it drives sessions on this machine: treat it as a password\n", out.MCP)
	fmt.Fprintf(w, "Without a secret: %s\n  for apps that sign in by OAuth; you consent in the panel\n\n%s\n\nSaved to %s.\n", out.OAuth,
		out.Config, out.Connector)
	fmt.Fprintf(w, "Next:\n  Claude.ai or ChatGPT: Settings, Connectors, Add custom connector, paste the MCP URL, say \"start tandem\"\n  "+
		"Claude Code: claude mcp add --transport http tandem %s\n", out.OAuth)
	if out.Mode == wire.Quick {
		fmt.Fprintln(w, "  the address is new each time: paste it again after a restart")
	}
	fmt.Fprintln(w, "  tandem share stop")
}

func newStop(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "stop", Short: "Take the public address down", Args: cobra.NoArgs, Example: "  tandem share stop",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := wire.Status{State: wire.Closed}
			if _, err := k.Running(cmd.Context()); !client.Absent(err) {
				if out, err = op.Do(cmd.Context(), k, wire.Stop, wire.Nothing{}); err != nil {
					return err
				}
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintln(w, "nothing is shared") })
		},
	}
}

func newStatus(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show whether the bridge has a public address", Args: cobra.NoArgs,
		Example: "  tandem share status\n  tandem share status --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := wire.Status{State: wire.Closed}
			if _, err := k.Running(cmd.Context()); !client.Absent(err) {
				if out, err = op.Do(cmd.Context(), k, wire.Show, wire.Nothing{}); err != nil {
					return err
				}
			}
			return k.Show(out, func(w io.Writer) {
				if out.State == wire.Open {
					fmt.Fprintf(w, "%s: %s, since %s\n", out.Mode, out.URL, out.Since.Local().Format("2006-01-02 15:04:05"))
					if out.Spreading != "" {
						fmt.Fprintf(w, "its name is still spreading: %s\n", out.Spreading)
					}
					return
				}
				fmt.Fprint(w, "nothing is shared")
				if out.Reason != "" {
					fmt.Fprintf(w, " (%s: %s)", out.State, out.Reason)
				}
				fmt.Fprintln(w)
			})
		},
	}
}
