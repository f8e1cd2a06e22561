package tool

import (
	"slices"

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

// Outfit is what the innermost folder with one has.
func (s *Scope) Outfit() Outfit {
	for _, f := range s.folders {
		if !f.Outfit.Empty() {
			return f.Outfit
		}
	}
	return Outfit{}
}

// Worn is the scope with the places that its outfit shows, to be read: what is hidden in a granted folder is hidden in those, too. A place
// that was exchanged by a link since it was given is another one, and not shown.
func (s *Scope) Worn() *Scope {
	o := s.Outfit()
	out := &Scope{folders: s.Folders()}
	if len(s.folders) == 0 {
		return out
	}
	for _, p := range append(slices.Clone(o.Path), o.See...) {
		if resolve(p) == p && !slices.ContainsFunc(s.folders, func(f Folder) bool { return box.Below(f.Path, p) }) {
			out.folders = append(out.folders, Folder{Path: p, ReadOnly: true, sight: s.folders[0].sight})
		}
	}
	innermostFirst(out.folders)
	return out
}

// Mounts show the folders of a scope, outer ones first, so that inner ones lie on top.
func (s *Scope) Mounts() []box.Mount {
	var out []box.Mount
	for i := len(s.folders) - 1; i >= 0; i-- {
		out = append(out, box.Mount{From: s.folders[i].Path, Write: !s.folders[i].ReadOnly})
	}
	return out
}
