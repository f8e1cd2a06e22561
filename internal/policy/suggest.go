package policy

import (
	"path"
	"regexp"
	"strings"
)

var (
	plainWord   = regexp.MustCompile(`^[A-Za-z0-9._/+-]+$`)
	plainVerb   = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	plainHost   = regexp.MustCompile(`^([a-z0-9_-]+\.)*[a-z0-9_-]+$|^[0-9a-f:.]+$`)
	plainTool   = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
	plainFolder = regexp.MustCompile(`^[^;()*?\[\]{}\x00-\x1f]+$`)
)

// Suggest is the tool pattern that a call and those like it fit: the beginnings of its commands, the folders of its files, its
// hosts. It is "" when it is not known what the call touches, and where the other side chose a name that would be read as a
// pattern: a tool or a host called * is no word to build a rule from.
func Suggest(tool string, f *Facts) string {
	if f == nil || !plainTool.MatchString(tool) || f.Opaque && len(f.Within) == 0 {
		return ""
	}
	var parts []string
	seen := map[string]bool{}
	add := func(fact, value string) {
		if s := fact + ": " + value; !seen[s] {
			seen[s] = true
			parts = append(parts, s)
		}
	}
	switch {
	case f.Opaque: // a line that cannot be read, in a box: what can be said of those like it is where they stay
		for _, w := range f.Within {
			if !plainFolder.MatchString(w) || !cleanPath(w) {
				return ""
			}
			add("path", strings.TrimSuffix(w, "/")+"/**")
		}
	case len(f.Commands) > 0:
		for _, words := range f.Commands {
			if !plainWord.MatchString(words[0]) {
				return ""
			}
			begin := words[0]
			if len(words) > 1 && plainVerb.MatchString(words[1]) {
				begin += " " + words[1]
			}
			add("command", begin)
		}
	case len(f.Hosts) > 0:
		for _, h := range f.Hosts {
			if h = strings.ToLower(h); !plainHost.MatchString(h) {
				return ""
			}
			add("host", h)
		}
	case len(f.Paths) > 0:
		for _, p := range f.Paths {
			dir := path.Dir(p)
			if !plainFolder.MatchString(dir) || !cleanPath(dir) {
				return ""
			}
			add("path", strings.TrimSuffix(dir, "/")+"/**")
		}
	}
	return checked(tool, parts)
}

// SuggestIn is Suggest for calls that stay in the folder of this one: "" when the call touches no file, or one outside.
func SuggestIn(tool string, f *Facts) string {
	s := Suggest(tool, f)
	if s == "" || len(f.Paths) == 0 {
		return ""
	}
	if len(f.Commands) == 0 || f.Opaque {
		return s // it names the folders already
	}
	dir := f.Paths[0]
	if !plainFolder.MatchString(dir) || !cleanPath(dir) {
		return ""
	}
	_, args, _ := strings.Cut(strings.TrimSuffix(s, ")"), "(")
	s = checked(tool, []string{args, "path: " + dir, "path: " + strings.TrimSuffix(dir, "/") + "/**"})
	if !ToolCovers(s, tool, f) {
		return ""
	}
	return s
}

func checked(tool string, parts []string) string {
	s := tool
	if len(parts) > 0 {
		s += "(" + strings.Join(parts, "; ") + ")"
	}
	if _, err := parseTool(s); err != nil {
		return ""
	}
	return s
}

// ToolCovers says whether everything that a call touches is within a tool pattern.
func ToolCovers(pattern, tool string, f *Facts) bool {
	t, err := parseTool(pattern)
	return err == nil && globWord(t.name, toolPath(tool)) && t.surely(f, false)
}
