package kit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"syscall"

	"tandem/internal/fault"
)

// Usage is an error of the command line itself: exit code 2.
type Usage struct{ Err error }

func (u Usage) Error() string { return u.Err.Error() }

func (u Usage) Unwrap() error { return u.Err }

// Usagef makes a usage error.
func Usagef(format string, args ...any) error { return Usage{fmt.Errorf(format, args...)} }

// Silent is a failure that was already told: only its exit code counts.
type Silent struct{ Code int }

func (s Silent) Error() string { return "" }

// Fail prints an error for people and returns the exit code.
func (k *Kit) Fail(err error) int {
	var silent Silent
	var usage Usage
	err = fullHere(err)
	switch {
	case err == nil:
		return 0
	case errors.As(err, &silent):
		return silent.Code
	case k.JSON && !errors.Is(err, context.Canceled):
		return k.failJSON(err)
	case errors.As(err, &usage):
		k.complain("error", err)
		return 2
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(k.Err, "interrupted")
		return 130
	}
	var f *fault.Error
	if !errors.As(err, &f) {
		k.complain("error", err)
		return 1
	}
	word := "error"
	if f.Kind == fault.Pending {
		word = "waiting"
	}
	k.complain(word, err)
	if f.Next != "" {
		out := k.Screen(k.Err)
		Paint(out, Cyan, "next:")
		fmt.Fprintf(out, "  %s\n", f.Next)
	}
	if f.Kind == fault.Pending {
		return 8
	}
	return 1
}

// fullHere tells what to do about a disk of this machine that is full; a server tells it of its own.
func fullHere(err error) error {
	var f *fault.Error
	if !errors.Is(err, syscall.ENOSPC) || errors.As(err, &f) {
		return err
	}
	return fault.New(fault.Unavailable, "disk", "the disk is full on this machine: %w", err).
		WithNext("free some space (df -h), then type the same line again")
}

// complain says on standard error what went wrong, or what is waited for.
func (k *Kit) complain(word string, err error) {
	out, colour := k.Screen(k.Err), Red
	if word != "error" {
		colour = Yellow
	}
	Paint(out, colour, word+":")
	fmt.Fprintf(out, " %s\n", err)
}

// failJSON is Fail for programs: one object on standard error, with the kind that HTTP has, too.
func (k *Kit) failJSON(err error) int {
	var usage Usage
	var f *fault.Error
	said, code := map[string]any{"kind": fault.Internal.String(), "message": err.Error()}, 1
	switch {
	case errors.As(err, &usage):
		said["kind"], code = fault.Invalid.String(), 2
	case errors.As(err, &f):
		said["kind"] = f.Kind.String()
		if f.Next != "" {
			said["next"] = f.Next
		}
		if len(f.Data) > 0 {
			said["data"] = f.Data
		}
		if f.Kind == fault.Pending {
			code = 8
		}
	}
	enc := json.NewEncoder(Screen(k.Err))
	enc.SetEscapeHTML(false)
	enc.Encode(map[string]any{"error": said}) //nolint:errcheck // nobody reads it then
	return code
}
