// Package cli is the command line: it turns words into operations and prints
// what came back. The binary answers to the name it was called by.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"tandem/internal/cli/approval"
	"tandem/internal/cli/artifact"
	"tandem/internal/cli/audit"
	"tandem/internal/cli/automation"
	"tandem/internal/cli/board"
	"tandem/internal/cli/connector"
	"tandem/internal/cli/contextrun"
	"tandem/internal/cli/forge"
	"tandem/internal/cli/identity"
	"tandem/internal/cli/inbox"
	"tandem/internal/cli/job"
	"tandem/internal/cli/kit"
	"tandem/internal/cli/knowledge"
	"tandem/internal/cli/mcp"
	"tandem/internal/cli/memory"
	"tandem/internal/cli/pack"
	"tandem/internal/cli/policy"
	"tandem/internal/cli/queue"
	"tandem/internal/cli/repo"
	"tandem/internal/cli/resource"
	"tandem/internal/cli/secret"
	"tandem/internal/cli/server"
	"tandem/internal/cli/session"
	"tandem/internal/cli/setup"
	"tandem/internal/cli/share"
	sources "tandem/internal/cli/source"
	"tandem/internal/cli/space"
	"tandem/internal/cli/team"
	"tandem/internal/jj"
	"tandem/internal/source/boxed"
	"tandem/internal/tool/confine"
)

// version is set by the linker in releases.
var version = ""

// Version is what this program calls itself.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				return "0.2.0+" + s.Value[:12]
			}
		}
	}
	return "0.2.0"
}

// Main runs one command line and returns its exit code. args[0] is the name
// that the program was called by.
func Main(args []string, env []string, in io.Reader, out, errw io.Writer) int {
	if confine.Called(args) {
		return confine.Main(args, errw)
	}
	if boxed.Called(args) {
		return boxed.Main(context.Background(), in, out)
	}
	if server.TrialCalled(args) {
		return server.Trial(context.Background(), in, out)
	}
	ctx, stop := context.Background(), func() {}
	if len(args) < 2 || args[1] != "serve" { // serve has its own way with signals
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt)
		context.AfterFunc(ctx, stop) // who presses Ctrl-C again does not want to wait
	}
	defer stop()
	if programName(args) == "jj" {
		dir, err := os.Getwd()
		if err != nil {
			dir = "."
		}
		return engine(ctx, repo.Line{Args: args[1:], Dir: dir, Env: env, In: in, Out: out, Err: errw})
	}
	k := &kit.Kit{In: in, Out: out, Err: errw, Env: env, Version: Version(), Flags: map[string]string{}}
	root := newRoot(k)
	rest, says, code := formerly(programName(args), words(args))
	if says != "" {
		fmt.Fprintln(errw, says)
		return code
	}
	if completed(root, rest, env, out) {
		return 0
	}
	if line, ok := jjWords(root, rest); ok {
		if err := mistyped(root, env, rest); err != nil {
			return k.Fail(err)
		}
		code := repo.Run(ctx, k, engine, line)
		if code == 2 && rest[0] != "jj" { // jj does not know the word, or not so
			fmt.Fprintln(errw, "Hint: this was read as a command of jj's; tandem's own are listed by: tandem help")
		}
		return code
	}
	root.SetArgs(rest)
	return k.Fail(root.ExecuteContext(ctx))
}

func programName(args []string) string { return strings.TrimSuffix(filepath.Base(args[0]), ".exe") }

// engine runs jj's own command line. The process ends with it, so memory is
// given back rarely, up to a bound. In a workspace that is settled already.
func engine(ctx context.Context, l repo.Line) int {
	s := jj.IO{Stdin: l.In, Stdout: l.Out, Stderr: l.Err, Env: l.Env, Dir: l.Dir, Attributes: l.Attributes, Admit: l.Admit, Wrote: l.Wrote}
	if l.Copy != nil {
		s.Store = l.Copy.Store
	} else {
		debug.SetGCPercent(200)
		debug.SetMemoryLimit(512 << 20)
	}
	return jj.Main(ctx, l.Args, s)
}

// jjEntry lists jj among the commands; Main hands its words over before they
// are read here.
func jjEntry(k *kit.Kit) []*cobra.Command {
	return []*cobra.Command{{
		Use:   "jj <command> …",
		Short: "jj's own command line, run natively; every word that is not listed here is jj's too",
		Example: "  tandem log          # the same as tandem jj log\n" +
			"  tandem jj status    # the working copy: tandem status is the server, tandem st is jj's",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if code := repo.Run(cmd.Context(), k, engine, args); code != 0 {
				return kit.Silent{Code: code}
			}
			return nil
		},
	}}
}

// jjWords is the command line for jj: what is after "tandem jj", or all of it
// when its command is none of tandem's own.
func jjWords(root *cobra.Command, args []string) ([]string, bool) {
	word := repo.Subcommand(args)
	switch {
	case len(args) > 0 && args[0] == "jj":
		return args[1:], true
	case word == "help" && len(args) > 1 && args[0] == "help" && args[1] != "jj":
		_, ok := jjWords(root, args[1:2])
		return args, ok || args[1] == "-k" || args[1] == "--keyword"
	case word == "" || word == "help" || strings.HasPrefix(word, "__"):
		return nil, false
	case strings.HasPrefix(args[0], "-") && root.PersistentFlags().Lookup(strings.TrimLeft(strings.SplitN(args[0], "=", 2)[0], "-")) != nil:
		return nil, false // an option of tandem's own comes first
	}
	for _, c := range root.Commands() {
		if c.Name() == word || c.HasAlias(word) {
			return nil, false
		}
	}
	return args, word != "completion"
}

// words is the command line without the program's name. Called as intandem the
// program answers to that program's commands.
func words(args []string) []string {
	name, rest := programName(args), args[1:]
	if name != "intandem" || len(rest) > 0 && rest[0] == "serve" { // it starts the daemon under its own name
		return rest
	}
	if len(rest) == 0 || rest[0] == "help" || strings.HasPrefix(rest[0], "-") {
		return append([]string{"space"}, rest...)
	}
	if rest[0] == "channel" { // what its .mcp.json starts
		return append([]string{"mcp", "--only", "intandem"}, rest[1:]...)
	}
	return append([]string{"space"}, rest...)
}

// groups are the commands of every noun, a line each.
var groups = []func(*kit.Kit) []*cobra.Command{
	approval.Commands,
	audit.Commands,
	artifact.Commands,
	automation.Commands,
	pack.Commands,
	forge.Commands,
	board.Commands,
	connector.Commands,
	contextrun.Commands,
	identity.Commands,
	inbox.Commands,
	job.Commands,
	queue.Commands,
	team.Commands,
	jjEntry,
	manEntry,
	mcp.Commands,
	knowledge.Commands,
	memory.Commands,
	sources.Commands,
	policy.Commands,
	repo.Commands,
	resource.Commands,
	secret.Commands,
	server.Commands,
	session.Commands,
	setup.Commands,
	share.Commands,
	space.Commands,
}

func newRoot(k *kit.Kit) *cobra.Command {
	root := &cobra.Command{
		Use:           "tandem",
		Short:         "AI agents and people on one codebase, from many machines, under real authority",
		Version:       k.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return kit.Usagef("there is no command %q; see: tandem --help", args[0])
			}
			return nil
		},
		ValidArgsFunction: firstWords(k.Env),
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("tandem {{.Version}}\n")
	root.SetIn(k.In)
	root.SetOut(k.Out)
	root.SetErr(k.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return kit.Usagef("%w; see: %s --help", err, cmd.CommandPath())
	})
	global := root.PersistentFlags()
	global.BoolVar(&k.JSON, "json", false, "print the result as JSON")
	global.BoolVar(&k.NoColour, "no-color", false, "print without colours, as with NO_COLOR in the environment")
	global.Func("data", "the data folder (~/.tandem)", func(v string) error { k.Flags["data"] = v; return nil })
	global.Func("control-socket", "the socket of the daemon", func(v string) error { k.Flags["control_socket"] = v; return nil })
	global.StringVar(&k.Server, "server", "", "the server that the command is about, by the name of a login; own for this machine's")
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error { return aboutServer(k, root, cmd, args) }
	global.StringArrayVar(&k.EnvFiles, "env-file", nil, "also read settings from this file")
	for _, commands := range groups {
		root.AddCommand(commands(k)...)
	}
	file(root)
	offerNames(k, root)
	usageErrors(root)
	return root
}
