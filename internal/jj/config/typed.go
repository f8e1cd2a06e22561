package config

import (
	"errors"
	"fmt"
	"strings"
)

// TypeError says that a value has the wrong type or content.
type TypeError struct {
	Name string
	Path string
	Err  error
}

// Error is the sentence for people.
func (e *TypeError) Error() string { return "Invalid type or value for " + e.Name }

// Unwrap returns the reason.
func (e *TypeError) Unwrap() error { return e.Err }

// Mistyped makes the error for a value of the wrong type. The TOML library of jj reports such ones, and ends its sentences with a line.
func (s *Stack) Mistyped(name string, reason error) error {
	return s.Wrong(name, errors.New(reason.Error()+"\n"))
}

// Wrong makes the error for a value that does not fit.
func (s *Stack) Wrong(name string, reason error) error {
	path, err := ParseName(name)
	if err != nil {
		return err
	}
	e := &TypeError{Name: name, Err: reason}
	if _, l := s.GetFrom(path...); l != nil {
		e.Path = l.Path
	}
	return e
}

// describe names a value's type the way serde does.
func describe(v *Value) string {
	switch x := v.V.(type) {
	case bool:
		return fmt.Sprintf("boolean `%v`", x)
	case int64:
		return fmt.Sprintf("integer `%d`", x)
	case float64:
		return fmt.Sprintf("floating point `%v`", x)
	case string:
		return fmt.Sprintf("string %q", x)
	case []*Value:
		return "sequence"
	}
	return "map"
}

// Kind names the type of a value the way TOML does.
func (v *Value) Kind() string {
	switch v.V.(type) {
	case bool:
		return "boolean"
	case int64:
		return "integer"
	case float64:
		return "float"
	case string:
		return "string"
	case Date:
		return "datetime"
	case []*Value:
		return "array"
	}
	return "inline table"
}

func typed[T any](s *Stack, name, want string) (T, bool, error) {
	var zero T
	path, err := ParseName(name)
	if err != nil {
		return zero, false, err
	}
	v := s.Get(path...)
	if v == nil {
		return zero, false, nil
	}
	x, ok := v.V.(T)
	if !ok {
		return zero, true, s.Mistyped(name, fmt.Errorf("invalid type: %s, expected %s", describe(v), want))
	}
	return x, true, nil
}

// String returns a text; ok is false when it is not set.
func (s *Stack) String(name string) (string, bool, error) { return typed[string](s, name, "a string") }

// Bool returns a yes or no.
func (s *Stack) Bool(name string) (bool, error) {
	v, _, err := typed[bool](s, name, "a boolean")
	return v, err
}

// Signed returns a number that may be negative.
func (s *Stack) Signed(name string) (int64, bool, error) { return typed[int64](s, name, "i64") }

// Int returns a number that counts something.
func (s *Stack) Int(name string) (int64, bool, error) {
	n, ok, err := typed[int64](s, name, "usize")
	if err == nil && n < 0 {
		err = s.Mistyped(name, fmt.Errorf("invalid value: integer `%d`, expected usize", n))
	}
	return n, ok, err
}

// Str is String where absence is the empty text.
func (s *Stack) Str(name string) string {
	v, _, _ := s.String(name)
	return v
}

// Strings returns a list of texts.
func (s *Stack) Strings(path ...string) ([]string, error) {
	v := s.Get(path...)
	if v == nil {
		return nil, nil
	}
	list, ok := v.V.([]*Value)
	if !ok {
		return nil, s.Mistyped(FormatName(path), fmt.Errorf("invalid type: %s, expected a sequence", describe(v)))
	}
	var out []string
	for _, e := range list {
		str, ok := e.V.(string)
		if !ok {
			return nil, s.Mistyped(FormatName(path), fmt.Errorf("invalid type: %s, expected a string", describe(e)))
		}
		out = append(out, str)
	}
	return out, nil
}

// Table returns the keys of a merged table, in order.
func (s *Stack) Table(path ...string) *Table {
	v := s.Get(path...)
	if v == nil {
		return nil
	}
	t, _ := v.V.(*Table)
	return t
}

// Command is a program with arguments, given as a text or a list or a table
// with the list in command and variables in env.
type Command struct {
	Args []string
	Env  map[string]string
}

// Cmd reads a command.
func (s *Stack) Cmd(path ...string) (*Command, error) {
	v := s.Get(path...)
	if v == nil {
		return nil, nil
	}
	bad := s.Mistyped(FormatName(path), fmt.Errorf("data did not match any variant of untagged enum CommandNameAndArgs"))
	switch x := v.V.(type) {
	case string:
		return &Command{Args: Words(x)}, nil
	case []*Value:
		args, err := s.Strings(path...)
		if err != nil || len(args) == 0 {
			return nil, bad
		}
		return &Command{Args: args}, nil
	case *Table:
		c := &Command{Env: map[string]string{}}
		cmd := x.Get("command")
		if cmd == nil {
			return nil, bad
		}
		list, ok := cmd.V.([]*Value)
		if !ok {
			return nil, bad
		}
		for _, e := range list {
			str, _ := e.V.(string)
			c.Args = append(c.Args, str)
		}
		if env := x.Get("env"); env != nil {
			if t, ok := env.V.(*Table); ok {
				for k, e := range t.M {
					c.Env[k], _ = e.V.(string)
				}
			}
		}
		return c, nil
	}
	return nil, bad
}

// Words splits a command line with shell-like quotes.
func Words(s string) []string {
	var out []string
	var b strings.Builder
	var quote byte
	open := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == '"' && c == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
			b.WriteByte(s[i])
		case quote != 0:
			b.WriteByte(c)
		case c == '\'' || c == '"':
			quote, open = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if open || b.Len() > 0 {
				out = append(out, b.String())
			}
			b.Reset()
			open = false
		default:
			b.WriteByte(c)
		}
	}
	if open || b.Len() > 0 {
		out = append(out, b.String())
	}
	return out
}
