package server

import (
	"fmt"
	"html"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"tandem/internal/server/wire"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/wholefile"
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
			if client.Absent(err) {
				return fault.New(fault.Unavailable, "panel", "tandem is not running").WithNext("start it: tandem up")
			}
			if err != nil {
				return err
			}
			st, err := op.Do(ctx, c, wire.ServerStatus, identity.Nothing{})
			if err != nil {
				return err
			}
			if st.Panel == "" {
				return fault.New(fault.Unavailable, "panel", "this daemon was started on demand and serves no panel").WithNext("tandem up")
			}
			link, err := op.Do(ctx, c, identity.SigninLink, identity.Nothing{})
			if err != nil {
				return err
			}
			url := st.Panel + "/signin?code=" + link.Code
			if !printOnly {
				if err := browse(filepath.Join(st.Data, "panel.html"), url); err != nil {
					return err
				}
			}
			out := map[string]any{"url": url, "expires_at": link.ExpiresAt}
			if st.Elsewhere != "" {
				out["elsewhere"] = st.Elsewhere + "/signin?code=" + link.Code
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintln(w, url)
				if far := out["elsewhere"]; far != nil {
					fmt.Fprintf(k.Err, "or, from another machine: %s\n", far)
				}
			})
		},
	}
	open.Flags().BoolVar(&printOnly, "print", false, "only print the link")
	cmd.AddCommand(open, newBrowsers(k), newSignOut(k))
	return cmd
}

func newBrowsers(k *kit.Kit) *cobra.Command {
	var in identity.BrowsersIn
	cmd := &cobra.Command{
		Use: "browsers", Short: "List the browsers that are signed in", Args: cobra.NoArgs,
		Example: "  tandem panel browsers\n  tandem panel browsers --person anna",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, identity.SigninList, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Browsers) == 0 {
					fmt.Fprintln(w, "No browser is signed in. Open one: tandem panel open")
					return
				}
				t := kit.Table(w)
				fmt.Fprintln(t, "ID\tPERSON\tSIGNED IN\tUNTIL\tBROWSER")
				for _, b := range out.Browsers {
					fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", b.ID, b.Person, b.SignedIn.Local().Format(time.DateTime),
						b.ExpiresAt.Local().Format(time.DateTime),
						strconv.QuoteToASCII(b.Agent))
				}
				t.Flush()
				if out.More {
					fmt.Fprintf(w, "more: the same with --after %s\n", out.Browsers[len(out.Browsers)-1].ID)
				}
			})
		},
	}
	cmd.Flags().StringVar(&in.Person, "person", "", "only those with which this person signed in")
	cmd.Flags().StringVar(&in.After, "after", "", "only browsers behind this one")
	cmd.Flags().IntVar(&in.Limit, "limit", 0, "at most this many (500)")
	return cmd
}

func newSignOut(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "signout ID", Short: "Sign a browser out; needs your PIN", Args: cobra.ExactArgs(1),
		Example: "  tandem panel signout signin_5f0c4e1f2a3b4c5d",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, identity.SigninEnd, identity.BrowserIn{ID: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintln(w, "It is signed out.") })
		},
	}
}

// browse opens the person's browser; where there is none the printed link does. Other users read what a program was started with,
// so the browser is given a file that only this user reads, and that leads on.
func browse(file, url string) error {
	if err := wholefile.Write(file, fmt.Appendf(nil, "<!doctype html><meta charset=utf-8><meta name=referrer content=no-referrer>"+
		"<meta http-equiv=refresh content=\"0; url=%s\"><title>tandem</title><a href=\"%s\">open the panel</a>\n", html.EscapeString(url),
		html.EscapeString(url))); err != nil {
		return err
	}
	program := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if program == nil {
		program = []string{"xdg-open"}
	}
	_ = exec.Command(program[0], append(program[1:], file)...).Start()
	return nil
}
