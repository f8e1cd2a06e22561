package repo

import (
	"context"
	"io"
	"strings"

	model "tandem/internal/repo"
	"tandem/internal/repo/replica"
)

// Line is one jj command line, where it runs, and what is to be known of it.
type Line struct {
	Args     []string
	Dir      string
	Env      []string
	In       io.Reader
	Out, Err io.Writer

	Copy       *replica.Replica  // of the workspace it runs in, open; nil elsewhere
	Attributes map[string]string // for every operation it makes
	// Admit is asked before files change.
	Admit func(ctx context.Context, s model.Store, workspace string, from model.MergedTree, to *model.Commit) error
	// Wrote is told what was found changed on disk.
	Wrote func(ctx context.Context, s model.Store, workspace string, from, to model.MergedTree) error
}

// Engine runs a command line and returns its exit code.
type Engine func(context.Context, Line) int

// quiet runs a command whose output nobody needs to see.
func (c *command) quiet(ctx context.Context, args ...string) {
	l := c.line(args)
	l.Dir, l.In, l.Out, l.Err = c.r.Root, strings.NewReader(""), io.Discard, io.Discard
	c.engine(ctx, l)
}

// line is a command line in this workspace.
func (c *command) line(args []string) Line {
	known, err := c.r.Known()
	env := c.k.Env
	if err == nil {
		env = signed(c.k, c.r.Store.Dir(), known.Actor, c.r.Server)
	}
	return Line{Args: args, Dir: c.dir, Env: env, In: c.k.In, Out: c.k.Out, Err: c.k.Err,
		Copy: c.r, Attributes: c.attributes(), Admit: c.admit, Wrote: c.r.Wrote}
}

// attributes say in every operation who made it, in which session, and the
// newest checkpoint of the server's journal that was seen.
func (c *command) attributes() map[string]string {
	known, err := c.r.Known()
	if err != nil || known.Actor == "" {
		return nil
	}
	out := map[string]string{"tandem.actor": known.Actor}
	if known.Checkpoint != "" {
		out["tandem.checkpoint"] = known.Checkpoint
	}
	if s := lookup(c.k.Env, "TANDEM_SESSION"); s != "" {
		out["tandem.session"] = s
	}
	return out
}
