package kit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"tandem/internal/fault"
)

// Terminal reports whether standard output is one.
func (k *Kit) Terminal() bool { return isTerminal(k.Out) }

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Columns is how wide a stream is: a terminal as it is now, anything else as wide as two columns of code want it.
func Columns(w io.Writer) int {
	if s, ok := w.(screen); ok {
		w = s.w
	}
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 160
}

// Meanwhile tells whoever waits at a terminal for longer than a moment what they wait for. The function that it gives ends that.
func (k *Kit) Meanwhile(what string, args ...any) func() {
	if k.JSON || !isTerminal(k.Err) {
		return func() {}
	}
	told := time.AfterFunc(moment, func() { fmt.Fprintf(k.Err, what+"\n", args...) })
	return func() { told.Stop() }
}

// moment is how long a person waits without wondering.
const moment = 1500 * time.Millisecond

// Secret asks on the terminal, without showing what is typed. Without a
// terminal there is nobody to ask. Ctrl-C is context.Canceled.
func (k *Kit) Secret(prompt string) (string, error) {
	tty, err := openTTY()
	if err != nil {
		return "", fault.New(fault.Denied, "presence", "this needs a person at a terminal, and there is none").
			WithNext("run it in a terminal, or use the panel: tandem panel open")
	}
	defer tty.Close()
	secret, err := hidden(tty, k.keys(tty), prompt)
	fmt.Fprintln(tty)
	switch {
	case errors.Is(err, context.Canceled):
		return "", err
	case err != nil:
		return "", fault.New(fault.Denied, "presence", "nothing was typed: %w", err)
	}
	return secret, nil
}

// hidden asks for a line that is not shown, not even what is typed while the question appears. The terminal hands over every key, one
// by one: so Ctrl-C ends the question at once, and what was typed ahead is left
// for the next one.
func hidden(tty *os.File, keys io.Reader, prompt string) (string, error) {
	was, err := term.MakeRaw(int(tty.Fd()))
	if err != nil {
		return "", err
	}
	defer term.Restore(int(tty.Fd()), was) //nolint:errcheck // nothing better can be done
	fmt.Fprint(tty, prompt)
	var line []byte
	for key := make([]byte, 1); ; {
		if _, err := keys.Read(key); err != nil {
			return "", err
		}
		switch key[0] {
		case '\r', '\n':
			return string(line), nil
		case 'C' & 0x1f:
			return "", context.Canceled
		case 'D' & 0x1f:
			if len(line) == 0 {
				return "", io.EOF
			}
		case 'U' & 0x1f:
			line = line[:0]
		case '\b', 0x7f:
			_, n := utf8.DecodeLastRune(line)
			line = line[:len(line)-n]
		default:
			line = append(line, key[0])
		}
	}
}

// Ask asks the person at the terminal that is standard input for a line. It is
// false when they leave without one, with Ctrl-C or Ctrl-D.
func (k *Kit) Ask(prompt string) (string, bool, error) {
	in, ok := k.In.(*os.File)
	if !ok {
		return "", false, nil
	}
	was, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return "", false, err
	}
	defer term.Restore(int(in.Fd()), was) //nolint:errcheck // nothing better can be done
	line, err := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{k.keys(in), k.Err}, prompt).ReadLine()
	switch err {
	case nil, term.ErrPasteIndicator:
		return strings.TrimSpace(line), true, nil
	}
	fmt.Fprint(k.Err, "\r\n")
	if err == io.EOF {
		return "", false, nil
	}
	return "", false, err
}

// Yes asks the person at the terminal yes or no; nothing typed is what is offered. Anything else is no answer, and is asked again:
// what was meant for another question, as a PIN, decides nothing. Leaving is no, and so are three answers that are none.
func (k *Kit) Yes(question string, offered bool) (bool, error) {
	choice := "[y/N]"
	if offered {
		choice = "[Y/n]"
	}
	prompt := question + " " + choice + ": "
	for range 3 {
		line, ok, err := k.Ask(prompt)
		prompt = "y or n: "
		if err != nil || !ok {
			return false, err
		}
		switch strings.ToLower(line) {
		case "":
			return offered, nil
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
	}
	fmt.Fprintln(k.Err, "that is neither: taken as no")
	return false, nil
}

// Asks says whether somebody sits at a terminal who can be asked.
func (k *Kit) Asks() bool { return isTerminal(k.In) && isTerminal(k.Err) }

// AskWhile lets questions on the terminal stand only as long as ctx does: when it ends, Ask and Secret end with its cause. The function
// that it gives lets them stand again.
func (k *Kit) AskWhile(ctx context.Context) func() {
	was := k.asking
	k.asking = ctx
	return func() { k.asking = was }
}

// keys are what is typed on a terminal while the question stands.
func (k *Kit) keys(tty *os.File) io.Reader {
	if k.asking == nil {
		return tty
	}
	return &typist{tty: tty, ctx: k.asking}
}

// typist reads a terminal until ctx ends.
type typist struct {
	tty *os.File
	ctx context.Context
}

func (t *typist) Read(p []byte) (int, error) {
	if err := awaitKey(t.ctx, t.tty); err != nil {
		return 0, err
	}
	return t.tty.Read(p)
}
