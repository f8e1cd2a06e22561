// Package session holds the commands for sessions with models: run, chat, session and provider.
package session

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/op"
	room "tandem/internal/session"
	"tandem/internal/session/terminal"
)

// Commands are this package's commands.
func Commands(k *kit.Kit) []*cobra.Command {
	cmd := &cobra.Command{Use: "session", Aliases: []string{"sessions"}, Short: "Sessions: agents at work",
		Long: "A session is an agent at work: a conversation with a model, and what it did. Turns run in the server, " +
			"so they go on when this terminal is closed."}
	cmd.AddCommand(newList(k), newShow(k), newNew(k), newUpdate(k), newPrompt(k), newFollow(k), newCancel(k), newFork(k), newRevert(k),
		newUnrevert(k), newDiff(k), newKeep(k), newDiscard(k), newDelete(k), newAnswer(k),
		newOpen(k), newSend(k), newLive(k), newAttach(k), newInterrupt(k), newClose(k), newSkip(k), newCheck(k), newAside(k))
	return []*cobra.Command{cmd, newRun(k), newChat(k), newProvider(k), newBudget(k), newRelay(k), newHook(k), newLaunch(k)}
}

func newList(k *kit.Kit) *cobra.Command {
	var in room.ListIn
	var closed bool
	cmd := &cobra.Command{
		Use: "list [TEXT]", Short: "List sessions of every kind, those that need you first, or search them", Args: cobra.MaximumNArgs(1),
		Example: "  tandem session list\n  tandem session list deploy",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				in.Query = args[0]
			}
			var out struct {
				room.ListOut
				Terminals []terminal.Seat `json:"terminals"`
			}
			var err error
			if out.ListOut, err = op.Do(cmd.Context(), k, room.SessionList, in); err != nil {
				return err
			}
			seats, err := op.Do(cmd.Context(), k, terminal.SessionLive, terminal.LiveIn{Recent: 500})
			if err != nil {
				return err
			}
			out.Terminals = seats.Sessions
			var shown []listed
			hidden := 0
			for _, l := range arranged(out.Sessions, seats.Sessions) {
				if l.closed && !closed && in.Query == "" {
					hidden++
					continue
				}
				if !k.JSON {
					if err := l.fill(cmd.Context(), k); err != nil {
						return err
					}
				}
				shown = append(shown, l)
			}
			return k.Show(out, func(w io.Writer) {
				if len(shown) == 0 && hidden == 0 {
					fmt.Fprintln(w, "no sessions")
					return
				}
				showList(w, shown)
				if hidden > 0 {
					fmt.Fprintf(w, "%d closed: tandem session list --closed\n", hidden)
				}
				warn(k, out.Terminals...)
				if out.More {
					fmt.Fprintf(w, "more: tandem session list --before %s\n", out.Sessions[len(out.Sessions)-1].ID)
				}
			})
		},
	}
	cmd.Flags().BoolVar(&in.Archived, "archived", false, "the archived ones instead")
	cmd.Flags().BoolVar(&closed, "closed", false, "those with a closed program, too")
	cmd.Flags().StringVar(&in.Parent, "parent", "", "only children of this session")
	cmd.Flags().StringVar(&in.Before, "before", "", "only sessions made before this one")
	cmd.Flags().IntVar(&in.Limit, "limit", 0, "at most this many (50)")
	return cmd
}

func newShow(k *kit.Kit) *cobra.Command {
	return &cobra.Command{
		Use: "show SESSION", Short: "Show a session and its conversation", Args: cobra.ExactArgs(1),
		Example: "  tandem session show builder\n  tandem session show ses_01j…",
		RunE: func(cmd *cobra.Command, args []string) error {
			var out struct {
				Session  *room.Session   `json:"session"`
				Turns    []*room.Turn    `json:"turns"`
				Messages []*room.Message `json:"messages"`
			}
			id, err := sessionID(cmd.Context(), k, args[0])
			if err != nil {
				return err
			}
			if out.Session, err = op.Do(cmd.Context(), k, room.SessionGet, room.IDIn{ID: id}); err != nil {
				return err
			}
			said, err := op.Do(cmd.Context(), k, room.SessionMessages, room.IDIn{ID: id})
			if err != nil {
				return err
			}
			turns, err := op.Do(cmd.Context(), k, room.SessionTurns, room.TurnIn{ID: id})
			if err != nil {
				return err
			}
			out.Messages, out.Turns = said.Messages, turns.Turns
			var changed map[string]string
			if !k.JSON {
				if changed, err = diffs(cmd.Context(), k, id, out.Turns); err != nil {
					return err
				}
			}
			return k.Show(out, func(w io.Writer) {
				s := out.Session
				fmt.Fprintf(w, "%s  %s\nmodel   %s\n", s.ID, s.Title, s.Model)
				if s.Directory != "" {
					fmt.Fprintf(w, "folder  %s\n", s.Directory)
				}
				if s.Confined != "" {
					fmt.Fprintf(w, "sandbox %s\n", s.Confined)
				}
				if s.Boundary != "" {
					fmt.Fprintf(w, "open    %s\n", s.Boundary)
				}
				for _, a := range s.Aside {
					fmt.Fprintf(w, "aside   %s: %s (tandem session set-aside show %s)\n", kit.VisibleLine(a.Path), kit.VisibleLine(a.What), a.ID)
				}
				if len(out.Turns) > 0 {
					t := out.Turns[0]
					fmt.Fprintf(w, "turn    %s", t.State)
					if t.Reason != "" {
						fmt.Fprintf(w, " (%s)", t.Reason)
					}
					fmt.Fprintln(w)
				}
				talk(w, out.Messages, changed)
			})
		},
	}
}

// settings are the flags of a session's configuration.
type settings struct {
	model, directory, title string
	plan                    bool
	worktree, workspace     string
	config                  room.Config
}

func (s *settings) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&s.model, "model", "m", "", "provider/model, e.g. anthropic/claude-sonnet-4-5")
	f.StringVarP(&s.directory, "directory", "C", "", "the working folder (this one)")
	f.StringVar(&s.title, "title", "", "what the session is called")
	f.BoolVar(&s.plan, "plan", false, "look and propose, change nothing")
	f.StringSliceVar(&s.config.Tools, "tools", nil, "only these tools")
	f.StringSliceVar(&s.config.Fallback, "fallback", nil, "models to try when the first one fails")
	f.StringSliceVar(&s.config.Knowledge, "knowledge", nil, "the knowledge spaces that it reads, and no others")
	f.BoolVar(&s.config.Cite, "cite", false, "its answers cite what it read in knowledge spaces, or the turn fails")
	f.StringVar(&s.config.System, "system", "", "text to put before the conversation")
	f.StringVar(&s.config.Effort, "effort", "", "reasoning: low, medium or high")
	f.Int64Var(&s.config.Budget.Tokens, "budget-tokens", 0, "stop after so many tokens")
	f.Int64Var(&s.config.Budget.Cents, "budget-cents", 0, "stop after so many cents")
	f.Int64Var(&s.config.Budget.Turns, "budget-turns", 0, "stop after so many turns")
	f.Int64Var(&s.config.Budget.Calls, "budget-calls", 0, "stop after so many calls of tools")
	f.Int64Var(&s.config.Budget.Seconds, "budget-seconds", 0, "stop after so many seconds")
}

// onto puts what the flags say over a session's configuration, and says whether they say anything.
func (s *settings) onto(cmd *cobra.Command, c *room.Config) (changed bool) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		was := changed
		changed = true
		switch f.Name {
		case "tools":
			c.Tools = s.config.Tools
		case "knowledge":
			c.Knowledge = s.config.Knowledge
		case "cite":
			c.Cite = s.config.Cite
		case "fallback":
			c.Fallback = s.config.Fallback
		case "system":
			c.System = s.config.System
		case "effort":
			c.Effort = s.config.Effort
		case "budget-tokens":
			c.Budget.Tokens = s.config.Budget.Tokens
		case "budget-cents":
			c.Budget.Cents = s.config.Budget.Cents
		case "budget-turns":
			c.Budget.Turns = s.config.Budget.Turns
		case "budget-calls":
			c.Budget.Calls = s.config.Budget.Calls
		case "budget-seconds":
			c.Budget.Seconds = s.config.Budget.Seconds
		default:
			changed = was
		}
	})
	return changed
}

func (s *settings) create(ctx context.Context, k *kit.Kit) (room.CreateIn, error) {
	abs, err := k.Folder(ctx, s.directory)
	if err != nil {
		return room.CreateIn{}, err
	}
	far, err := k.Login(ctx)
	if err != nil {
		return room.CreateIn{}, err
	}
	if st, err := os.Stat(abs); far == nil && (err != nil || !st.IsDir()) {
		return room.CreateIn{}, fault.New(fault.Invalid, "session", "there is no folder %s", abs)
	}
	in := room.CreateIn{Title: s.title, Directory: abs, Model: s.model, Config: s.config}
	if s.plan {
		in.Mode = room.PlanMode
	}
	return in, nil
}

func newNew(k *kit.Kit) *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use: "new [TITLE]", Short: "Open a session", Args: cobra.MaximumNArgs(1),
		Example: "  tandem session new \"fix the build\" -m anthropic/claude-sonnet-4-5",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				s.title = args[0]
			}
			in, err := s.create(cmd.Context(), k)
			if err != nil {
				return err
			}
			if err := s.apart(cmd.Context(), k, &in); err != nil {
				return err
			}
			out, err := op.Do(cmd.Context(), k, room.SessionCreate, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintln(w, out.ID) })
		},
	}
	s.flags(cmd)
	s.apartFlags(cmd)
	return cmd
}

func newUpdate(k *kit.Kit) *cobra.Command {
	var s settings
	var archived bool
	cmd := &cobra.Command{
		Use: "update SESSION", Short: "Rename, archive or reconfigure a session", Args: cobra.ExactArgs(1),
		Example: "  tandem session update ses_01j… --title \"another name\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := sessionID(cmd.Context(), k, args[0])
			if err != nil {
				return err
			}
			in := room.UpdateIn{ID: id}
			changed := cmd.Flags().Changed
			if changed("title") {
				in.Title = &s.title
			}
			if changed("archived") {
				in.Archived = &archived
			}
			if changed("model") {
				in.Model = &s.model
			}
			if changed("plan") {
				mode := room.Immediate
				if s.plan {
					mode = room.PlanMode
				}
				in.Mode = &mode
			}
			if changed("directory") {
				abs, err := k.Folder(cmd.Context(), s.directory)
				if err != nil {
					return err
				}
				in.Directory = &abs
			}
			now, err := op.Do(cmd.Context(), k, room.SessionGet, room.IDIn{ID: id})
			if err != nil {
				return err
			}
			if s.onto(cmd, &now.Config) {
				in.Config = &now.Config
			}
			if in == (room.UpdateIn{ID: id}) {
				return kit.Usagef("say what to change; see: %s --help", cmd.CommandPath())
			}
			out, err := op.Do(cmd.Context(), k, room.SessionUpdate, in)
			if err != nil {
				return err
			}
			return k.Show(out, func(w io.Writer) { fmt.Fprintf(w, "%s is called %q\n", out.ID, out.Title) })
		},
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&archived, "archived", false, "put it away, or with =false take it back")
	return cmd
}
