package tmux

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// errGone says that the control client ended; the command may not have run.
var errGone = errors.New("the control client ended")

// client is one tmux process in control mode. Commands are answered in the
// order they were given, each between %begin and %end or %error.
type client struct {
	cmd *exec.Cmd
	in  io.WriteCloser

	mu      sync.Mutex
	waiting []chan reply
	dead    bool
}

type reply struct {
	text string
	err  error
}

func start(program string, args, env []string) (*client, error) {
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.WaitDelay = env, time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &client{cmd: cmd, in: in}
	ready := make(chan reply, 1)
	c.waiting = []chan reply{ready} // tmux answers the attach itself first
	go c.read(out)
	select {
	case r := <-ready:
		if r.err == nil {
			return c, nil
		}
		c.close()
		return nil, r.err
	case <-time.After(deadline):
		c.close()
		return nil, errGone
	}
}

// run sends one command line and waits for its block.
func (c *client) run(ctx context.Context, args []string) (string, error) {
	line := quote(args)
	done := make(chan reply, 1)
	c.mu.Lock()
	if c.dead {
		c.mu.Unlock()
		return "", errGone
	}
	_, err := io.WriteString(c.in, line+"\n")
	if err == nil {
		c.waiting = append(c.waiting, done)
	}
	c.mu.Unlock()
	if err != nil {
		return "", errGone
	}
	select {
	case r := <-done:
		if r.err != nil && !errors.Is(r.err, errGone) {
			return "", failure(args[0], r.text, r.err)
		}
		return r.text, r.err
	case <-ctx.Done():
		return "", failure(args[0], "", ctx.Err())
	}
}

// read follows the client's output until it ends.
func (c *client) read(out io.Reader) {
	lines := bufio.NewReader(out)
	var block []string
	inside, mark := false, ""
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		line = strings.TrimSuffix(line, "\n")
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case inside && (word == "%end" || word == "%error") && rest == mark:
			r := reply{text: strings.Join(block, "\n")}
			if word == "%error" {
				r.err = errors.New(r.text)
			}
			c.answer(r)
			inside, block = false, nil
		case inside:
			block = append(block, line)
		case word == "%begin":
			inside, mark = true, rest
		case word == "%exit":
			c.end()
			return
		}
	}
	c.end()
}

func (c *client) answer(r reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) > 0 {
		c.waiting[0] <- r
		c.waiting = c.waiting[1:]
	}
}

// end fails everybody who still waits.
func (c *client) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dead = true
	for _, w := range c.waiting {
		w <- reply{err: errGone}
	}
	c.waiting = nil
}

func (c *client) close() {
	c.in.Close()
	go c.cmd.Wait()
}

// quote writes arguments as tmux's own parser reads them back. Newlines cannot
// be part of one; content travels by buffers and files.
func quote(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		a = strings.NewReplacer("\n", " ", "\r", " ", "\x00", "").Replace(a)
		if a != "" && strings.Trim(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,@%+") == "" {
			quoted[i] = a
			continue
		}
		quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}
