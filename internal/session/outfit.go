package session

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/tool"
	"tandem/internal/tool/box"
)

const mostWorn = 50 // places and variables of one folder

// variable is a name and a value in an environment.
var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=[^\x00\n]*$`)

// outfitted checks what a person gives the commands of a folder, and makes its places real ones.
func (r *Room) outfitted(folder string, o tool.Outfit) (tool.Outfit, error) {
	if len(o.Path)+len(o.See)+len(o.Env) > mostWorn {
		return o, fault.New(fault.Invalid, "folder.grant", "a folder has at most %d places and variables", mostWorn).
			WithNext("name the folder that holds them")
	}
	for _, list := range [][]string{o.Path, o.See} {
		for i, p := range list {
			real, err := r.showable(p)
			if err != nil {
				return o, err
			}
			list[i] = real
		}
	}
	for _, p := range o.Path {
		if st, err := os.Stat(p); err != nil || !st.IsDir() || strings.ContainsRune(p, filepath.ListSeparator) {
			return o, fault.New(fault.Invalid, "folder.grant", "%s is not a folder of programs", p).
				WithNext("name the folder that holds the program")
		}
	}
	for _, kv := range o.Env {
		if err := given(folder, kv); err != nil {
			return o, err
		}
	}
	return o, nil
}

// given checks a variable.
func given(folder, kv string) error {
	name, value, _ := strings.Cut(kv, "=")
	switch {
	case !variable.MatchString(kv):
		return fault.New(fault.Invalid, "folder.grant", "%.60q is not NAME=value", kv)
	case name == "PATH":
		return fault.New(fault.Invalid, "folder.grant", "folders of programs are named one by one").
			WithNext("tandem grant folder %s --path DIR", folder)
	case name == "HOME" && !within(folder, filepath.Clean(value)):
		return fault.New(fault.Invalid, "folder.grant", "a home of commands lies in the folder itself, not at %s", value).
			WithNext("use one below %s, or none: each command has a new one", folder)
	case strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "GLIBC_"): // the sandbox is started with the same environment
		return fault.New(fault.Invalid, "folder.grant", "%s would change what starts the sandbox", name).
			WithNext("set it in the command: %s=… make test", name)
	}
	return nil
}

// showable is the real place of something that commands may see. A tool's own home is not: it holds credentials.
func (r *Room) showable(p string) (string, error) {
	bad := func(format string, args ...any) (string, error) {
		return "", fault.New(fault.Invalid, "folder.grant", format, args...).WithNext("name the part of it that is needed")
	}
	if !filepath.IsAbs(p) {
		return bad("%q is not an absolute path", p)
	}
	real, err := filepath.EvalSymlinks(filepath.Clean(p))
	if err != nil {
		return bad("there is nothing at %s", p)
	}
	holds := func(kept string) bool { return kept != "" && within(real, kept) }
	lies := func(kept string) bool { return kept != "" && within(kept, real) }
	switch {
	case holds(r.Home) || slices.ContainsFunc(r.Hidden, holds) || slices.ContainsFunc(r.Hidden, lies):
		return bad("%s holds the home folder or tandem's own state, and cannot be shown", real)
	case slices.ContainsFunc(box.Private(), holds) || slices.ContainsFunc(box.Private(), lies):
		return bad("%s is the system's own, or holds what is, and cannot be shown", real)
	case r.Home != "" && filepath.Dir(real) == r.Home && strings.HasPrefix(filepath.Base(real), "."):
		return "", fault.New(fault.Invalid, "folder.grant", "%s is a tool's own home, which may hold sign-ins", real).
			WithNext("name the part of it that is needed, e.g. %s", filepath.Join(real, "bin"))
	case tool.Sensitive(real):
		return bad("%s may hold keys or passwords and cannot be shown", real)
	}
	return real, nil
}
