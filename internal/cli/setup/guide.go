package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"tandem/internal/server/wire"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/cli/server"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/session/agents"
)

// Step is one part of the beginning, and what became of it.
type Step struct {
	Name   string `json:"name"`
	State  string `json:"state"` // done, already or left
	Detail string `json:"detail"`
	Next   string `json:"next,omitempty"` // what is typed for what is left

	failed bool // it was tried
}

// guide leads through the first ten minutes. It does nothing itself: it runs the commands that people type later, and shows each.
type guide struct {
	k                *kit.Kit
	root             *cobra.Command
	folder, provider string
	unasked          bool   // --yes: nobody is asked anything
	agent            string // the first program that can be opened here
	steps            []Step
}

func newSetup(k *kit.Kit) *cobra.Command {
	g := &guide{k: k}
	cmd := &cobra.Command{
		Use: "setup", Short: "Begin: a PIN, a folder, a model, your phone, a first turn", Args: cobra.NoArgs,
		Long: "Lead through the beginning, one question at a time: start the server, set the PIN that proves that you are a person, " +
			"look which agents are installed, " +
			"let sessions work in a folder, choose a model (or the built-in echo, which needs no key), " +
			"have your phone told what waits for you if you like, and take one real turn. " +
			"Each step is a command that is shown, so that it can be typed again. " +
			"What is done already is left as it is.\n" +
			"Where nobody can be asked, --yes does what needs no person and lists the rest; " +
			"a key for --provider is then read from standard input. " +
			"The exit code is 1 when a step failed, and 8 while the PIN or the folder is left for a person.",
		Example: "  tandem setup\n  tandem setup --folder ~/code/app\n  tandem setup --yes\n  pass show anthropic | tandem setup " +
			"--yes --provider anthropic",
		RunE: func(cmd *cobra.Command, _ []string) error {
			g.root = cmd.Root()
			return g.lead(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&g.folder, "folder", "", "the folder that sessions may work in")
	cmd.Flags().StringVar(&g.provider, "provider", "", "the provider whose key is stored, such as anthropic; echo for the built-in model")
	cmd.Flags().BoolVar(&g.unasked, "yes", false, "ask nothing: do what needs no person, and list the rest")
	return cmd
}

func (g *guide) lead(ctx context.Context) error {
	if !g.unasked && !g.k.Asks() {
		return fault.New(fault.Invalid, "setup", "setup asks a few questions, and there is no terminal to ask them on").
			WithNext("run it on a terminal, or let it do what needs no person: tandem setup --yes")
	}
	for _, step := range []func(context.Context) error{g.server, g.pin, g.agents, g.model, g.work, g.phone, g.turn} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := g.k.Show(map[string]any{"steps": g.steps}, g.tell); err != nil {
		return err
	}
	return g.ended()
}

// ended is the exit code: 1 when a step failed, 8 while one waits for a person. A model or an agent program is nobody's duty.
func (g *guide) ended() error {
	code := 0
	for _, s := range g.steps {
		switch {
		case s.failed:
			return kit.Silent{Code: 1}
		case s.State == "left" && (s.Name == "pin" || s.Name == "folder"):
			code = 8
		}
	}
	if code != 0 {
		return kit.Silent{Code: code}
	}
	return nil
}

// types runs a command of ours and shows it as it would be typed.
func (g *guide) types(ctx context.Context, words ...string) error {
	fmt.Fprint(g.k.Err, "\n$ tandem")
	for _, word := range words {
		if strings.ContainsAny(word, " \"'$") {
			word = agents.ShellQuote(word)
		}
		fmt.Fprint(g.k.Err, " "+word)
	}
	fmt.Fprintln(g.k.Err)
	c, rest, err := g.root.Find(words)
	if err != nil {
		return err
	}
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	c.SetContext(ctx)
	told := g.k.JSON
	g.k.JSON = false
	out := g.k.Out
	if told { // standard output is for the one object
		g.k.Out = g.k.Err
	}
	err = c.RunE(c, c.Flags().Args())
	g.k.JSON, g.k.Out = told, out
	return err
}

// note keeps what became of a step. A refusal is no end: the step is left for later.
func (g *guide) note(name, detail, next string, err error) error {
	switch {
	case err == nil:
		g.steps = append(g.steps, Step{Name: name, State: "done", Detail: detail})
		return nil
	case errors.Is(err, context.Canceled):
		return err
	}
	g.k.Fail(err)
	g.steps = append(g.steps, Step{Name: name, State: "left", Detail: err.Error(), Next: next, failed: true})
	return nil
}

func (g *guide) already(name, detail string) {
	g.steps = append(g.steps, Step{Name: name, State: "already", Detail: detail})
}

func (g *guide) left(name, detail, next string) {
	g.steps = append(g.steps, Step{Name: name, State: "left", Detail: detail, Next: next})
}

func (g *guide) server(ctx context.Context) error {
	_, before := g.k.Running(ctx)
	if err := server.Ensure(ctx, g.k); err != nil {
		return err
	}
	st, err := g.status(ctx)
	if err != nil {
		return err
	}
	if before != nil {
		return g.note("server", "started; the panel is at "+st.Panel, "", nil)
	}
	g.already("server", "it runs; the panel is at "+st.Panel)
	return nil
}

func (g *guide) status(ctx context.Context) (wire.Status, error) {
	return op.Do(ctx, g.k, wire.ServerStatus, identity.Nothing{})
}

func (g *guide) pin(ctx context.Context) error {
	st, err := g.status(ctx)
	switch {
	case err != nil:
		return err
	case st.PIN:
		g.already("pin", "set")
		return nil
	case g.unasked:
		g.left("pin", "only a person at a terminal sets it; until then nobody can decide", "tandem pin set")
		return nil
	}
	fmt.Fprintln(g.k.Err, "Agents run under your account, so an account is not a person: what only you may decide asks for a PIN.")
	return g.note("pin", "set", "tandem pin set", g.types(ctx, "pin", "set"))
}

// agents says which programs can be opened in terminals here.
func (g *guide) agents(context.Context) error {
	var found []string
	var first string
	for _, name := range agents.Names {
		if path, err := exec.LookPath(name); err == nil {
			found = append(found, name+" ("+path+")")
			first = cmp.Or(first, name)
		}
	}
	_, noTmux := exec.LookPath("tmux")
	switch {
	case runtime.GOOS == "windows":
		g.left("agents", "agent programs are opened in tmux, which Windows does not have; sessions with models work", "")
	case len(found) == 0:
		g.left("agents", "none of "+strings.Join(agents.Names, ", ")+" is on PATH; sessions with models work without", "")
	case noTmux != nil:
		g.left("agents", "found "+strings.Join(found, ", ")+", and no tmux to open them in: install tmux", "tandem doctor")
	default:
		g.agent = first
		g.already("agents", "found "+strings.Join(found, ", "))
	}
	return nil
}

// work lets sessions work in a folder.
func (g *guide) work(ctx context.Context) error {
	have, err := op.Do(ctx, g.k, session.FolderList, session.Nothing{})
	if err != nil {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	folder := g.folder
	switch {
	case folder == "" && len(have.Folders) > 0:
		g.already("folder", have.Folders[0].Path)
		g.folder = have.Folders[0].Path
		return nil
	case folder == "" && g.unasked:
		g.left("folder", "no folder is granted, so agents reach no file", "tandem grant folder PATH")
		return nil
	case folder == "":
		offer := here
		if s, err := g.k.Settings(); err == nil && here == s.Home {
			offer = "" // all of a home is nobody's answer to a key pressed in passing
		}
		line, ok, err := g.k.Ask("Which folder may agents work in? They read there; changing asks you. (" + cmp.Or(offer,
			"a path") + "; or none): ")
		if err != nil || !ok {
			return errors.Join(err, g.stopped(ok))
		}
		if strings.EqualFold(line, "none") || line == "" && offer == "" {
			g.left("folder", "no folder is granted, so agents reach no file", "tandem grant folder PATH")
			return nil
		}
		folder = line
	}
	if folder, err = g.path(folder, here); err != nil {
		return err
	}
	if slices.ContainsFunc(have.Folders, func(f session.Folder) bool { return f.Path == folder }) {
		g.already("folder", folder)
		g.folder = folder
		return nil
	}
	err = g.types(ctx, "grant", "folder", folder)
	if g.folder = ""; err == nil {
		g.folder = folder
	}
	return g.note("folder", folder, "tandem grant folder "+folder, err)
}

// path is a folder as somebody types it: ~ is their home, and nothing is this folder.
func (g *guide) path(typed, here string) (string, error) {
	s, err := g.k.Settings()
	if err != nil {
		return "", err
	}
	if typed == "" {
		return here, nil
	}
	if rest, ok := strings.CutPrefix(typed, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		typed = s.Home + rest
	}
	return filepath.Abs(typed)
}

// stopped is Ctrl-C or Ctrl-D at a question.
func (g *guide) stopped(answered bool) error {
	if answered {
		return nil
	}
	return context.Canceled
}

// tell says at the end what is done, what is left and what to type next.
func (g *guide) tell(w io.Writer) {
	fmt.Fprintln(w)
	for _, s := range g.steps {
		kit.Paint(w, tints[s.State], fmt.Sprintf("%-8s", s.State))
		fmt.Fprintf(w, " %-9s %s\n", s.Name, kit.VisibleLine(s.Detail))
		if s.Next != "" {
			fmt.Fprintf(w, "                   %s\n", s.Next)
		}
	}
	fmt.Fprintln(w, "\nNext:\n  tandem run \"what is in this folder?\"   in a folder that you granted")
	if g.agent != "" {
		fmt.Fprintf(w, "  %-38s %s in a terminal of its own\n", "tandem session open "+g.agent+" --agent "+g.agent, g.agent)
	}
	fmt.Fprintln(w, "  tandem approvals                       what waits for your answer\n"+
		"  tandem panel open                      the same in a browser; a passkey there decides without typing the PIN\n"+
		"  tandem help                            every command")
}
