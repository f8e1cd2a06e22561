package config

import (
	"path/filepath"
	"runtime"
	"strings"
)

// ScopeContext is what conditional tables are tested against.
type ScopeContext struct {
	Home, Repo, Workspace, Hostname string
	Command                         []string
	Env                             func(string) (string, bool)
}

// ResolveScopes replaces [[--scope]] tables by layers of their own where their
// conditions hold, and drops layers whose own condition does not.
func (s *Stack) ResolveScopes(ctx ScopeContext) {
	var out []Layer
	for _, l := range s.Layers {
		if v := l.Root.Get("--when"); v != nil && !ctx.holds(v) {
			continue
		}
		scopes := l.Root.Get("--scope")
		if scopes == nil && l.Root.Get("--when") == nil {
			out = append(out, l)
			continue
		}
		out = append(out, Layer{l.Source, l.Path, without(l.Root)})
		if scopes == nil {
			continue
		}
		list, _ := scopes.V.([]*Value)
		for _, v := range list {
			if t, ok := v.V.(*Table); ok && ctx.holds(t.Get("--when")) {
				out = append(out, Layer{l.Source, l.Path, without(t)})
			}
		}
	}
	s.Layers = out
}

// Conditional says whether parts of a layer hold only under conditions.
func (l Layer) Conditional() bool { return l.Root.Get("--when") != nil || l.Root.Get("--scope") != nil }

func without(t *Table) *Table {
	n := newTable()
	for _, k := range t.Keys {
		if k != "--when" && k != "--scope" {
			n.set(k, t.M[k])
		}
	}
	return n
}

// holds reports whether every condition given is met.
func (c ScopeContext) holds(v *Value) bool {
	if v == nil {
		return true
	}
	t, ok := v.V.(*Table)
	if !ok {
		return false
	}
	for _, k := range t.Keys {
		list, _ := t.M[k].V.([]*Value)
		met := false
		for _, item := range list {
			s, _ := item.V.(string)
			met = met || c.one(k, s)
		}
		if !met {
			return false
		}
	}
	return true
}

func (c ScopeContext) one(kind, s string) bool {
	under := func(path string) bool {
		if path == "" {
			return false
		}
		if rest, ok := strings.CutPrefix(s, "~"); ok {
			s = c.Home + rest
		}
		if r, err := filepath.EvalSymlinks(s); err == nil {
			s = r
		}
		rel, err := filepath.Rel(s, path)
		return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
	}
	switch kind {
	case "repositories":
		return under(c.Repo)
	case "workspaces":
		return under(c.Workspace)
	case "hostnames":
		return s == c.Hostname
	case "platforms":
		family, name := "unix", runtime.GOOS
		switch name {
		case "windows":
			family = name
		case "darwin":
			name = "macos"
		}
		return s == family || s == name
	case "environments":
		name, val, has := strings.Cut(s, "=")
		got, ok := c.Env(name)
		return ok && (!has || got == val)
	case "commands":
		words := strings.Fields(s)
		if len(words) > len(c.Command) {
			return false
		}
		for i, w := range words {
			if c.Command[i] != w {
				return false
			}
		}
		return true
	}
	return false
}
