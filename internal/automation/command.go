package automation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"tandem/internal/automation/run"
	"tandem/internal/automation/spec"
	"tandem/internal/automation/wire"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/tool/box"
)

// command runs a node's command in the box. The gate wrote down that it will, and writes down what became of it.
func (r *Room) command(ctx context.Context, in wire.CommandIn) (wire.CommandOut, error) {
	if c := op.CallerFrom(ctx); c.Door != op.DoorInside || c.Name != actorName(in.Name) || c.Kind != op.Service {
		return wire.CommandOut{}, fault.New(fault.Denied, string(wire.Command), "a run does this by itself, and nobody else").
			WithNext("to have it done: tandem automation run %s", in.Name)
	}
	if !r.Sandbox.Works() {
		return wire.CommandOut{}, fault.New(fault.Invalid, string(wire.Command), "this machine has no sandbox, so commands do not run").
			WithNext("install bubblewrap (apt install bubblewrap)")
	}
	var out wire.CommandOut
	ran := false
	e := session.Errand{Op: string(wire.Command), Folder: in.Folder, Line: `exec "$@"`, Network: in.Network} // words stay arguments
	aside, err := r.Errand(ctx, e, func(ctx context.Context, b box.Box) (err error) {
		b.Argv = append(append(b.Argv, "automation"), in.Argv...)
		out, err = r.start(ctx, b, time.Duration(max(1, in.Seconds))*time.Second)
		ran = err == nil
		return err
	})
	if ran && err != nil { // it acted, so that it is not simply done again
		err = fault.New(fault.Internal, string(wire.Command), "what the command left could not be looked through: %w", err)
	}
	if len(aside) > 0 {
		out.Err += "\n" + strings.Join(aside, "\n")
	}
	return out, err
}

// straight refuses folders that lead through a link: a person who switches the automation on reads names, not where they lead.
func straight(a *spec.Automation) (err error) {
	look := func(whose, folder string) {
		if real, no := filepath.EvalSymlinks(folder); err == nil && no == nil && real != filepath.Clean(folder) {
			err = fault.New(fault.Invalid, string(wire.On), "%s: %s leads through a link to %s", whose, folder, real).
				WithNext("write %s into the definition, then: tandem automation add FILE", real)
		}
	}
	for _, t := range a.Triggers {
		if t.Folder != "" {
			look("trigger "+t.ID, t.Folder)
		}
	}
	each(a, func(n *spec.Node, b *spec.Body) {
		for _, folder := range b.Folders() {
			look("node "+n.ID, folder)
		}
	})
	return err
}

// start runs a boxed command to its end, which comes after that time at the latest.
func (r *Room) start(ctx context.Context, b box.Box, longest time.Duration) (wire.CommandOut, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	cmd, done, err := r.Sandbox.Machine.Command(ctx, b)
	if err != nil {
		return wire.CommandOut{}, err
	}
	defer done()
	var out, said tail
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &said, 2*time.Second
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return wire.CommandOut{Exit: -1, Out: out.String(), Err: said.String(), Ended: true}, nil
	case ctx.Err() != nil:
		return wire.CommandOut{}, context.Cause(ctx)
	case err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay):
		return wire.CommandOut{}, fault.New(fault.Unavailable, string(wire.Command), "the command could not be started: %w", err)
	}
	return wire.CommandOut{Exit: cmd.ProcessState.ExitCode(), Out: out.String(), Err: said.String()}, nil
}

// tail keeps the end of what a program wrote, and no more than a step may give on.
type tail struct {
	kept bytes.Buffer
}

// Write takes output in.
func (t *tail) Write(p []byte) (int, error) {
	t.kept.Write(p)
	if over := t.kept.Len() - maxOutput - 1; over > 0 { // one more, so that it is known to be too much
		t.kept.Next(over)
	}
	return len(p), nil
}

func (t *tail) String() string { return strings.ToValidUTF8(t.kept.String(), "�") }

// ofCommand reads what a command gave.
func ofCommand(j *job, c wire.CommandOut) result {
	broken := func(class, format string, args ...any) result {
		return result{Event: run.Event{Kind: run.Failure, Class: class, Text: fmt.Sprintf(format, args...)}}
	}
	switch {
	case c.Ended:
		return broken("timeout", "the command was ended after %s", time.Duration(j.node.Budget.Time))
	case c.Exit != 0:
		return broken("check", "the command ended with %d: %s", c.Exit, lastLine(orElse(c.Err, c.Out)))
	}
	given, err := spoken(j.node, c.Out)
	if err != nil {
		return broken("check", "%v", err)
	}
	return result{Event: run.Event{Kind: run.Finished, Output: given}}
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	last := []rune(lines[len(lines)-1])
	return string(last[:min(len(last), 300)])
}
