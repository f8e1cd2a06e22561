// What goes to which stream, with colours, widths and pagers by the rules of jj 0.45.1.

package jj

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"tandem/internal/jj/config"
	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
	"tandem/internal/repo/text"
)

// IO is what a command line runs in.
type IO struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Env    []string
	Dir    string

	// Store is the repository in Dir when the caller has it open already, and with
	// it all that was read before. It stays the caller's. It may be nil.
	Store *gitstore.Store
	// Attributes are recorded in every operation beside jj's own.
	Attributes map[string]string
	// Admit is asked before a workspace's files become those of a commit; an
	// error leaves them, and the repository, as they are. It may be nil.
	Admit func(ctx context.Context, s repo.Store, workspace string, from repo.MergedTree, to *repo.Commit) error
	// Wrote is told of what a snapshot found changed. It may be nil.
	Wrote func(ctx context.Context, s repo.Store, workspace string, from, to repo.MergedTree) error
}

// admit asks before files change.
func (s *IO) admit(ctx context.Context, store repo.Store, workspace string, from repo.MergedTree, to *repo.Commit) error {
	if s.Admit == nil {
		return nil
	}
	if err := s.Admit(ctx, store, workspace, from, to); err != nil {
		return userf("%s", err)
	}
	return nil
}

func (s *IO) getenv(key string) string {
	v, _ := s.lookup(key)
	return v
}

func (s *IO) lookup(key string) (string, bool) {
	for i := len(s.Env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(s.Env[i], key+"="); ok {
			return v, true
		}
	}
	return "", false
}

// ui prints for people. Everything goes through labelled text, so that
// colours are one decision in one place.
type ui struct {
	io      *IO
	out     io.Writer
	colours *text.Colours
	colour  bool
	quiet   bool
	debug   bool
	since   time.Time
	pager   *pager
	conf    *config.Stack
	in      *bufio.Reader // of answers, once one was asked for
	buf     *bufio.Writer // of long output that goes to no terminal
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// configure reads the settings that decide how to print.
func (u *ui) configure(conf *config.Stack) error {
	u.conf = conf
	mode, _, err := conf.String("ui.color")
	if err != nil {
		return err
	}
	debug := false
	switch mode {
	case "always":
		u.colour = true
	case "debug":
		u.colour, debug = true, true
	case "never":
		u.colour = false
	case "auto":
		u.colour = isTerminal(u.io.Stdout)
	default:
		return conf.Mistyped("ui.color", fmt.Errorf("unknown variant `%s`, expected one of `always`, `never`, `debug`, `auto`", mode))
	}
	switch when, _, err := conf.String("ui.paginate"); {
	case err != nil:
		return err
	case when != "" && when != "never" && when != "auto":
		return conf.Mistyped("ui.paginate", fmt.Errorf("unknown variant `%s`, expected `never` or `auto`", when))
	}
	if u.quiet, err = conf.Bool("ui.quiet"); err != nil {
		return err
	}
	if _, err := conf.Cmd("ui", "pager"); err != nil {
		return err
	}
	u.colours = nil
	if u.colour {
		if u.colours, err = palette(conf, debug); err != nil {
			return err
		}
	}
	return nil
}

func palette(conf *config.Stack, debug bool) (*text.Colours, error) {
	base, err := config.Colours()
	if err != nil {
		return nil, err
	}
	merged := &config.Stack{Layers: append([]config.Layer{base}, conf.Layers...)}
	table := merged.Table("colors")
	if table == nil {
		return text.NewColours(nil, debug), nil
	}
	var rules []text.Rule
	for _, key := range table.Keys {
		style, err := readStyle(table.M[key])
		if err != nil {
			return nil, merged.Mistyped("colors."+config.FormatKey(key), err)
		}
		rules = append(rules, text.Rule{Labels: strings.Fields(key), Style: style})
	}
	return text.NewColours(rules, debug), nil
}

func readStyle(v *config.Value) (text.Style, error) {
	var s text.Style
	switch x := v.V.(type) {
	case string:
		fg, err := text.ParseColour(x)
		s.FG = fg
		return s, err
	case *config.Table:
		for _, k := range x.Keys {
			switch val := x.M[k].V.(type) {
			case string:
				c, err := text.ParseColour(val)
				if err != nil {
					return s, err
				}
				if k == "fg" {
					s.FG = c
				} else if k == "bg" {
					s.BG = c
				}
			case bool:
				sw := text.Off
				if val {
					sw = text.On
				}
				for name, p := range map[string]*text.Switch{"bold": &s.Bold, "dim": &s.Dim, "italic": &s.Italic, "underline": &s.Underline,
					"crossed-out": &s.Crossed, "reverse": &s.Reverse} {
					if name == k {
						*p = sw
					}
				}
			}
		}
		return s, nil
	}
	return s, fmt.Errorf("invalid type: %s, expected a color name or a table of styles", v.Kind())
}

// newText is an empty text for output.
func (u *ui) newText() *text.Text { return &text.Text{Colour: u.colour} }

// print writes text to standard output.
func (u *ui) print(t *text.Text) error { return u.colours.WriteTo(u.out, t) }

// printf writes plain text to standard output.
func (u *ui) printf(format string, args ...any) {
	fmt.Fprintf(u.out, format, args...)
}

// status writes a line about what was done, unless quiet.
func (u *ui) status(t *text.Text) {
	if !u.quiet {
		u.flush() // so that both streams keep their order where they are one
		u.colours.WriteTo(u.io.Stderr, t)
	}
}

func (u *ui) statusf(format string, args ...any) {
	if !u.quiet {
		u.flush()
		fmt.Fprintf(u.io.Stderr, format, args...)
	}
}

// note writes a labelled line with a heading to standard error.
func (u *ui) note(label, heading, message string) {
	u.flush()
	t := u.newText()
	t.Push(label)
	t.Label("heading", heading)
	t.Str(message)
	t.Str("\n")
	t.Pop()
	u.colours.WriteTo(u.io.Stderr, t)
}

func (u *ui) warnf(format string, args ...any) {
	u.note("warning", "Warning: ", fmt.Sprintf(format, args...))
}

func (u *ui) hintf(format string, args ...any) {
	if !u.quiet {
		u.note("hint", "Hint: ", fmt.Sprintf(format, args...))
	}
}

// fail prints an error and returns the exit code.
func (u *ui) fail(err error) int {
	if isBrokenPipe(err) {
		return 3
	}
	e := asCommand(err)
	switch e.kind {
	case clapErr:
		fmt.Fprint(u.io.Stderr, e.msg)
		u.causes(e.cause)
		u.hints(e.hints)
		return 2
	case cliErr:
		u.note("error", "Error: ", e.msg)
		u.causes(e.cause)
		u.hints(e.hints)
		return 2
	case configErr:
		u.note("error", "Config error: ", e.msg)
		u.causes(e.cause)
		u.hints(e.hints)
		t := u.newText()
		t.Label("hint", "For help, see https://docs.jj-vcs.dev/latest/config/ or use `jj help -k config`.\n")
		u.colours.WriteTo(u.io.Stderr, t)
		return 1
	case internalErr:
		u.note("error", "Internal error: ", e.msg)
		u.causes(e.cause)
		u.hints(e.hints)
		return 255
	}
	u.note("error", "Error: ", e.msg)
	u.causes(e.cause)
	u.hints(e.hints)
	return 1
}

func (u *ui) causes(err error) {
	if err == nil {
		return
	}
	t := u.newText()
	t.Push("error_source")
	next := func(err error) error { return osCause(errors.Unwrap(err)) }
	if err = osCause(err); errors.Unwrap(err) == nil {
		t.Label("heading", "Caused by: ")
		t.Str(err.Error() + "\n")
	} else {
		t.Label("heading", "Caused by:")
		t.Pop()
		t.Str("\n")
		t.Push("error_source")
		for i := 1; err != nil; i, err = i+1, next(err) {
			t.Label("heading", strconv.Itoa(i)+": ")
			t.Str(err.Error() + "\n")
		}
	}
	t.Pop()
	u.colours.WriteTo(u.io.Stderr, t)
}

func (u *ui) hints(hs []hint) {
	for _, h := range hs {
		t := u.newText()
		t.Push("hint")
		t.Label("heading", "Hint: ")
		if h.rich != nil {
			t.Append(h.rich)
			if !bytes.HasSuffix(h.rich.Bytes(), []byte("\n")) {
				t.Str("\n")
			}
		} else {
			t.Str(h.plain + "\n")
		}
		t.Pop()
		u.colours.WriteTo(u.io.Stderr, t)
	}
}

// width is how many columns lines may take.
func (u *ui) width() int {
	if c, err := strconv.Atoi(u.io.getenv("COLUMNS")); err == nil && c > 0 {
		return c
	}
	if f, ok := u.io.Stdout.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	return 80
}
