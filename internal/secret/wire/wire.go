// Package wire is what the secret operations take and answer, with their
// handles. It holds no service: doors and commands import it.
package wire

import (
	"regexp"
	"strings"
	"tandem/internal/fault"
	"tandem/internal/op"
	"time"
)

// The operations of sealed values.
const (
	Set    = op.Def[SetIn, Info]("secret.set")
	List   = op.Def[struct{}, ListOut]("secret.list")
	Delete = op.Def[NameIn, DeleteOut]("secret.delete")
	Unmask = op.Def[NameIn, UnmaskOut]("secret.unmask")
	Rotate = op.Def[struct{}, RotateOut]("secret.rotate")
)

// How long a value is.
const (
	MinValue = 8
	MaxValue = 64 << 10
)

// SetIn stores a value.
type SetIn struct {
	Name  string `json:"name" jsonschema:"what it is called, e.g. provider/openai"`
	Value string `json:"value" jsonschema:"the secret itself; it is never shown again but to a person present"`
	All   bool   `json:"all,omitempty" jsonschema:"keep it out of everybody's record, not only of the caller's; needs a person who is present"`
}

// Check refuses a bad name or value before anybody is asked about it.
func (in SetIn) Check() error {
	if err := CheckName(in.Name); err != nil {
		return err
	}
	return CheckValue(in.Value)
}

// NameIn names a secret.
type NameIn struct {
	Name string `json:"name" jsonschema:"what it is called"`
}

// Check refuses what is no name.
func (in NameIn) Check() error { return CheckName(in.Name) }

// ListOut are the secrets' names.
type ListOut struct {
	Secrets []Info `json:"secrets"`
	Keeper  string `json:"keeper" jsonschema:"where the master key is: keyring or file"`
}

// DeleteOut says what is gone.
type DeleteOut struct {
	Name string `json:"name"`
}

// UnmaskOut is a secret in the clear.
type UnmaskOut struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// RotateOut counts what was sealed anew.
type RotateOut struct {
	Sealed int    `json:"sealed"`
	Keeper string `json:"keeper"`
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$`)

// CheckName refuses what is no name of a secret.
func CheckName(name string) error {
	if len(name) > 128 || !nameForm.MatchString(name) {
		return fault.New(fault.Invalid, "secret", "a secret's name has letters, digits, dots, dashes, underscores and slashes, 128 at most").
			WithNext("for example: provider/openai")
	}
	return nil
}

// CheckValue refuses what is too short to be one, or too long.
func CheckValue(value string) error {
	switch n := len(strings.TrimSpace(value)); {
	case n < MinValue:
		return fault.New(fault.Invalid, "secret.set",
			"a secret has at least %d characters: a shorter one is guessed, and could not be kept out of logs", MinValue)
	case len(value) > MaxValue:
		return fault.New(fault.Invalid, "secret.set", "a secret has at most %d bytes", MaxValue)
	}
	return nil
}

// Info is what may be known of a secret.
type Info struct {
	Name    string    `json:"name"`
	Version int64     `json:"version"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	By      string    `json:"by"` // who set it last
	// Struck says whose record the value is kept out of.
	Struck string `json:"struck_from" jsonschema:"whose record it is kept out of: all (a person who was present set it), own (of whoever set it or is lent it) or none (it stood in the journal already)"`
}
