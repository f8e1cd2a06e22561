package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

func newUp(k *kit.Kit) *cobra.Command {
	var replace bool
	var begin beginning
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start the server in the background",
		Long: "Start the server in the background, wait until it is healthy, and print its process id, its address and a one-time link that " +
			"signs you in to the panel. " +
			"A server that runs already starts again to serve a repository that is named here and that it does not serve yet.",
		Example: "  tandem up\n  tandem up --repo ~/project --listen 0.0.0.0:13013",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return up(cmd.Context(), k, begin, replace) },
	}
	serverFlags(cmd, k)
	begin.flags(cmd)
	cmd.Flags().BoolVar(&replace, "replace", false,
		"take the place of a running server: drain it, copy its data aside when it is of another version, start")
	return cmd
}

func up(ctx context.Context, k *kit.Kit, begin beginning, replace bool) error {
	if err := replaceOnDemand(ctx, k); err != nil {
		return err
	}
	running, err := standing(ctx, k, replace)
	if err != nil {
		return err
	}
	if !running {
		if err := begin.anew(k); err != nil {
			return err
		}
	}
	s, err := k.Settings()
	if err != nil {
		return err
	}
	c := k.At(s)
	if !running {
		if err := k.Spawn(s, append([]string{"serve", "--daemon"}, begin.args()...)...); err != nil {
			return err
		}
		if err := k.Started(ctx, s, c); err != nil {
			return err
		}
	}
	return welcome(ctx, k, c)
}

// standing looks for a server that up or serve started. With replace it gives way: one of this very version starts again with the
// flags and settings of now, one of another version is copied aside first.
func standing(ctx context.Context, k *kit.Kit, replace bool) (running bool, err error) {
	c, _, err := k.Answering(ctx)
	if client.Absent(err) {
		s, err := k.Settings()
		if err != nil {
			return false, err
		}
		if h, ok := daemon.Living(s.Data()); ok {
			return false, kit.Holds(s.Data(), h)
		}
		return false, nil
	}
	if err != nil {
		return false, err
	}
	c, st, err := asked(ctx, k, c)
	if err != nil {
		return false, unanswered(k, err)
	}
	if err := notAUnit(&st, replace || len(unserved(k, &st)) > 0); err != nil {
		return true, err
	}
	if more := unserved(k, &st); !replace && len(more) > 0 {
		if err := adopt(ctx, k, c, &st, more); err != nil {
			return true, err
		}
		replace = true
	}
	if !replace {
		return true, fault.New(fault.Conflict, "up", "tandem is already running (PID %d, %s)", st.PID, describe(&st)).
			WithNext("see it: tandem status; stop it: tandem down; start it again with other flags: tandem up --replace")
	}
	same := st.Version == k.Version
	if !same {
		fmt.Fprintf(k.Err, "replacing version %s by %s\n", st.Version, k.Version)
	}
	reopen := daemon.Reopening(st.Data)
	if _, err := op.Do(ctx, c, daemon.ServerStop, identity.Nothing{}); err != nil {
		return false, err
	}
	if err := k.Gone(ctx, 15*time.Second); err != nil {
		return false, err
	}
	if err := reopen(); err != nil || same {
		return false, err
	}
	copied, err := copyAside(st.Data)
	if err == nil && copied != "" {
		fmt.Fprintf(k.Err, "a copy of the data is in %s\n", copied)
	}
	return false, err
}

// notAUnit leaves a server that systemd runs to systemd: one that this command started in its place would have another environment, listen
// elsewhere, and be nobody's to start again.
func notAUnit(st *wire.Status, replace bool) error {
	if st.Unit == "" || !replace {
		return nil
	}
	return fault.New(fault.Conflict, "up", "this server is the service %s, which only its manager can start again", st.Unit).
		WithNext("%s restart %s; what its start is told belongs into the unit, its environment file or config.toml: "+
			"tandem settings set KEY VALUE",
			st.Control, st.Unit)
}

// copyAside keeps the database of a server that has stopped, so that going
// back is possible. What is in PostgreSQL is copied by the new server before it
// changes anything.
func copyAside(data string) (string, error) {
	from, err := os.Open(filepath.Join(data, "tandem.db"))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer from.Close()
	path := filepath.Join(data, "copies", "tandem-"+time.Now().Format("20060102-150405")+".db")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	to, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(to, from)
	return path, errors.Join(err, to.Sync(), to.Close())
}

// welcome prints where everything is and what to do next.
func welcome(ctx context.Context, k *kit.Kit, c *client.Client) error {
	c, st, err := asked(ctx, k, c)
	if kit.Unnamed(err) { // it runs, and nobody is there to say who asks
		pid, why := daemon.Holder(k.Data()), fault.Public(err)
		return k.Show(map[string]any{"pid": pid, "refused": why.Msg}, func(w io.Writer) {
			fmt.Fprintf(w, "tandem is running (PID %d)\n%s\nNext: %s\n", pid, why.Msg, why.Next)
		})
	}
	if err != nil {
		return err
	}
	link, refused := op.Do(ctx, c, identity.SigninLink, identity.Nothing{})
	if refused != nil && !fault.Is(refused, fault.Denied) {
		return refused
	}
	var invite daemon.InviteOut
	if st.Key != "" && refused == nil { // it listens beyond this machine, so somebody may have been invited
		if invite, err = op.Do(ctx, c, daemon.ServerInvite, identity.Nothing{}); err != nil {
			return err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	name := daemon.Callable(self)
	program, err := mcpProgram(k, self, st.Data)
	if err != nil {
		return err
	}
	out := upOut{Status: st}
	if invite.Invite != "" {
		if out.Join, err = kit.JoinLine(ctx, c, &st, invite.Invite); err != nil {
			return err
		}
	}
	return k.Show(out, func(w io.Writer) {
		kit.Paint(w, kit.Green, "tandem is running")
		fmt.Fprintf(w, "\nPID: %d\nListen: %s\n", st.PID, describe(&st))
		notReopened(w, &st)
		alsoServed(w, &st)
		if refused != nil { // the server runs; what its policy keeps from whoever is not present is told, and is no failed start
			fmt.Fprintf(w, "Panel: %s\nRefused for now: %s\n", st.Panel, kit.VisibleLine(refused.Error()))
		} else {
			fmt.Fprintf(w, "Panel: %s/signin?code=%s (works once, for ten minutes)\n", st.Panel, link.Code)
			if st.Elsewhere != "" {
				fmt.Fprintf(w, "  or, from another machine: %s/signin?code=%s\n", st.Elsewhere, link.Code)
			}
		}
		if out.Join != "" {
			fmt.Fprintf(w, "Fingerprint: %s\nOn another machine (works once, for a day or until the next start, by any name or address of this "+
				"one):\n  %s\n", st.Key, out.Join)
			if invite.Ends {
				fmt.Fprintf(w, "A crash closes this address; so that it stays open: %s settings keep\n", name)
			}
		}
		fmt.Fprintf(w, "MCP: {\"mcpServers\":{\"tandem\":%s}}\n", program)
		fmt.Fprintln(w, "Next:")
		if !st.PIN {
			fmt.Fprintf(w, "  %s pin set                 until then nobody can decide asks\n", name)
		} else {
			fmt.Fprintf(w, "  %s approvals               what waits for your answer\n", name)
		}
		if !st.PIN {
			fmt.Fprintf(w, "  %s run \"say hello\"         a first turn with the built-in model\n", name)
		}
		fmt.Fprintf(w, "  %s audit log               what happened so far\n", name)
	})
}

// mcpProgram is how a program starts tandem for its tools: on this data folder, also where the command line named it.
func mcpProgram(k *kit.Kit, self, data string) ([]byte, error) {
	s, err := k.Settings()
	if err != nil {
		return nil, err
	}
	args := []string{"mcp", "--only", "bridge,space"}
	if s.Source("data") == "flag" {
		args = append(args, "--data", data)
	}
	return json.Marshal(struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}{self, args})
}

// alsoServed tells of repositories that another server of this machine has.
func alsoServed(w io.Writer, st *wire.Status) {
	for _, s := range st.Shared {
		fmt.Fprintf(w, "Served twice: %s, also by the server with PID %d, data in %s (tandem doctor)\n", s.Path, s.PID, s.Data)
	}
}

// upOut is the server that was started, and how the first machine joins it.
type upOut struct {
	wire.Status
	Join string `json:"join,omitempty"`
}
