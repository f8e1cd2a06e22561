package tool

import (
	"slices"
	"strings"

	"tandem/internal/tool/box"
)

// Outfit is what a person gives the commands of one granted folder beside what was found on the machine.
type Outfit struct {
	Path []string `json:"path,omitempty" jsonschema:"folders of programs that commands find before all others, absolute, shown read-only"`
	See  []string `json:"see,omitempty" jsonschema:"folders and files that commands see read-only, absolute"`
	Env  []string `json:"env,omitempty" jsonschema:"variables of commands, each as NAME=value; no place for secrets"`
}

// Empty says that nothing was given.
func (o Outfit) Empty() bool { return len(o.Path)+len(o.See)+len(o.Env) == 0 }

// outfit is what the innermost folder with one has.
func (s *Scope) outfit() Outfit {
	for _, f := range s.folders {
		if !f.Outfit.Empty() {
			return f.Outfit
		}
	}
	return Outfit{}
}

// worn is the scope with the places that its outfit shows, to be read: what is hidden in a granted folder is hidden in those, too. A place
// that was exchanged by a link since it was given is another one, and not shown.
func (s *Scope) worn() *Scope {
	o := s.outfit()
	out := &Scope{folders: s.Folders()}
	for _, p := range append(slices.Clone(o.Path), o.See...) {
		if resolve(p) == p && !slices.ContainsFunc(s.folders, func(f Folder) bool { return box.Below(f.Path, p) }) {
			out.folders = append(out.folders, Folder{Path: p, ReadOnly: true, sight: s.folders[0].sight})
		}
	}
	innermostFirst(out.folders)
	return out
}

// dress gives a box the programs and variables of an outfit. What a person said stands over what was found.
func (o Outfit) dress(b *box.Box) {
	for i, kv := range b.Env {
		if list, ok := strings.CutPrefix(kv, "PATH="); ok && len(o.Path) > 0 {
			b.Env[i] = "PATH=" + strings.Join(append(slices.Clone(o.Path), list), ":")
		}
	}
	for _, kv := range o.Env {
		name, _, _ := strings.Cut(kv, "=")
		b.Env = append(slices.DeleteFunc(b.Env, func(had string) bool { return strings.HasPrefix(had, name+"=") }), kv)
	}
}
