package boxed

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/source/decode"
	"tandem/internal/tool/box"
)

// Bounds of one document.
const (
	// MaxInput is how long it may be.
	MaxInput  = 64 << 20
	maxName   = 4096
	maxAnswer = 8 * maxText // text as JSON
	patience  = 30 * time.Second
)

// plainFormats are read by readers of a few lines, which keep nothing: one process reads many.
var plainFormats = []string{"markdown", "code", "text", "csv", "json"}

// Reader reads documents in boxes of a machine. It is not for several goroutines.
type Reader struct {
	Machine *box.Machine

	cmd  *exec.Cmd
	done func()
	in   io.WriteCloser
	out  *bufio.Reader
	end  context.CancelFunc
}

// Refused says why a document has no text, in words for the person who brought it.
func Refused(err error) (reason string, ok bool) {
	var r *decode.Refused
	if errors.As(err, &r) {
		return r.Reason, true
	}
	return "", false
}

// Read is the text of a document, by the name that says its format. What cannot be read is Refused; any other error is the machine's.
func (r *Reader) Read(ctx context.Context, name string, data []byte) (*decode.Document, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(data) > MaxInput {
		return nil, &decode.Refused{Reason: "it is larger than 64 MB"}
	}
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	if !slices.Contains(plainFormats, decode.Format(name, data)) {
		r.Close()
		defer r.Close()
	}
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	type result struct {
		text []byte
		err  error
	}
	answered := make(chan result, 1)
	go func() {
		err := send(r.in, []byte(name[:min(len(name), maxName)]))
		if err == nil {
			err = send(r.in, data)
		}
		var text []byte
		if err == nil {
			text, err = frame(r.out, maxAnswer)
		}
		answered <- result{text, err}
	}()
	late := time.NewTimer(patience)
	defer late.Stop()
	var got result
	select {
	case got = <-answered:
	case <-late.C:
		r.end()
		<-answered
		r.Close()
		return nil, &decode.Refused{Reason: "reading it takes longer than " + patience.String()}
	case <-ctx.Done():
		r.end()
		<-answered
		r.Close()
		return nil, ctx.Err()
	}
	if got.err != nil {
		r.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &decode.Refused{Reason: "the program that read it ended: it wants more memory than is allowed, or is made to do harm"}
	}
	var a answer
	if err := json.Unmarshal(got.text, &a); err != nil || a.Document == nil && a.Refused == "" {
		r.Close()
		return nil, &decode.Refused{Reason: "the program that read it gave no answer that can be read"}
	}
	if a.Refused != "" {
		return nil, &decode.Refused{Reason: a.Refused}
	}
	return a.Document, nil
}

// Text is a document as one text, each part below its place, read in a process of its own.
func Text(ctx context.Context, m *box.Machine, name string, data []byte) (string, error) {
	r := &Reader{Machine: m}
	defer r.Close()
	d, err := r.Read(ctx, name, data)
	if why, ok := Refused(err); ok {
		return "", fault.New(fault.Invalid, "read", "the document cannot be read: %s", why)
	}
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range d.Parts {
		if p.Place != "" {
			b.WriteString("[" + p.Place + "]\n")
		}
		b.WriteString(p.Text + "\n")
	}
	for _, l := range d.Left {
		b.WriteString("(left out: " + l + ")\n")
	}
	return b.String(), nil
}

// Works says whether documents can be read on this machine.
func (r *Reader) Works() error {
	if r.Machine.Works() {
		return nil
	}
	return fault.New(fault.Conflict, "sandbox", "this machine has no sandbox, and documents are read in nothing else").
		WithNext("install bubblewrap (apt install bubblewrap)")
}

// start has a process ready. It may outlive the call.
func (r *Reader) start(ctx context.Context) (err error) {
	if r.cmd != nil {
		return nil
	}
	if err := r.Works(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	cmd, done, err := r.Machine.Command(ctx, box.Box{Argv: []string{self, word}, Dir: "/", Env: []string{"LANG=C.UTF-8", "GOTRACEBACK=none"},
		Mounts: box.Read(self)})
	if err != nil {
		end()
		return err
	}
	in, err := cmd.StdinPipe()
	var out io.ReadCloser
	if err == nil {
		out, err = cmd.StdoutPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		end()
		done()
		return fault.New(fault.Unavailable, "sandbox", "the program that reads documents could not be started: %w", err)
	}
	r.cmd, r.done, r.in, r.out, r.end = cmd, done, in, bufio.NewReader(out), end
	return nil
}

// Close ends the process, if there is one. The next document starts another.
func (r *Reader) Close() {
	if r.cmd == nil {
		return
	}
	r.in.Close() //nolint:errcheck // it is ended in any case
	r.end()
	r.cmd.Wait() //nolint:errcheck // how it ended is known by its answers
	r.done()
	r.cmd = nil
}
