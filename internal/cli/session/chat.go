package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/op"
	room "tandem/internal/session"
)

func newChat(k *kit.Kit) *cobra.Command {
	var s settings
	var id string
	cmd := &cobra.Command{
		Use: "chat", Short: "Talk with an agent on the terminal", Args: cobra.NoArgs,
		Long: "Talk with an agent in this folder. What it says streams in; asks and questions are answered where they come up, " +
			"and each decision needs your PIN. " +
			"Ctrl-C stops what the agent does, Ctrl-D leaves; the session stays. Lines that begin with / are commands: /help lists them.",
		Example: "  tandem chat\n  tandem chat -m anthropic/claude-sonnet-4-5 --plan\n  tandem chat --session ses_01j…",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if id != "" {
				var err error
				if id, err = sessionID(cmd.Context(), k, id); err != nil {
					return err
				}
			}
			c := &chat{k: k, s: &s, id: id, ctx: context.WithoutCancel(cmd.Context())}
			return c.run()
		},
	}
	s.flags(cmd)
	cmd.Flags().StringVarP(&id, "session", "s", "", "go on in this session")
	return cmd
}

// chat is a conversation at the terminal.
type chat struct {
	k    *kit.Kit
	s    *settings
	id   string // "" until something was said
	ctx  context.Context
	line func() (string, error)
	stop chan os.Signal // interrupts
}

const chatHelp = `/new             begin a new session
/model NAME      use another model from now on, as provider/model
/plan, /go       look and propose only; act again
/undo, /redo     take the newest prompt back with the files it changed; bring both back
/show            the conversation so far
/sessions        newest sessions; /open ID goes on in one
/quit            leave (also Ctrl-D); the session stays
`

func (c *chat) run() error {
	c.line, c.stop = c.lines(), make(chan os.Signal, 1)
	signal.Notify(c.stop, os.Interrupt)
	defer signal.Stop(c.stop)
	if c.id != "" {
		if err := c.show(); err != nil {
			return err
		}
	}
	for {
		text, err := c.line()
		if errors.Is(err, io.EOF) {
			if c.id != "" {
				fmt.Fprintf(c.k.Err, "go on later: tandem chat --session %s\n", c.id)
			}
			return nil
		}
		if err != nil {
			return err
		}
		switch text = strings.TrimSpace(text); {
		case text == "":
		case text == "/quit" || text == "/exit":
			return nil
		case strings.HasPrefix(text, "/"):
			err = c.command(text)
		default:
			err = c.say(text)
		}
		if err != nil { // said, and the conversation goes on
			f := fault.Public(err)
			fmt.Fprintf(kit.Screen(c.k.Err), "%s\n", f.Msg)
			if f.Next != "" {
				fmt.Fprintf(c.k.Err, "next:  %s\n", f.Next)
			}
		}
	}
}

// lines reads what is typed: on a terminal with editing and history, else line by line.
func (c *chat) lines() func() (string, error) {
	in, ok := c.k.In.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		r := bufio.NewReader(c.k.In)
		return func() (string, error) {
			line, err := r.ReadString('\n')
			if err == io.EOF && line != "" {
				err = nil
			}
			return line, err
		}
	}
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{in, c.k.Err}, "> ")
	return func() (string, error) {
		was, err := term.MakeRaw(int(in.Fd()))
		if err != nil {
			return "", err
		}
		defer term.Restore(int(in.Fd()), was) //nolint:errcheck // nothing better can be done
		if w, h, err := term.GetSize(int(in.Fd())); err == nil && w > 0 {
			t.SetSize(w, h) //nolint:errcheck // only the look depends on it
		}
		line, err := t.ReadLine()
		if errors.Is(err, term.ErrPasteIndicator) {
			err = nil
		}
		return line, err
	}
}

// say gives the agent a prompt and shows what comes of it. An interrupt stops the agent, not the chat.
func (c *chat) say(text string) error {
	if c.id == "" {
		in, err := c.s.create(c.ctx, c.k)
		if err != nil {
			return err
		}
		if in.Title == "" {
			in.Title = firstLine(text)
		}
		out, err := op.Do(c.ctx, c.k, room.SessionCreate, in)
		if err != nil {
			return err
		}
		c.id = out.ID
	}
	turn, err := op.Do(c.ctx, c.k, room.SessionPrompt, room.PromptIn{ID: c.id, Text: text})
	if err != nil {
		return err
	}
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-c.stop:
			if _, err := op.Do(c.ctx, c.k, room.SessionCancel, room.TurnIn{ID: c.id, Turn: turn.ID}); err != nil {
				fmt.Fprintf(c.k.Err, "%s\n", fault.Public(err).Msg)
			}
		case <-over:
		}
	}()
	defer c.k.Leave() // a decision is made by whoever is here now, not by whoever was
	err = watch(c.ctx, c.k, c.id, turn.ID)
	if in, ok := c.k.In.(*os.File); ok && term.IsTerminal(int(in.Fd())) && fault.Is(err, fault.Pending) {
		// Left without an answer by whoever sits here: what is said next would wait behind it.
		fmt.Fprintln(c.k.Err, "stopped")
		_, err := op.Do(c.ctx, c.k, room.SessionCancel, room.TurnIn{ID: c.id, Turn: turn.ID})
		return err
	}
	return err
}

func (c *chat) command(text string) error {
	word, arg, _ := strings.Cut(text, " ")
	arg = strings.TrimSpace(arg)
	update := func(in room.UpdateIn) error {
		if c.id == "" {
			return nil // the flags of the session to come hold it
		}
		in.ID = c.id
		_, err := op.Do(c.ctx, c.k, room.SessionUpdate, in)
		return err
	}
	mode := func(m room.Mode) error {
		c.s.plan = m == room.PlanMode
		return update(room.UpdateIn{Mode: &m})
	}
	switch word {
	case "/help":
		fmt.Fprint(c.k.Err, chatHelp)
		return nil
	case "/new":
		c.id = ""
		return nil
	case "/model":
		if arg == "" {
			return fault.New(fault.Invalid, "chat", "name a model").WithNext("list them: tandem provider list")
		}
		c.s.model = arg
		return update(room.UpdateIn{Model: &arg})
	case "/plan":
		return mode(room.PlanMode)
	case "/go":
		return mode(room.Immediate)
	case "/sessions":
		return c.sessions()
	case "/open":
		c.id = arg
		return c.show()
	}
	if c.id == "" {
		switch word {
		case "/undo", "/redo", "/show":
			return fault.New(fault.Conflict, "chat", "nothing was said yet")
		}
	}
	switch word {
	case "/undo":
		out, err := op.Do(c.ctx, c.k, room.SessionRevert, room.RevertIn{ID: c.id})
		if err != nil {
			return err
		}
		fmt.Fprintf(kit.Screen(c.k.Err), "taken back%s\n", strings.Join(append([]string{""}, out.Files...), "\nrestored "))
		return nil
	case "/redo":
		_, err := op.Do(c.ctx, c.k, room.SessionUnrevert, room.IDIn{ID: c.id})
		return err
	case "/show":
		return c.show()
	}
	return fault.New(fault.Invalid, "chat", "there is no command %.40q", word).WithNext("/help lists them")
}

func (c *chat) show() error {
	out, err := op.Do(c.ctx, c.k, room.SessionMessages, room.IDIn{ID: c.id})
	if err != nil {
		c.id = ""
		return err
	}
	for _, m := range out.Messages {
		for _, b := range m.Blocks {
			fmt.Fprintf(kit.Screen(c.k.Out), "%s: %s\n", m.Role, blockText(b))
		}
	}
	return nil
}

func (c *chat) sessions() error {
	out, err := op.Do(c.ctx, c.k, room.SessionList, room.ListIn{Limit: 10})
	if err != nil {
		return err
	}
	for _, s := range out.Sessions {
		fmt.Fprintf(kit.Screen(c.k.Out), "%s  %s\n", s.ID, s.Title)
	}
	return nil
}
