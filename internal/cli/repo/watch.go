package repo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/repo/host"
	"tandem/internal/repo/replica"
)

func newWatch(k *kit.Kit) *cobra.Command {
	var server, token string
	var after int64
	cmd := &cobra.Command{
		Use:   "watch [--server HOST:PORT]",
		Short: "Print every change of a repository's head",
		Long: `Print a line for every change of a repository's head, then who did what, and go on
when the connection breaks. In a workspace its own server is watched.`,
		Example: "  tandem watch --server 127.0.0.1:13013\n  tandem watch --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return watch(cmd.Context(), k, server, token, after)
		},
	}
	cmd.Flags().StringVar(&server, "server", "", "the server, HOST:PORT or HOST:PORT/NAME (TANDEM_SERVER)")
	cmd.Flags().StringVar(&token, "token", "", "a token of the server's")
	cmd.Flags().Int64Var(&after, "after", 0, "the last version you have seen; only later ones are printed")
	return cmd
}

func watch(ctx context.Context, k *kit.Kit, server, token string, after int64) error {
	a, err := address(k, server)
	if err != nil {
		return err
	}
	if a.Host == "" {
		dir, err := os.Getwd()
		if err != nil {
			return err
		}
		r, err := replica.Find(dir)
		if err != nil {
			return err
		}
		if r == nil {
			return fault.New(fault.Invalid, "watch", "this folder is no workspace, and no server was named, so there is nothing to watch").
				WithNext("go into a workspace, or name the server: tandem watch --server HOST:PORT (one on this machine that serves a " +
					"repository says where it listens: tandem status)")
		}
		r.Close()
		a = client.Address{Host: r.Server, Repo: r.Ref()}
	}
	m, err := enter(ctx, k, a, token)
	if err != nil {
		return err
	}
	of, err := choose(ctx, m, a)
	if err != nil {
		return err
	}
	fmt.Fprintf(k.Err, "watching heads on %s...\n", a.Host)
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		path := fmt.Sprintf("%s/repo/%s/watch?after=%d", m.Prefix, url.PathEscape(replica.Config{Repo: of.Name, ID: of.ID}.Ref()), after)
		err := m.Client.FollowWith(ctx, path, m.Header, func(e client.Event) error {
			var c host.Change
			if err := json.Unmarshal(e.Data, &c); err != nil {
				return err
			}
			after, pause = c.Version, 100*time.Millisecond
			if k.JSON {
				fmt.Fprintf(k.Out, "%s\n", e.Data)
			} else {
				fmt.Fprintf(kit.Screen(k.Out), "version=%d heads=%s\n", c.Version, strings.Join(c.Heads, ","))
				for _, d := range c.Did {
					what := d.Command
					if what == "" {
						what = d.Description
					}
					fmt.Fprintf(kit.Screen(k.Out), "  %s in %s: %s\n", d.Actor, d.Workspace, what)
				}
			}
			return nil
		})
		if ctx.Err() != nil {
			return nil // interrupted: that is how it ends
		}
		if !fault.Is(err, fault.Unavailable) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}
