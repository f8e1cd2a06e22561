package main

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"
)

// typed runs tandem on a terminal and types a text whenever it is asked for a
// PIN: typed 000000 approvals decide …
// Of several behind | each answers a question, and the last one all that follow.
func typed(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: typed TEXT COMMAND …")
	}
	out, err := onTerminal(ts, args[0], args[1:]...)
	ts.Stdout().Write([]byte(out))
	check(ts, neg, err)
}

// elsewhere runs tandem on a terminal, types nothing there, and answers its question in another terminal, as the owner:
// elsewhere 'session answer builder blue' run --title builder …
func elsewhere(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: elsewhere 'COMMAND …' COMMAND …")
	}
	ensurePIN(ts)
	out, err := atTerminal(ts, func(io.Writer) {
		if said, err := onTerminal(ts, ownerPIN, strings.Fields(args[0])...); err != nil {
			ts.Logf("in the other terminal: %v\n%s", err, said)
		}
	}, args[1:]...)
	ts.Stdout().Write([]byte(out))
	check(ts, neg, err)
}

var scriptVars = []string{"HOME", "PATH", "TMPDIR", "LANG", "TERM", "NO_COLOR", "WORK", "TANDEM_PORT", "TANDEM_API_TOKEN", "TANDEM_DATA",
	"TANDEM_DATABASE", "TANDEM_AS_TOKEN"}

// onTerminal runs tandem on a terminal of its own, types the secret at each
// question for a PIN, and returns what the terminal showed.
func onTerminal(ts *testscript.TestScript, secret string, args ...string) (string, error) {
	texts := strings.Split(secret, "|")
	return atTerminal(ts, func(tty io.Writer) {
		_, err := io.WriteString(tty, texts[0]+"\n")
		ts.Check(err)
		texts = texts[min(1, len(texts)-1):]
	}, args...)
}

// atTerminal runs tandem on a terminal of its own and calls asked at each question.
func atTerminal(ts *testscript.TestScript, asked func(tty io.Writer), args ...string) (string, error) {
	path, err := exec.LookPath("tandem")
	ts.Check(err)
	cmd := exec.Command(path, args...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range scriptVars {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	tty, err := pty.Start(cmd)
	ts.Check(err)
	defer tty.Close()
	chunks := make(chan []byte)
	go func() {
		defer close(chunks)
		for {
			buf := make([]byte, 4096)
			n, err := tty.Read(buf)
			if n > 0 {
				chunks <- buf[:n]
			}
			if err != nil { // the program has ended
				return
			}
		}
	}()
	var all, since bytes.Buffer
	limit := time.After(30 * time.Second)
	for {
		select {
		case chunk, open := <-chunks:
			if !open {
				return strings.ReplaceAll(all.String(), "\r\n", "\n"), cmd.Wait()
			}
			all.Write(chunk)
			since.Write(chunk)
			if asks(since.Bytes()) {
				since.Reset()
				asked(tty)
			}
		case <-limit:
			err := errors.Join(errors.New("it hangs on a terminal"), cmd.Process.Kill())
			return all.String(), err
		}
	}
}

// asks reports whether the last line shown is a question.
func asks(shown []byte) bool {
	return bytes.HasSuffix(shown[bytes.LastIndexByte(shown, '\n')+1:], []byte(": "))
}
