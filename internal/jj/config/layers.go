package config

import (
	"strings"
)

// Source says where a layer comes from; a later source wins.
type Source int

// The sources in order of precedence.
const (
	Default Source = iota
	EnvBase
	User
	Repo
	Workspace
	EnvOverrides
	CommandArg
)

// String is the word that `config list` prints.
func (s Source) String() string {
	return [...]string{"default", "env", "user", "repo", "workspace", "env", "cli"}[s]
}

// Layer is one set of values.
type Layer struct {
	Source Source
	Path   string
	Root   *Table
}

// Stack is all layers, weakest first.
type Stack struct{ Layers []Layer }

// Add inserts a layer after those of its source and weaker ones.
func (s *Stack) Add(l Layer) {
	i := len(s.Layers)
	for i > 0 && s.Layers[i-1].Source > l.Source {
		i--
	}
	s.Layers = append(s.Layers, Layer{})
	copy(s.Layers[i+1:], s.Layers[i:])
	s.Layers[i] = l
}

func find(t *Table, path []string) *Value {
	v := &Value{V: t}
	for _, k := range path {
		sub, ok := v.V.(*Table)
		if !ok {
			return nil
		}
		if v = sub.Get(k); v == nil {
			return nil
		}
	}
	return v
}

// Get returns the strongest value of a name, tables merged over all layers, or
// nil when there is none.
func (s *Stack) Get(path ...string) *Value {
	v, _ := s.GetFrom(path...)
	return v
}

// GetFrom is Get with the layer that decided.
func (s *Stack) GetFrom(path ...string) (*Value, *Layer) {
	var tables []*Table
	var from *Layer
	for i := len(s.Layers) - 1; i >= 0; i-- {
		v := find(s.Layers[i].Root, path)
		if v == nil {
			// A value where a table is expected hides what is below it.
			if blocked(s.Layers[i].Root, path) {
				break
			}
			continue
		}
		t, ok := v.V.(*Table)
		if !ok {
			if tables == nil {
				return v, &s.Layers[i]
			}
			break
		}
		if from == nil {
			from = &s.Layers[i]
		}
		tables = append(tables, t)
	}
	switch len(tables) {
	case 0:
		return nil, nil
	case 1:
		return &Value{V: tables[0]}, from
	}
	merged := newTable()
	for i := len(tables) - 1; i >= 0; i-- {
		mergeInto(merged, tables[i])
	}
	return &Value{V: merged}, from
}

func blocked(t *Table, path []string) bool {
	v := &Value{V: t}
	for _, k := range path {
		sub, ok := v.V.(*Table)
		if !ok {
			return true
		}
		if v = sub.Get(k); v == nil {
			return false
		}
	}
	return false
}

func mergeInto(dst, src *Table) {
	for _, k := range src.Keys {
		v := src.M[k]
		st, ok := v.V.(*Table)
		old := dst.M[k]
		if ok {
			n := newTable()
			if old != nil {
				if ot, is := old.V.(*Table); is {
					mergeInto(n, ot)
				}
			}
			mergeInto(n, st)
			dst.set(k, &Value{V: n})
			continue
		}
		dst.set(k, v)
	}
}

// NewTable is an empty table.
func NewTable() *Table { return newTable() }

// SetPath sets a value by its dotted name, making tables on the way.
func (t *Table) SetPath(keys []string, v *Value) {
	for _, k := range keys[:len(keys)-1] {
		next, ok := t.M[k]
		sub, isTable := (*Table)(nil), false
		if ok {
			sub, isTable = next.V.(*Table)
		}
		if !isTable {
			sub = newTable()
			t.set(k, &Value{V: sub})
		}
		t = sub
	}
	t.set(keys[len(keys)-1], v)
}

// SplitAssignment parts NAME=VALUE at the first "=" outside of quotes.
func SplitAssignment(s string) (name, value string, ok bool) {
	var quote byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '=':
			return strings.TrimSpace(s[:i]), strings.TrimSpace(s[i+1:]), true
		}
	}
	return "", "", false
}

// Look finds a value in one table. under is false when something on the way is
// a value and not a table.
func Look(t *Table, path []string) (v *Value, under bool) {
	if v = find(t, path); v != nil {
		return v, true
	}
	return nil, !blocked(t, path)
}
