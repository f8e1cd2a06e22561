package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"tandem/internal/server/wire"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/client"
	"tandem/internal/daemon"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
)

func newServe(k *kit.Kit) *cobra.Command {
	var background, onDemand bool
	var begin beginning
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server in the foreground",
		Long: `Run the server in the foreground, for a terminal, systemd or a container.
The log goes to standard error and to the log file. SIGINT or SIGTERM drain and
end it; a second one ends it at once. With --daemon SIGHUP reads the settings again
(what guards the machine waits for the next start) and opens the log file anew; in
the foreground it ends the server, as a closed terminal should.`,
		Example: "  tandem serve\n  tandem serve --listen 127.0.0.1:39731 --log-level debug\n  tandem serve --hostname 127.0.0.1 --port 39731",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd.Context(), k, begin, background, onDemand)
		},
	}
	serverFlags(cmd, k)
	begin.flags(cmd)
	cmd.Flags().BoolVar(&background, "daemon", false, "log to the file alone (what up starts)")
	cmd.Flags().BoolVar(&onDemand, "on-demand", false, "open no network address and end when idle")
	cmd.Flags().MarkHidden("on-demand")
	return cmd
}

func serve(ctx context.Context, k *kit.Kit, begin beginning, background, onDemand bool) (err error) {
	if !onDemand {
		if err := replaceOnDemand(ctx, k); err != nil {
			return err
		}
	}
	if err := begin.anew(k); err != nil {
		return err
	}
	s, err := k.Settings()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals
		os.Exit(1)
	}()
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	defer func() {
		if err != nil && !daemon.Held(err) {
			k.Fell(err)
		}
	}()
	for {
		d := &daemon.Daemon{Settings: s, Version: k.Version, OnDemand: onDemand, Without: begin.without}
		begin.without = nil // once
		d.Ready = func(*daemon.Daemon) {
			os.Truncate(kit.StartLog(k.Data()), 0) //nolint:errcheck // it started: what failed before is past
			if !background {
				go invite(ctx, k)
			}
		}
		again := func() { d.Reload(k.Settings) }
		if !background {
			d.Console, again = k.Err, cancel
		}
		ended := make(chan struct{})
		go func() {
			for {
				select {
				case <-hup:
					again()
				case <-ended:
					return
				}
			}
		}()
		err := d.Run(ctx)
		close(ended)
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return nil // it was told to end while it was still starting
		}
		if onDemand && daemon.Held(err) {
			return nil // somebody else was first, and whoever wanted us waits for that one
		}
		if !errors.Is(err, daemon.ErrRestart) {
			return err
		}
	}
}

// replaceOnDemand ends a daemon that no person asked for by name (one started on
// demand, or that came back after a crash), so that one that was takes its
// place. It listens where the one did that came back: others know that address.
func replaceOnDemand(ctx context.Context, k *kit.Kit) error {
	c, _, err := k.Answering(ctx)
	// One that is dying resets the connection. Whoever lives holds the lock, and taking that decides.
	if client.Absent(err) || fault.Is(err, fault.Unavailable) {
		return nil
	}
	if err != nil {
		return err
	}
	s, err := op.Do(ctx, c, wire.ServerStatus, identity.Nothing{})
	if fault.Is(err, fault.Unavailable) {
		return nil
	}
	if err != nil || !s.OnDemand && !s.CameBack {
		return err // one that up or serve started keeps the lock and says so
	}
	reopen := func() error { return nil }
	if s.CameBack {
		reopen = daemon.Reopening(s.Data)
	}
	if _, err := op.Do(ctx, c, daemon.ServerStop, identity.Nothing{}); err != nil {
		return err
	}
	if err := k.Gone(ctx, 10*time.Second); err != nil {
		return err
	}
	return reopen()
}

// invite prints how the first machine joins a server that was opened beyond this
// one. It goes to standard output alone: the log is kept, and this is a secret.
func invite(ctx context.Context, k *kit.Kit) {
	c, err := k.Running(ctx)
	if err != nil {
		return // it ended already
	}
	out, err := op.Do(ctx, c, daemon.ServerInvite, identity.Nothing{})
	if err != nil || out.Invite == "" {
		return
	}
	st, err := op.Do(ctx, c, wire.ServerStatus, identity.Nothing{})
	if err != nil {
		return
	}
	line, err := kit.JoinLine(ctx, c, &st, out.Invite)
	if err != nil {
		return
	}
	fmt.Fprintf(k.Out, "On another machine (works once, for a day or until the next start, by any name or address of this one):\n  %s\n", line)
}
