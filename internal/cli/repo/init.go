package repo

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	model "tandem/internal/repo"
	"tandem/internal/repo/host"
	"tandem/internal/repo/replica"
)

type initOptions struct {
	server, tandemServer string
	workspace, token     string
	name                 string
	agentsMD             bool
}

func newInit(k *kit.Kit) *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init --tandem-server HOST:PORT [--workspace NAME] [PATH]",
		Short: "Make a workspace of a repository that a server serves",
		Long: `Make a workspace: a folder with real files and an ordinary jj repository behind
them, which follows the server's. Every jj command works in it as tandem COMMAND.
A name that is taken gets a number. The server's key is remembered the first time, as
ssh does; without a token or an invitation (HOST:PORT#INVITE) a person there is asked.`,
		Example: "  tandem init --tandem-server your-server:13013 ~/work\n  tandem init --tandem-server 127.0.0.1:13013 --workspace agent-b .",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "."
			if len(args) == 1 {
				path = args[0]
			}
			return o.run(cmd, k, path)
		},
	}
	cmd.Flags().StringVar(&o.tandemServer, "tandem-server", "",
		"the server, HOST:PORT or HOST:PORT/NAME, with #INVITE behind if you have one (TANDEM_SERVER)")
	cmd.Flags().StringVar(&o.server, "server", "", "the same as --tandem-server")
	cmd.Flags().StringVar(&o.workspace, "workspace", "", "how to call the workspace (TANDEM_WORKSPACE; default: default)")
	cmd.Flags().StringVar(&o.name, "name", "", "what people at the server will call this machine, when it joins (default: its own name)")
	cmd.Flags().StringVar(&o.token, "token", "", "a token of the server's")
	cmd.Flags().BoolVar(&o.agentsMD, "agents-md", false, "tell agents in AGENTS.md how to work here")
	return cmd
}

func (o *initOptions) run(cmd *cobra.Command, k *kit.Kit, path string) error {
	ctx := cmd.Context()
	a, err := address(k, o.tandemServer, o.server)
	if err != nil {
		return err
	}
	if a.Host == "" {
		return fault.New(fault.Invalid, "init", "which server?").
			WithNext("tandem init --tandem-server HOST:PORT [PATH]; for a repository of this machine alone: tandem jj git init [PATH]")
	}
	root, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	config, resumed := replica.Unfinished(ctx, root)
	if _, err := os.Stat(filepath.Join(root, ".jj")); err == nil && !resumed {
		return fault.New(fault.Conflict, "init", "there is a repository in %s already", root).WithNext("choose another folder")
	}
	if o.name != "" {
		if err := identity.CheckName(o.name); err != nil {
			return err
		}
	}
	m, err := enterAs(ctx, k, a, o.token, o.name)
	if err != nil {
		return err
	}
	if !resumed {
		of, err := choose(ctx, m, a)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(root, 0o755); err != nil {
			return fault.New(fault.Unavailable, "init", "cannot make the folder %s: %w", root, err)
		}
		if o.workspace == "" {
			s, err := k.Settings()
			if err != nil {
				return err
			}
			o.workspace = s.Get("workspace")
		}
		config = replica.Config{Server: a.Host, Repo: of.Name, ID: of.ID}
		claimed, err := op.Do(ctx, m, host.WorkspaceClaim, host.ClaimIn{Repo: config.Ref(), Name: o.workspace})
		if err != nil {
			return err
		}
		config.First = claimed.Name
	}
	show := newBar(k)
	r, err := replica.Create(ctx, root, config, m, identityOf(k, a.Host), show.step)
	show.end()
	if fault.Is(err, fault.Unavailable) {
		return fault.New(fault.Unavailable, "init", "%w", err).WithNext("run the same again: what has arrived is kept, and it goes on from there")
	}
	if err != nil {
		return err
	}
	defer r.Close()
	if err := configure(k, r.Store.Dir()); err != nil {
		return err
	}
	if o.agentsMD {
		if err := writeAgentsNote(root); err != nil {
			return err
		}
	}
	fmt.Fprintf(k.Err, "Initialized tandem workspace '%s' at %s (server: %s)\n", config.First, root, a.Host)
	commands, err := r.Commands()
	if len(commands) > 0 {
		fmt.Fprintf(k.Err, "It begins with files that command agents and tools, as the server's own folder has them; "+
			"others' changes to them will be asked for:\n")
		for _, p := range commands {
			fmt.Fprintf(k.Err, "  %s\n", p)
		}
	}
	if err != nil {
		return err
	}
	return k.Show(initOut{config.First, root, a.Host, config.Repo, commands}, func(io.Writer) {})
}

// initOut is the workspace that was made.
type initOut struct {
	Workspace string       `json:"workspace"`
	Path      string       `json:"path"`
	Server    string       `json:"server"`
	Repo      string       `json:"repo"`
	Commands  []model.Path `json:"commands,omitempty"` // files that command agents and tools
}

const agentsNote = `
## Version control: tandem

This folder is a tandem workspace (jj over the network). Use tandem instead of git:

- ` + "`tandem log`" + ` shows everybody's commits; look before you start.
- ` + "`tandem new -m \"description\"`" + ` begins a new change; what you did before it is committed.
- ` + "`tandem diff -r @-`" + ` shows what you changed.
- ` + "`tandem file show -r <rev> <path>`" + ` reads anybody's file.
- ` + "`tandem bookmark create <name> -r @-`" + ` marks something for review.

Do not run git here.
`

// writeAgentsNote tells agents how to work in this folder, once, in AGENTS.md
// and in a CLAUDE.md that is there.
func writeAgentsNote(root string) error {
	for _, name := range []string{"AGENTS.md", "CLAUDE.md"} {
		path := filepath.Join(root, name)
		old, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) && name == "CLAUDE.md" {
			continue
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if strings.Contains(string(old), "tandem workspace") {
			continue
		}
		if err := os.WriteFile(path, append(old, strings.TrimPrefix(agentsNote, map[bool]string{true: "\n"}[len(old) == 0])...),
			0o644); err != nil {
			return err
		}
	}
	return nil
}
