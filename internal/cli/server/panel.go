package server

import (
	"fmt"
	"io"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/daemon"
	"tandem/internal/fault"
	"tandem/internal/identity"
)

func newPanel(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "panel", Short: "The web control panel"}
	var printOnly bool
	open := &cobra.Command{
		Use:     "open",
		Short:   "Open the panel in the browser, signed in",
		Example: "  tandem panel open\n  tandem panel open --print",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			c, err := k.Running(ctx)
			if err != nil {
				return err
			}
			var st daemon.Status
			if err := c.Call(ctx, "server.status", nil, &st); err != nil {
				return err
			}
			if st.Panel == "" {
				return fault.New(fault.Unavailable, "panel", "this daemon was started on demand and serves no panel").WithNext("tandem up")
			}
			var link identity.LinkOut
			if err := c.Call(ctx, "signin.link", nil, &link); err != nil {
				return err
			}
			url := st.Panel + "/signin?code=" + link.Code
			if !printOnly {
				browse(url)
			}
			return k.Show(map[string]any{"url": url, "expires_at": link.ExpiresAt}, func(w io.Writer) { fmt.Fprintln(w, url) })
		},
	}
	open.Flags().BoolVar(&printOnly, "print", false, "only print the link")
	cmd.AddCommand(open)
	return cmd
}

// browse opens the person's browser; where there is none the printed link does.
func browse(url string) {
	program := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if program == nil {
		program = []string{"xdg-open"}
	}
	_ = exec.Command(program[0], append(program[1:], url)...).Start()
}
