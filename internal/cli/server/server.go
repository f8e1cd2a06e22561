// Package server holds the commands of the server's life: serve, up, down,
// status, logs, settings, panel, version, server backup and restore.
package server

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"tandem/internal/server/wire"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	return []*cobra.Command{newServe(k), newUp(k), newDown(k), newStatus(k), newLogs(k), newSettings(k), newPanel(k), newPhone(k),
		newServer(k), newVersion(k)}
}

func newVersion(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of this program", Args: cobra.NoArgs, Example: "  tandem version",
		RunE: func(*cobra.Command, []string) error {
			return k.Show(map[string]string{"version": k.Version}, func(w io.Writer) { fmt.Fprintf(w, "tandem %s\n", k.Version) })
		},
	}
}

// serverFlags are shared by serve and up.
func serverFlags(cmd *cobra.Command, k *kit.Kit) {
	k.Setting(cmd, "listen", "address to listen on, HOST:PORT; beyond loopback it speaks TLS")
	k.Setting(cmd, "hostname", "the address part of --listen")
	k.Setting(cmd, "port", "the port part of --listen")
	k.Setting(cmd, "database", "postgres://… to keep state in PostgreSQL")
	k.Setting(cmd, "cluster", "the name that all servers on one PostgreSQL say to serve it together; none to serve it alone again")
	k.Setting(cmd, "hosts", "further names that requests may be addressed to, comma-separated")
	k.Setting(cmd, "log.level", "trace, debug, info, warn or error")
	k.Setting(cmd, "log.format", "text or json")
	k.Setting(cmd, "log.file", "where the log goes")
	k.Setting(cmd, "idle_exit", "a daemon started on demand ends after this long without work")
	k.Setting(cmd, "tls_cert", "certificate for listening beyond loopback")
	k.Setting(cmd, "tls_key", "key that belongs to --tls-cert")
	cmd.Flags().Bool("panel-public", false, "serve the panel beyond loopback too")
	k.Setting(cmd, "repos", "what up tells the server it starts")
	cmd.Flags().MarkHidden("repos")
	cmd.Flags().Func("repo", "a repository to serve, now and at every later start; may be given several times; none for no more",
		func(v string) error {
			if v != "none" {
				abs, err := filepath.Abs(v) // the daemon runs in a folder of its own
				if err != nil {
					return err
				}
				v = abs
			}
			if old := k.Flags["repos"]; old != "" {
				v = old + "," + v
			}
			k.Flags["repos"] = v
			return nil
		})
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if on, _ := cmd.Flags().GetBool("panel-public"); on {
			k.Flags["panel_public"] = "1"
		}
		return nil
	}
}

// uptime is a duration as people say it.
func uptime(secs int64) string {
	d := time.Duration(secs) * time.Second
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", secs)
	case d < time.Hour:
		return fmt.Sprintf("%dm %ds", secs/60, secs%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh %dm", secs/3600, secs/60%60)
	}
	return fmt.Sprintf("%dd %dh", secs/86400, secs/3600%24)
}

func describe(s *wire.Status) string {
	if s.Listen == "" {
		return "its socket only"
	}
	return s.Listen
}

// notReopened names where the server before this one listened, and this one does not: nobody approved it to last, or nobody said it again.
func notReopened(w io.Writer, s *wire.Status) {
	if len(s.Closed) > 0 {
		fmt.Fprintf(w, "Not opened again: %s. Nobody approved that it outlives its start: open it with tandem up --replace --listen %s, "+
			"then keep it with tandem settings keep\n",
			strings.Join(s.Closed, ", "), s.Closed[0])
	}
	if s.Taken != nil {
		fmt.Fprintf(w, "Not on %s, which %s has. To listen there: end that program, then tandem up --replace --listen %s\n", s.Taken.Address,
			s.Taken.Holder(), s.Taken.Address)
	}
	if len(s.Left) > 0 {
		fmt.Fprintf(w, "Before it was stopped it listened on %s, and who knows that address waits there: "+
			"open it with tandem up --replace --listen %s, then keep it with tandem settings keep\n",
			strings.Join(s.Left, ", "), s.Left[0])
	}
}
