package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/session/terminal"
)

func newOpen(k *kit.Kit) *cobra.Command {
	var in terminal.OpenIn
	cmd := &cobra.Command{
		Use: "open [NAME]", Short: "Open a real agent program in a terminal", Args: cobra.MaximumNArgs(1),
		Long: "Open a real, interactive Claude Code, Codex or OpenCode in a terminal of its own. Anybody with the right may send it work; " +
			"you can attach and type alongside.",
		Example: "  tandem session open builder -C ~/code/app --model opus\n  tandem session open reviewer --agent codex\n  tandem session " +
			"open nightly --as agent:builder\n  tandem session open fixer -C ~/code/app --worktree\n  tmux attach -t ccm-builder",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				in.Name = args[0]
			}
			if in.Cwd != "" || !in.Resume { // a session that goes on does so where it was
				var err error
				if in.Cwd, err = k.Folder(cmd.Context(), in.Cwd); err != nil {
					return err
				}
			}
			opened := k.Meanwhile("starting the program, which can take half a minute …")
			out, err := op.Do(cmd.Context(), k, terminal.SessionOpen, in)
			opened()
			if err != nil {
				return err
			}
			if out.State.Gone() {
				return fault.New(fault.Unavailable, "session.open", "%s is %s (%s): %s", out.Name, out.State, out.Signal, out.Detail).
					WithNext("mend what it says, then give the same command again; to give it up: tandem session close %s", out.Name)
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s is %s (%s), confined: %s (%s)\nattach: %s\n", out.Name, out.State, out.Signal, out.Confined, out.Boundary,
					out.Attach)
				if out.Checkout != "" {
					fmt.Fprintf(w, "checkout: %s\n", out.Checkout)
				}
				switch {
				case out.State == terminal.Starting:
					fmt.Fprintf(w, "what you send waits until it has started: tandem session send %s \"…\"\n", out.Name)
				case out.State.Rests():
					fmt.Fprintf(w, "give it work: tandem session send %s \"…\"\n", out.Name)
				}
				warn(k, out)
			})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&in.Cwd, "cwd", "C", "", "the working folder (this one)")
	f.StringVar(&in.As, "as", "", "the agent that it is at work for, agent:NAME: what policy says of that one holds for the session")
	f.StringVar(&in.Agent, "agent", "", "the program: claude, codex or opencode")
	f.StringVarP(&in.Model, "model", "m", "", "default, or a model of that program: opus, sonnet, haiku or a full claude-* id")
	f.StringVar(&in.Effort, "effort", "", "low, medium, high, xhigh or max")
	f.Int64Var(&in.Budget.Turns, "budget-turns", 0, "stop after so many turns")
	f.Int64Var(&in.Budget.Seconds, "budget-seconds", 0, "stop after so many seconds of work")
	f.Int64Var(&in.Budget.Tokens, "budget-tokens", 0, "stop after so many tokens")
	f.StringSliceVar(&in.Knowledge, "knowledge", nil, "the knowledge spaces that it reads, and no others")
	f.BoolVar(&in.Cite, "cite", false, "its answers cite what it read in knowledge spaces, or the turn fails")
	f.BoolVar(&in.Worktree, "worktree", false, "in a git worktree of its own, beside the repository, on the branch tandem/NAME")
	f.BoolVar(&in.Workspace, "workspace", false, "in a jj workspace of its own, beside the repository")
	f.BoolVar(&in.Resume, "resume", false, "start it again in the same conversation after its program ended")
	f.BoolVar(&in.Skip, "skip-permissions", false, "ask for no permissions, where that was granted")
	return cmd
}

func newSend(k *kit.Kit) *cobra.Command {
	var in terminal.SendIn
	var cursor int64
	var wait int
	cmd := &cobra.Command{
		Use: "send NAME [TEXT]", Short: "Send a prompt to a terminal session and wait for the turn", Args: cobra.MinimumNArgs(1),
		Long: "Send a prompt or a slash command and print what the agent said. Without TEXT, or when the turn runs long, " +
			"only what is new is fetched. - reads the text from standard input. Exit code 8 says that the turn waits for a person or is not over " +
			"yet, 1 that it failed. With --wait 0 nothing is waited for, and a turn that runs is no failure.",
		Example: "  tandem session send builder \"run the tests\"\n  tandem session send builder - <prompt.md\n  tandem session " +
			"send builder --cursor 12",
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Name, in.Text = args[0], strings.Join(args[1:], " ")
			if in.Text == "-" {
				text, err := io.ReadAll(io.LimitReader(k.In, terminal.MaxText+1))
				if err != nil {
					return err
				}
				in.Text = string(text)
			}
			if cmd.Flags().Changed("cursor") {
				in.Cursor = &cursor
			}
			if cmd.Flags().Changed("wait") {
				in.Wait = &wait
			}
			sent := k.Meanwhile("waiting for the end of the turn; Ctrl-C leaves %s at work …", in.Name)
			out, err := op.Do(cmd.Context(), k, terminal.SessionSend, in)
			sent()
			if err != nil {
				return cutOff(err, in)
			}
			err = k.Show(out, func(w io.Writer) {
				if out.Report != "" {
					fmt.Fprintln(w, out.Report)
				}
				line := fmt.Sprintf("%s (%s), cursor %d", out.Status, out.Signal, out.Cursor)
				if out.Reason != "" {
					line += ": " + out.Reason
				}
				fmt.Fprintln(k.Err, line)
			})
			if err == nil && !k.JSON && out.Status == "waiting" && out.Ask != "" {
				err = next(cmd.Context(), k, k.Err, out.Ask)
			}
			if err != nil {
				return err
			}
			if out.Status == "running" && !k.JSON {
				fmt.Fprintf(k.Err, "next: it goes on; what it says from here on: tandem session send %s --cursor %d\n", in.Name, out.Cursor)
			}
			if out.Status == "running" && in.Wait != nil && wait == 0 {
				return nil // nobody wanted to wait
			}
			return ended(out.Status)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&in.Model, "model", "m", "", "the model for this turn only")
	f.StringVar(&in.Effort, "effort", "", "the effort for this turn only")
	f.Int64Var(&cursor, "cursor", 0, "only what is new behind this place")
	f.IntVar(&wait, "wait", 0, "wait at most so many milliseconds")
	return cmd
}

// cutOff says how the turn of a prompt is read whose server was killed before it answered: the program goes on without it.
func cutOff(err error, in terminal.SendIn) error {
	var f *fault.Error
	if in.Text == "" || !errors.As(err, &f) || !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		return err
	}
	return f.WithNext("where the prompt arrived its turn goes on; what it says: tandem session send %s", in.Name)
}

// ended is a turn's end as an exit code: a script goes on only behind one that went well.
func ended(status string) error {
	switch status {
	case "done", "idle":
		return nil
	case "waiting", "running":
		return kit.Silent{Code: 8}
	}
	return kit.Silent{Code: 1}
}

func newLive(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "live", Short: "List terminal sessions and what they do", Args: cobra.NoArgs, Example: "  tandem session live",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := op.Do(cmd.Context(), k, terminal.SessionLive, terminal.LiveIn{})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				if len(out.Sessions) == 0 {
					fmt.Fprintln(w, "no terminal sessions")
					return
				}
				t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
				fmt.Fprintln(t, "NAME\tSTATE\tBY\tAGENT\tMODEL\tCONFINED\tFOLDER")
				for _, s := range out.Sessions {
					fmt.Fprintf(t, "%s\t%s\t%s\t%s %s\t%s\t%s\t%s\n", s.Name, s.State, s.Signal, s.Agent, s.Version, s.Model, s.Confined, s.Folder)
				}
				t.Flush()
				warn(k, out.Sessions...)
			})
		},
	}
}

// warn says which programs do not tell what they should, each once.
func warn(k *kit.Kit, seats ...terminal.Seat) {
	said := map[string]bool{}
	for _, s := range seats {
		for _, text := range []string{s.Check, s.Detail} {
			if strings.HasPrefix(text, "warning: ") && !said[text] && !s.State.Gone() {
				said[text] = true
				fmt.Fprintln(k.Err, text)
			}
		}
	}
}

func newInterrupt(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "interrupt NAME", Short: "Interrupt a terminal session's turn and keep the session", Args: cobra.ExactArgs(1),
		Example: "  tandem session interrupt builder",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, terminal.SessionInterrupt, terminal.NameIn{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s (%s)\n", out.Status, out.Signal) })
		},
	}
}

func newClose(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "close NAME", Short: "Close a terminal session; its conversation stays", Args: cobra.ExactArgs(1),
		Example: "  tandem session close builder",
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := op.Do(cmd.Context(), k, terminal.SessionClose, terminal.NameIn{Name: args[0]})
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) {
				fmt.Fprintf(w, "%s is closed\n", out.Name)
				if out.Checkout != "" {
					fmt.Fprintf(w, "its checkout is %s\nnext: tandem session diff %s; then tandem session keep %s or tandem session discard %s\n",
						out.Checkout, out.Name, out.Name, out.Name)
				}
			})
		},
	}
}

func newAttach(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "attach NAME", Short: "Attach to a terminal session and type alongside", Args: cobra.ExactArgs(1),
		Example: "  tandem session attach builder",
		RunE:    func(cmd *cobra.Command, args []string) error { return Attach(cmd.Context(), k, args[0]) },
	}
}

// Attach becomes the terminal of a session, which is named by its name or its id.
func Attach(ctx context.Context, k *kit.Kit, named string) error {
	s, err := k.Settings()
	if err != nil {
		return err
	}
	name, err := sessionName(ctx, k, named)
	if err != nil {
		return err
	}
	if err := terminal.CheckName(name, true); err != nil {
		return err
	}
	argv := []string{"tmux"}
	switch socket := s.Get("tmux_socket"); {
	case strings.Contains(socket, "/"):
		argv = append(argv, "-S", socket)
	case socket != "":
		argv = append(argv, "-L", socket)
	}
	return become(append(argv, "attach-session", "-t", "="+terminal.Prefix+name), os.Environ())
}

// newLaunch becomes the program of a terminal. It is what a session's pane runs: the environment comes from a file that only
// this user reads, and not from a command line.
func newLaunch(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "launch FILE", Hidden: true, Short: "Become the agent program of a terminal session", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			var l terminal.Launch
			if err := readJSON(args[0], &l); err != nil || len(l.Argv) == 0 {
				return fault.New(fault.Invalid, "launch", "%s does not say what to start: %w", args[0], err)
			}
			if len(l.Server) > 0 {
				return both(l)
			}
			return become(l.Argv, l.Env)
		},
	}
}
