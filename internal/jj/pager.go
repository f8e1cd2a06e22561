package jj

import (
	"bufio"
	"context"
	"io"
	"os"
	"syscall"

	"tandem/internal/jj/screen"
)

// pager takes what is printed; wait returns when it was read or given up.
type pager struct {
	in   io.WriteCloser
	wait func()
}

// page sends what follows through a pager when the output is a terminal.
func (u *ui) page(ctx context.Context) {
	if u.pager == nil && u.buf == nil && !isTerminal(u.io.Stdout) {
		u.buf = bufio.NewWriterSize(u.out, 1<<16)
		u.out = u.buf
		return
	}
	if u.pager != nil || u.conf == nil || u.conf.Str("ui.paginate") == "never" || !isTerminal(u.io.Stdout) {
		return
	}
	if u.conf.Str("ui.pager") == ":builtin" {
		u.pageHere()
	} else {
		u.pageWith(ctx)
	}
	if u.pager != nil {
		u.out = u.pager.in
	}
}

// pageHere is the pager that is built in.
func (u *ui) pageHere() {
	mode := screen.OnePage
	if u.conf.Str("ui.streampager.interface") == "full-screen-clear-output" {
		mode = screen.Always
	}
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		screen.Page(r, u.io.Stdout.(*os.File), mode)
		r.CloseWithError(syscall.EPIPE) // whoever still writes is told that nobody reads
	}()
	u.pager = &pager{w, func() { <-done }}
}

// pageWith is a program as pager.
func (u *ui) pageWith(ctx context.Context) {
	c, err := u.conf.Cmd("ui", "pager")
	if err != nil || c == nil || len(c.Args) == 0 {
		return
	}
	// A pager has Ctrl-C for itself, and shows what there is until it is left.
	cmd := u.command(context.WithoutCancel(ctx), c.Args[0], c.Args[1:]...)
	cmd.Env = append([]string(nil), u.io.Env...)
	for k, v := range c.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.Stdout, cmd.Stderr = u.io.Stdout, u.io.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return
	}
	if err := cmd.Start(); err != nil {
		u.warnf("Failed to spawn pager '%s': %v", c.Args[0], osCause(err))
		u.hintf("Consider using the `:builtin` pager.")
		return
	}
	u.pager = &pager{in, func() { cmd.Wait() }}
}

// flush writes out what is held back.
func (u *ui) flush() error {
	if u.buf == nil {
		return nil
	}
	return u.buf.Flush()
}

// close waits for the pager.
func (u *ui) close() {
	u.flush()
	if u.pager != nil {
		u.pager.in.Close()
		u.pager.wait()
		u.pager, u.out = nil, u.io.Stdout
	}
}
