package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/tool"
)

//go:embed bash.md
var bashDoc string

type bash struct{}

type bashArgs struct {
	Command     string `json:"command" jsonschema:"the shell line to run"`
	Description string `json:"description,omitempty" jsonschema:"what it does, in a few words"`
	Timeout     int    `json:"timeout,omitempty" jsonschema:"seconds until it is ended, 120 when left out, 600 at most"`
	Path        string `json:"path,omitempty" jsonschema:"the folder to run in; the working folder when left out"`
	Network     bool   `json:"network,omitempty" jsonschema:"the command needs the network, which a person has to grant"`
}

const (
	defaultTimeout = 120 * time.Second
	maxTimeout     = 600 * time.Second
	maxOutput      = 30 << 10
)

func (bash) Spec() tool.Spec {
	return tool.Spec{Name: "bash", Doc: bashDoc, Schema: schemaOf[bashArgs](), Right: "tool.execute", Changes: true}
}

func (bash) Plan(env *tool.Env, raw json.RawMessage) (*tool.Plan, error) {
	var a bashArgs
	if err := tool.Decode("bash", raw, &a); err != nil {
		return nil, err
	}
	if strings.TrimSpace(a.Command) == "" {
		return nil, fault.New(fault.Invalid, "bash", "command is empty")
	}
	timeout := time.Duration(a.Timeout) * time.Second
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	timeout = min(timeout, maxTimeout)
	p, err := env.Scope.Locate(env.Dir, a.Path, false)
	if err == nil {
		err = p.Hidden()
	}
	if err != nil {
		return nil, err
	}
	plan := &tool.Plan{Title: "$ " + a.Command, Resource: bashAt, Lasting: true,
		Touch: op.Touch{Tool: "bash", Paths: []string{tool.Slashed(p.Path)}, Shell: a.Command}}
	if a.Network { // a right of its own: who may run commands may not send out what they read
		plan.Title += " (with the network)"
		plan.Resource, plan.Touch.Tool, plan.Touch.Also = op.Resource{Kind: "tool", Path: "/network"}, "bash.network", []op.Resource{bashAt}
	}
	start := confined
	switch {
	case !env.Sandbox.Works() && !env.Unconfined:
		return nil, noSandbox(env.Session)
	case !env.Sandbox.Works():
		plan.Title += " (without a sandbox)"
		plan.Touch.Tool += ".unconfined" // what was answered for confined commands does not count
		start = unconfined
	}
	if plan.Touch.Caution, err = env.Sandbox.Exposed(env.Scope); err != nil {
		return nil, err
	}
	if plan.Touch.Caution != "" {
		plan.Touch.Tool += ".exposed"
	}
	if env.Sandbox.Works() {
		plan.Touch.Boxed, plan.Touch.Offline = plan.Touch.Caution == "", !a.Network
	}
	if env.Sandbox.Works() && !plan.Touch.Boxed { // every line will ask, so it may be answered for all that stay in there
		for _, f := range env.Scope.Folders() {
			plan.Touch.Within = append(plan.Touch.Within, tool.Slashed(f.Path))
		}
	}
	plan.Run = func(ctx context.Context, emit func(string)) (tool.Result, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		c, err := start(ctx, env, p.Path, a)
		if err != nil {
			return tool.Result{}, err
		}
		defer c.done()
		return c.run(ctx, emit, timeout)
	}
	return plan, nil
}

// command is one that can be started.
type command struct {
	*exec.Cmd
	// before is done when it was started and waits in its box; nil is nothing.
	before func() error
	done   func()
}

// confined is a command in its box. What is noted before it runs is noted while its box is made, where a box can wait.
func confined(ctx context.Context, env *tool.Env, dir string, a bashArgs) (c command, err error) {
	b, err := env.Sandbox.Box(env.Scope, dir, a.Command, a.Network)
	switch {
	case err != nil || env.Starting == nil:
	case !env.Sandbox.Hides():
		err = env.Starting(ctx, nil) // it cannot make a part of a folder read-only
	case env.Sandbox.Kind != tool.Bubblewrap:
		err = env.Starting(ctx, &b) // its box cannot wait
	default:
		if b.Hold, err = tool.NewHold(); err == nil {
			c.before = func() error {
				if err := env.Starting(ctx, &b); err != nil {
					return err
				}
				return b.Hold.Release()
			}
		}
	}
	if err == nil {
		c.Cmd, c.done, err = env.Sandbox.Machine.Command(ctx, b)
	}
	return c, err
}

// unconfined is a command without one, in a session for which a person allowed that.
func unconfined(ctx context.Context, env *tool.Env, dir string, a bashArgs) (c command, err error) {
	if env.Starting != nil {
		if err := env.Starting(ctx, nil); err != nil {
			return c, err
		}
	}
	c.Cmd, c.done, err = tool.Unconfined(ctx, dir, a.Command)
	return c, err
}

func noSandbox(session string) error {
	f := fault.New(fault.Conflict, "bash", "this machine has no sandbox, so commands do not run")
	if session == "" {
		return f.WithNext("install bubblewrap (apt install bubblewrap)")
	}
	return f.WithNext("a person can install bubblewrap (apt install bubblewrap), or allow it for this session: tandem grant unconfined %s",
		session)
}

var bashAt = op.Resource{Kind: "tool", Path: "/bash"}

func (c command) run(ctx context.Context, emit func(string), timeout time.Duration) (tool.Result, error) {
	out := &bounded{emit: emit}
	c.Stdout, c.Stderr = out, out
	c.WaitDelay = 2 * time.Second
	err := c.Start()
	if err == nil && c.before != nil {
		if never := c.before(); never != nil {
			return tool.Result{}, errors.Join(never, c.end())
		}
	}
	if err == nil {
		err = c.Wait()
	}
	text := out.String()
	if cause := context.Cause(ctx); cause != nil {
		if !errors.Is(cause, context.DeadlineExceeded) {
			return tool.Result{}, cause
		}
		return tool.Result{Text: text + fmt.Sprintf("\n(ended after %s)", timeout), Error: true, Meta: map[string]any{"timeout": true}}, nil
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return tool.Result{}, fault.New(fault.Unavailable, "bash", "the command could not be started: %w", err)
	}
	code := c.ProcessState.ExitCode()
	if text == "" {
		text = "(no output)"
	}
	if code != 0 {
		text += fmt.Sprintf("\n(exit code %d)", code)
	}
	return tool.Result{Text: text, Error: code != 0, Meta: map[string]any{"exit": code}}, nil
}

// end ends a command that waits in its box.
func (c command) end() error {
	err := c.Cancel()
	if ended := (*exec.ExitError)(nil); !errors.As(c.Wait(), &ended) {
		return err
	}
	return nil
}

// bounded keeps the beginning and the end of an output and passes all of it on.
type bounded struct {
	emit func(string)
	head []byte
	tail []byte
	cut  int
}

// Write takes output in.
func (b *bounded) Write(p []byte) (int, error) {
	if b.emit != nil {
		b.emit(strings.ToValidUTF8(string(p), "�"))
	}
	n := len(p)
	if room := maxOutput/2 - len(b.head); room > 0 {
		k := min(room, len(p))
		b.head = append(b.head, p[:k]...)
		p = p[k:]
	}
	b.tail = append(b.tail, p...)
	if over := len(b.tail) - maxOutput/2; over > 0 {
		b.cut += over
		b.tail = append([]byte(nil), b.tail[over:]...)
	}
	return n, nil
}

// String is what the model gets.
func (b *bounded) String() string {
	s := string(b.head)
	if b.cut > 0 {
		s += fmt.Sprintf("\n… (%d bytes left out) …\n", b.cut)
	}
	return strings.ToValidUTF8(s+string(b.tail), "�")
}
