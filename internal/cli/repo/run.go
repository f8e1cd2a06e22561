package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/repo/replica"
)

// Run runs a jj command line. In a workspace of a served repository the copy is
// brought up to date before it and what it made is sent after it; anywhere else
// it is jj and nothing more.
func Run(ctx context.Context, k *kit.Kit, engine Engine, args []string) int {
	dir, err := os.Getwd()
	if err != nil {
		return k.Fail(err)
	}
	r, err := replica.Find(folderOf(args, dir))
	if err != nil {
		return k.Fail(err)
	}
	if r == nil {
		if args, err = ownUndo(ctx, args, folderOf(args, dir)); err != nil {
			return k.Fail(err)
		}
	}
	if r == nil || aside(args) {
		return engine(ctx, Line{Args: args, Dir: dir, Env: k.Env, In: k.In, Out: k.Out, Err: k.Err})
	}
	defer r.Close()
	// A command is over before its garbage is worth collecting.
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(1 << 30)
	if err := reconfigure(k, r.Store.Dir()); err != nil {
		return k.Fail(err)
	}
	c := &command{ctx: ctx, k: k, r: r, engine: engine, dir: dir}
	return c.run(ctx, args)
}

// command is one jj command in a workspace.
type command struct {
	ctx    context.Context // of the whole command, for what the engine asks back
	k      *kit.Kit
	r      *replica.Replica
	engine Engine
	dir    string
	remote *replica.Remote // once it was needed
	away   error           // why the server could not be reached
	held   error           // why files were not changed
	stale  error           // why the server's news did not come, though it was reached
}

func (c *command) run(ctx context.Context, args []string) int {
	current, err := c.r.Current(ctx)
	if err != nil {
		return c.k.Fail(err)
	}
	if !current && !alone(args) {
		// A refusal is told at the end, when it still stands: this command may be
		// the one that takes it back.
		if c.stale = c.sync(ctx); fault.Is(c.stale, fault.Internal) {
			return c.k.Fail(c.stale)
		}
	}
	if c.held != nil {
		return c.k.Fail(c.held) // somebody moved our commit, and its files may not come yet
	}
	c.baseMoved(ctx)
	if args, err = undoing(ctx, args, c.r); err != nil {
		return c.k.Fail(err)
	}
	if Subcommand(args) == "git" {
		return c.k.Fail(c.git(ctx, args))
	}
	code := c.engine(ctx, c.line(args))
	if c.held != nil {
		code = c.k.Fail(c.held)
	}
	waiting, err := c.r.Waiting(ctx)
	if err != nil {
		return c.k.Fail(err)
	}
	switch {
	case waiting > 0 && c.away == nil:
		if err := c.sync(ctx); err != nil {
			return max(code, c.k.Fail(err))
		}
	case c.stale != nil:
		fmt.Fprintf(c.k.Err, "warning: this may be old: %s\n", fault.Public(c.stale).Msg)
	}
	c.tell(ctx, args)
	c.heard()
	return code
}

// heard shows what the server has to say to this workspace. A command that failed
// leaves it to the next.
func (c *command) heard() {
	words, err := c.r.Heard()
	if err != nil {
		return // it is a hint, and what happened is in the log
	}
	for _, w := range words {
		fmt.Fprintf(c.k.Err, "Warning: %s\n", w)
	}
}

// sync brings both sides up to date. A server that cannot be reached is no
// failure: work goes on here.
func (c *command) sync(ctx context.Context) error {
	m, err := c.way(ctx)
	var sent []string
	if err == nil {
		sent, err = c.leased(ctx)
	}
	if err == nil {
		var moved bool
		moved, err = c.r.Sync(ctx, m, func() error {
			c.quiet(ctx, "debug", "snapshot")
			more, err := c.leased(ctx)
			sent = append(sent, more...)
			return err
		})
		if err == nil {
			c.went(ctx, sent)
		}
		if moved {
			c.mend(ctx)
		}
	}
	if fault.Is(err, fault.Unavailable) {
		c.away = err
		return nil
	}
	return err
}

// way is how to reach the server, found once.
func (c *command) way(ctx context.Context) (replica.Remote, error) {
	if c.remote != nil {
		return *c.remote, nil
	}
	m, err := way(ctx, c.k, c.r.Server, "")
	if err == nil {
		m.Header.Set("Tandem-Replica", c.r.Store.Dir())
		c.remote = &m
	}
	return m, err
}

// mend brings the files up to a commit that others have moved.
func (c *command) mend(ctx context.Context) {
	if stale, err := c.r.Stale(ctx); err == nil && stale {
		c.quiet(ctx, "workspace", "update-stale")
	}
}

// tell says what waits for a server that is away.
func (c *command) tell(ctx context.Context, args []string) {
	waiting, err := c.r.Waiting(ctx)
	if err != nil || waiting == 0 {
		return
	}
	word := Subcommand(args)
	if c.away == nil && word != "st" && word != "status" {
		return
	}
	to := c.k.Err
	if word == "st" || word == "status" {
		to = c.k.Out
	}
	operations := "operations wait"
	if waiting == 1 {
		operations = "operation waits"
	}
	when := "is back"
	var f *fault.Error
	if errors.As(c.away, &f) && f.Op != "workspace.forward" { // it is there, and could not
		fmt.Fprintf(c.k.Err, "warning: %s\n", f.Msg)
		when = "can take them"
	}
	fmt.Fprintf(to, "%d %s to be sent to %s: saved here, and sent when it %s\n", waiting, operations, c.r.Server, when)
}

// aside says whether a command has nothing to do with the repository's state.
func aside(args []string) bool {
	for _, a := range args {
		switch a {
		case "--help", "-h", "--version", "-V", "--ignore-working-copy":
			return true
		}
	}
	switch Subcommand(args) {
	case "", "help", "config", "util", "version", "root":
		return true
	}
	return false
}

// Subcommand is the first word that is no option of jj's.
func Subcommand(args []string) string {
	if at := wordsAt(args); len(at) > 0 {
		return args[at[0]]
	}
	return ""
}

// wordsAt says where in a command line the words are that are no global option of
// jj's nor the value of one.
func wordsAt(args []string) (at []int) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case !strings.HasPrefix(a, "-"):
			at = append(at, i)
		case slices.Contains([]string{"-R", "--repository", "--at-operation", "--at-op", "--color", "--config", "--config-file"}, a):
			i++
		}
	}
	return at
}

// folderOf is the folder a command line is about.
func folderOf(args []string, dir string) string {
	for i, a := range args {
		var v string
		switch {
		case (a == "-R" || a == "--repository") && i+1 < len(args):
			v = args[i+1]
		case strings.HasPrefix(a, "--repository="):
			v = strings.TrimPrefix(a, "--repository=")
		case strings.HasPrefix(a, "-R") && len(a) > 2:
			v = strings.TrimPrefix(a[2:], "=")
		case a == "--":
			return dir
		default:
			continue
		}
		if !filepath.IsAbs(v) {
			v = filepath.Join(dir, v)
		}
		return v
	}
	return dir
}
