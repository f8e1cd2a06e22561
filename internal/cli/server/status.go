package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"tandem/internal/server/wire"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/client"
	"tandem/internal/daemon"
	"tandem/internal/fault"
	inbox "tandem/internal/inbox/wire"
	"tandem/internal/op"
	"tandem/internal/repo/host"
)

func newStatus(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show whether the server runs",
		Long: "Show whether the server runs. The exit code is 0 when it does and 1 when it does not. " +
			"The state of a working copy is: tandem st",
		Example: "  tandem status\n  tandem status --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			c, away, err := k.Answering(ctx)
			if client.Absent(err) {
				if told, err := starting(k); told || err != nil {
					return err
				}
				return errors.Join(notRunning(k), kit.Silent{Code: 1})
			}
			if err != nil {
				return err
			}
			var out statusOut
			if c, out.Status, err = asked(ctx, k, c); err != nil {
				return unanswered(k, err)
			}
			st := &out.Status
			if away != nil {
				out.NotReady = away.Msg
			}
			var odd []string
			if out.Repositories, odd, err = repositories(ctx, c, len(st.Repos) > 0); err != nil {
				return err
			}
			var waits inbox.Out
			// While only people may act, the program still says that it runs.
			if err := c.Call(ctx, string(inbox.List), inbox.In{}, &waits); err != nil && !fault.Is(err, fault.Denied) {
				return err
			}
			out.Inbox, out.Looking = waits.Count, waits.Looking
			out.Login = loggedIn(ctx, k)
			return k.Show(out, func(w io.Writer) {
				kit.Paint(w, kit.Green, "tandem is running")
				fmt.Fprintln(w)
				if away != nil {
					kit.Paint(w, kit.Red, "But "+away.Msg)
					fmt.Fprintln(w, " (tandem doctor)")
				}
				if out.Inbox > 0 {
					fmt.Fprintf(w, "Needs you: %d (tandem inbox)\n", out.Inbox)
				}
				if out.Looking > 0 {
					fmt.Fprintf(w, "Needs you: not known yet of %d, after the start (tandem inbox)\n", out.Looking)
				}
				out.Login.show(w)
				fmt.Fprintf(w, "PID: %d\nUptime: %s\n", st.PID, uptime(st.Uptime))
				if len(st.Repos) > 0 {
					fmt.Fprintf(w, "Repo: %s\n", strings.Join(st.Repos, ", "))
				}
				for _, r := range out.Repositories {
					fmt.Fprintf(w, "  %s: %s, %s, %s, %s\n", r.Name, kit.Count(r.Workspaces, "workspace"),
						kit.Count(r.Operations, "operation"), kit.Count(r.Objects, "object"), bytesText(r.Bytes))
				}
				for _, line := range odd {
					fmt.Fprintf(w, "  %s\n", line)
				}
				if st.Server.Lease > 0 {
					fmt.Fprintf(w, "Server: %s on %s, start %d on this database; %s\n", st.Server.ID, st.Server.Host, st.Server.Fence,
						together(&st.Server))
				}
				for _, o := range st.Server.Others {
					fmt.Fprintf(w, "  %s\n", fellow(o))
				}
				fmt.Fprintf(w, "Listen: %s\nVersion: %s\n", describe(st), st.Version)
				if st.Panel != "" {
					fmt.Fprintf(w, "Panel: %s (a link that signs you in: tandem panel open)\n", st.Panel)
					if st.Elsewhere != "" {
						fmt.Fprintf(w, "  from another machine: %s\n", st.Elsewhere)
					}
				}
				if st.Key != "" {
					fmt.Fprintf(w, "Fingerprint: %s\n", st.Key)
				}
				fmt.Fprintf(w, "Sandbox: %s\n", sandbox(st))
				told(w, st.Told)
				if st.Waiting > 0 {
					fmt.Fprintf(w, "Not confirmed yet: %d grants, tokens and the like from before the journal vouched for them: tandem audit confirm\n",
						st.Waiting)
				}
				switch {
				case st.CameBack && len(st.Closed) > 0:
					fmt.Fprintln(w, "Came back by itself after a crash, and listens on this machine only")
				case st.CameBack:
					fmt.Fprintln(w, "Came back by itself after a crash, and listens where it did (tandem down closes it)")
				}
				notReopened(w, st)
				alsoServed(w, st)
				if st.Unit != "" {
					fmt.Fprintf(w, "A service: %s restart %s starts it again\n", st.Control, st.Unit)
				}
				if st.OnDemand {
					fmt.Fprintln(w, "Started on demand: it ends when idle (tandem up keeps it)")
				}
			})
		},
	}
}

// together says who else may serve the database.
func together(s *wire.Serving) string {
	switch {
	case s.Cluster == "":
		return "others are refused"
	case len(s.Others) == 0:
		return "of the cluster " + s.Cluster + ", whose other servers do not run"
	}
	return "of the cluster " + s.Cluster + ", with"
}

// fellow is another server of the cluster.
func fellow(f wire.Fellow) string {
	if !f.Gone.IsZero() {
		return fmt.Sprintf("%s, data in %s: GONE since %s, nobody stopped it", f.Host, f.Data, f.Gone.Local().Format(time.DateTime))
	}
	return fmt.Sprintf("%s, data in %s, since %s", f.Host, f.Data, f.Since.Local().Format(time.DateTime))
}

// notRunning says how it is started, and on a machine where nothing was done yet how to begin.
func notRunning(k *kit.Kit) error {
	s, err := k.Settings()
	if err != nil {
		return err
	}
	next := "start it: tandem up"
	if _, err := os.Stat(s.Data()); errors.Is(err, os.ErrNotExist) {
		next = "begin here: tandem setup"
	}
	out := map[string]any{"running": false}
	made, waits := daemon.PendingRestore(s.Data())
	if waits != "" {
		out["restore"] = map[string]any{"made": made, "path": waits}
	}
	return k.Show(out, func(w io.Writer) {
		fmt.Fprintln(w, "tandem is not running")
		if waits != "" {
			fmt.Fprintf(w, "The next start replaces everything here by the copy of %s, which waits in %s (tandem doctor)\n",
				made.Local().Format(time.DateTime), waits)
		}
		fmt.Fprintf(w, "next:  %s\n", next)
	})
}

// told says on which ways people hear that something needs them, and what ends with this start.
func told(w io.Writer, ways []wire.Told) {
	if len(ways) == 0 {
		return
	}
	var names, passing []string
	for _, t := range ways {
		names = append(names, t.Way)
		if t.Ends {
			passing = append(passing, t.Env)
		}
	}
	fmt.Fprintf(w, "You are told by: %s, and the panel\n", strings.Join(names, ", "))
	if len(passing) > 0 {
		fmt.Fprintf(w, "  %s came with this start alone; kept in .env in the data folder, the next start has it, too\n", strings.Join(passing,
			", "))
	}
}

// starting tells of a server that is on its way: the first time it opens a large
// repository that takes a while. It does not serve yet, so the exit code is 1.
func starting(k *kit.Kit) (bool, error) {
	s, err := k.Settings()
	if err != nil {
		return false, err
	}
	h, ok := daemon.Living(s.Data())
	if !ok || h.Phase == "" {
		return false, nil
	}
	err = k.Show(map[string]any{"running": false, "starting": true, "pid": h.PID, "phase": h.Phase, "since": h.Since}, func(w io.Writer) {
		fmt.Fprintf(w, "tandem is starting\nPID: %d\n%s, for %s\n", h.PID, h.Phase, time.Since(h.Since).Round(time.Second))
	})
	return true, errors.Join(err, kit.Silent{Code: 1})
}

// statusOut is the server, and how large what it serves is.
type statusOut struct {
	wire.Status
	Repositories []host.StatusOut `json:"repositories,omitempty"`
	Inbox        int              `json:"inbox"`               // what needs a person: tandem inbox
	Login        *awayServer      `json:"login,omitempty"`     // where the person is logged in
	Looking      int              `json:"looking,omitempty"`   // sessions that were not looked at since the start
	NotReady     string           `json:"not_ready,omitempty"` // what keeps the server from its work
}

// repositories measures what is served.
func repositories(ctx context.Context, c *client.Client, any bool) (served []host.StatusOut, problems []string, err error) {
	if !any {
		return nil, nil, nil
	}
	list, err := op.Do(ctx, c, host.RepoList, struct{}{})
	if err != nil {
		return nil, nil, err
	}
	out := []host.StatusOut{}
	for _, r := range list.Items {
		if r.Problem != "" { // one odd repository hides neither the others nor the server
			problems = append(problems, fmt.Sprintf("%s: NOT SERVED: %s", r.Name, r.Problem))
			continue
		}
		st, err := op.Do(ctx, c, host.RepoStatus, host.RepoIn{Repo: r.Name})
		if err != nil {
			return nil, nil, err
		}
		out = append(out, st)
	}
	return out, problems, nil
}

// bytesText is a size for people.
func bytesText(n int64) string {
	units := []string{"B", "KB", "MB", "GB", "TB"}
	f, i := float64(n), 0
	for ; f >= 1000 && i < len(units)-1; i++ {
		f /= 1000
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", f, units[i])
}

// sandbox says what confines the commands of sessions with models.
func sandbox(st *wire.Status) string {
	switch st.Sandbox {
	case "bwrap":
		return "bubblewrap"
	case "seatbelt":
		return "Seatbelt, which nobody has tried on a Mac yet"
	case "landlock":
		return "Landlock and seccomp; commands in folders with files that may hold keys ask first" + why(st)
	}
	return "none: commands do not run unless a person grants it for a session" + why(st)
}

// why is the reason for a sandbox that is not the best one, where one is known.
func why(st *wire.Status) string {
	if st.SandboxWhy == "" {
		return ""
	}
	return " (" + st.SandboxWhy + ")"
}
