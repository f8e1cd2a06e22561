package connector

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// farewell is how long a program has to end after its input was closed.
const farewell = time.Second

// lastWords is how much of a program's standard error is kept, to say why it died.
const lastWords = 2 << 10

// program is the way to a connector that is a program: JSON lines on its standard input and output, bounded like any answer.
type program struct {
	cmd  *exec.Cmd
	c    *conversation
	last tail
}

// Connect starts the program.
func (p *program) Connect(ctx context.Context) (mcp.Connection, error) {
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.cmd.Stderr = &p.last
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	t := &mcp.IOTransport{Reader: p.c.bound(io.NopCloser(out)), Writer: &input{in, p.cmd}, MaxLineLength: maxConversation}
	return t.Connect(ctx)
}

// input is the program's standard input. Closing it tells the program to end, and waits until it has.
type input struct {
	io.WriteCloser
	cmd *exec.Cmd
}

// Close ends the program: politely, then not.
func (i *input) Close() error {
	err := i.WriteCloser.Close()
	ended := make(chan error, 1)
	go func() { ended <- i.cmd.Wait() }()
	select {
	case werr := <-ended:
		return errors.Join(err, werr)
	case <-time.After(farewell):
	}
	kerr := i.cmd.Process.Kill()
	<-ended
	return errors.Join(err, kerr)
}

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - lastWords; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

// String is what was written last, in lines.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.buf), ""))
}
