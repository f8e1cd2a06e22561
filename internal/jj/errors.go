// Errors in the words and with the exit codes of jj 0.45.1: 1 for people's mistakes, 2 for the command line, 255 for
// what is broken.

package jj

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"tandem/internal/jj/config"
	"tandem/internal/repo"
	"tandem/internal/repo/dsl"
	"tandem/internal/repo/fileset"
	"tandem/internal/repo/pattern"
	"tandem/internal/repo/revset"
	"tandem/internal/repo/text"
)

// errKind decides an error's heading and exit code.
type errKind uint8

const (
	userErr errKind = iota
	configErr
	cliErr
	internalErr
	clapErr
)

// cmdError is a failure with advice.
type cmdError struct {
	kind  errKind
	msg   string
	cause error
	hints []hint
}

type hint struct {
	plain string
	rich  *text.Text
}

func (e *cmdError) Error() string { return e.msg }

func (e *cmdError) Unwrap() error { return e.cause }

func (e *cmdError) hinted(format string, args ...any) *cmdError {
	s := format
	if len(args) > 0 {
		s = fmt.Sprintf(format, args...)
	}
	e.hints = append(e.hints, hint{plain: s})
	return e
}

func (e *cmdError) because(err error) *cmdError {
	e.cause = err
	return e
}

func userf(format string, args ...any) *cmdError {
	return &cmdError{kind: userErr, msg: fmt.Sprintf(format, args...)}
}

func clif(format string, args ...any) *cmdError {
	return &cmdError{kind: cliErr, msg: fmt.Sprintf(format, args...)}
}

func internalf(err error, format string, args ...any) *cmdError {
	return &cmdError{kind: internalErr, msg: fmt.Sprintf(format, args...), cause: err}
}

func configf(err error, format string, args ...any) *cmdError {
	return &cmdError{kind: configErr, msg: fmt.Sprintf(format, args...), cause: err}
}

// osCause words a failure of the operating system as jj does; any other stays
// as it is.
func osCause(err error) error {
	var no syscall.Errno
	switch err.(type) {
	case *fs.PathError, *os.LinkError, *os.SyscallError, *exec.Error:
	default:
		return err
	}
	if errors.Is(err, exec.ErrNotFound) {
		no = syscall.ENOENT
	} else if !errors.As(err, &no) {
		return err
	}
	s := no.Error()
	return fmt.Errorf("%s%s (os error %d)", strings.ToUpper(s[:1]), s[1:], int(no))
}

// unsupported is something this program does not know how to do by itself.
type unsupported struct{ what string }

func (e *unsupported) Error() string { return e.what + " is not supported yet" }

func missing(format string, args ...any) error { return &unsupported{fmt.Sprintf(format, args...)} }

const symbolHint = "See https://docs.jj-vcs.dev/latest/revsets/ or use `jj help -k revsets` for how to quote symbols."

// asCommand turns any error into one with a kind and hints.
func asCommand(err error) *cmdError {
	var ce *cmdError
	if errors.As(err, &ce) {
		return ce
	}
	var de *dsl.Error
	var te *config.TypeError
	var pe *fileset.PathError
	var me *repo.MissingError
	switch {
	case errors.As(err, &te):
		e := &cmdError{kind: configErr, msg: te.Error(), cause: te.Err}
		if te.Path != "" {
			e.hinted("Check the config file: %s", te.Path)
		}
		return e
	case errors.As(err, &de):
		return &cmdError{kind: userErr, msg: de.Title, cause: de}
	case errors.As(err, &pe):
		return &cmdError{kind: userErr, msg: pe.Error(), cause: pe.Source}
	case errors.As(err, &me):
		return internalf(err, "Unexpected error from backend")
	}
	if errors.As(err, new(repo.ExistsError)) {
		return internalf(err, "Unexpected error from backend")
	}
	e := &cmdError{kind: userErr, msg: err.Error(), cause: errors.Unwrap(err)}
	for _, h := range resolutionHints(err) {
		e.hinted("%s", h)
	}
	return e
}

func similarHint(names []string) string {
	if len(names) == 0 {
		return ""
	}
	for i, n := range names {
		names[i] = "`" + n + "`"
	}
	return "Did you mean " + strings.Join(names, ", ") + "?"
}

func short12(ids []repo.CommitID) string {
	var out []string
	for _, id := range ids {
		out = append(out, id.Hex()[:12])
	}
	return strings.Join(out, ", ")
}

func resolutionHints(err error) []string {
	var none *revset.NoSuchRevision
	var div *revset.Divergent
	var con *revset.Conflicted
	switch {
	case errors.As(err, &none):
		if h := similarHint(append([]string(nil), none.Candidates...)); h != "" {
			return []string{h}
		}
	case errors.As(err, &div):
		var offs []string
		for _, o := range div.Offsets {
			offs = append(offs, fmt.Sprintf("%s/%d", div.Symbol, o))
		}
		return []string{
			"Use change offset to select single revision: " + strings.Join(offs, ", "),
			fmt.Sprintf("Use `change_id(%s)` to select all revisions", div.Symbol),
			"To abandon unneeded revisions, run `jj abandon <commit_id>`",
		}
	case errors.As(err, &con):
		hints := []string{"Use commit ID to select single revision from: " + short12(con.Targets)}
		if con.Kind == "bookmark" {
			hints = append(hints,
				fmt.Sprintf("Use `bookmarks(%s)` to select all revisions", con.Symbol),
				fmt.Sprintf("To set which revision the bookmark points to, run `jj bookmark set %s -r <REVISION>`", con.Symbol))
		}
		return hints
	}
	return nil
}

// parseError wraps a mistake in one of the languages.
func parseError(language string, err error) error {
	var de *dsl.Error
	if !errors.As(err, &de) {
		return err
	}
	e := &cmdError{kind: userErr, msg: fmt.Sprintf("Failed to parse %s: %s", language, de.Title), cause: de}
	if h := languageHint(language, de); h != "" {
		e.hinted("%s", h)
	}
	var te *config.TypeError
	if errors.As(de, &te) && te.Path != "" {
		e.hinted("Check the config file: %s", te.Path)
	}
	return e
}

func languageHint(language string, de *dsl.Error) string {
	root := de
	if language != "fileset" {
		root = de.Root()
	}
	switch root.Kind {
	case dsl.Syntax:
		switch language {
		case "revset":
			return "See https://docs.jj-vcs.dev/latest/revsets/ or use `jj help -k revsets` for revsets syntax and how to quote symbols."
		case "fileset":
			return "See https://docs.jj-vcs.dev/latest/filesets/ or use `jj help -k filesets` for filesets syntax and how to match file paths."
		}
	case dsl.NotPrefix, dsl.NotPostfix, dsl.NotInfix:
		return fmt.Sprintf("Did you mean `%s` for %s?", root.SimilarOp, root.OpMeaning)
	case dsl.NoSuchFunction, dsl.NoSuchKeyword, dsl.NoSuchMethod:
		return similarHint(append([]string(nil), root.Candidates...))
	case dsl.Expression, dsl.InvalidArguments:
		return sourceHint(root.Source)
	}
	return ""
}

func sourceHint(err error) string {
	if err == nil {
		return ""
	}
	var de *dsl.Error
	var pe *fileset.PathError
	switch {
	case errors.As(err, &de):
		return languageHint("fileset", de)
	case errors.As(err, &pe):
		if p, err := fileset.Inside(pe.Input); err == nil {
			return fmt.Sprintf("Consider using root:%q to specify repo-relative path", string(p))
		}
	case errors.As(err, new(pattern.KindError)):
		return "Try prefixing with one of `exact:`, `glob:`, `regex:`, `substring:`, or one of these with `-i` suffix added " +
			"(e.g. `glob-i:`) for case-insensitive matching"
	case errors.As(err, new(fileset.KindError)):
		return "See https://docs.jj-vcs.dev/latest/filesets/#file-patterns or `jj help -k filesets` for valid prefixes."
	}
	if h := resolutionHints(err); len(h) > 0 {
		return h[0]
	}
	return ""
}
