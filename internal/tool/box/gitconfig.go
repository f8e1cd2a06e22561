package box

import (
	"fmt"
	"slices"
	"strings"
)

// setting is one line of git's settings: the name as git sees it, with what stands in quotes between its first and last part.
type setting struct{ section, sub, key, value string }

func (s setting) name() string {
	if s.sub == "" {
		return s.section + "." + s.key
	}
	return s.section + "." + s.sub + "." + s.key
}

// settingsOf reads a file of settings as git does. What comes after a line that git refuses is not read: git reads none of it.
func settingsOf(data []byte) (list []setting, whole bool) {
	p := &settingsReader{text: strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")}
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			p.at++
		case c == '#' || c == ';': // a comment ends with its line, whatever it ends with
			p.line()
		case c == '[':
			if !p.head() {
				return list, false
			}
		default:
			s, ok := p.one()
			if !ok {
				return list, false
			}
			list = append(list, s)
		}
	}
	return list, true
}

type settingsReader struct {
	text         string
	at           int
	section, sub string
}

// line skips to the end of the line.
func (p *settingsReader) line() {
	for p.at < len(p.text) && p.text[p.at] != '\n' {
		p.at++
	}
}

// word takes letters, digits and what else is allowed.
func (p *settingsReader) word(also string) string {
	from := p.at
	for p.at < len(p.text) && (isLetter(p.text[p.at]) || strings.IndexByte(also, p.text[p.at]) >= 0) {
		p.at++
	}
	return strings.ToLower(p.text[from:p.at])
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-'
}

func (p *settingsReader) blanks() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// take moves over one character if it is this one.
func (p *settingsReader) take(c byte) bool {
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// head reads [section] or [section "sub"].
func (p *settingsReader) head() bool {
	p.at++
	p.section, p.sub = p.word("."), ""
	if p.take(']') {
		return p.section != ""
	}
	p.blanks()
	if !p.take('"') {
		return false
	}
	var sub strings.Builder
	for p.at < len(p.text) && p.text[p.at] != '"' {
		if p.text[p.at] == '\\' {
			p.at++
		}
		if p.at >= len(p.text) || p.text[p.at] == '\n' {
			return false
		}
		sub.WriteByte(p.text[p.at])
		p.at++
	}
	p.sub = sub.String()
	return p.take('"') && p.take(']')
}

// one reads a key and its value.
func (p *settingsReader) one() (setting, bool) {
	s := setting{section: p.section, sub: p.sub, key: p.word("")}
	if s.key == "" || s.section == "" {
		return s, false
	}
	p.blanks()
	if p.at >= len(p.text) || p.take('\n') {
		return s, true
	}
	if !p.take('=') {
		return s, false
	}
	var value strings.Builder
	quoted := false
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		switch {
		case c == '\n' && quoted:
			return s, false
		case c == '\n':
			p.at--
			s.value = strings.TrimSpace(value.String())
			return s, true
		case c == '"':
			quoted = !quoted
		case (c == '#' || c == ';') && !quoted:
			p.line()
		case c == '\\':
			if p.at >= len(p.text) || !strings.ContainsRune("\nntb\\\"", rune(p.text[p.at])) {
				return s, false
			}
			if next := p.text[p.at]; next != '\n' { // a line that ends with it goes on
				value.WriteByte(map[byte]byte{'n': '\n', 't': '\t', 'b': '\b', '\\': '\\', '"': '"'}[next])
			}
			p.at++
		default:
			value.WriteByte(c)
		}
	}
	s.value = strings.TrimSpace(value.String())
	return s, !quoted
}

// quiet are the settings of a repository that name neither a program nor a place from which more is read. A * stands for a name between.
var quiet = []string{"core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates", "core.ignorecase",
	"core.precomposeunicode",
	"core.symlinks", "core.autocrlf", "core.eol", "core.safecrlf", "core.quotepath", "core.abbrev", "core.compression", "core.sparsecheckout",
	"core.sparsecheckoutcone",
	"core.untrackedcache", "core.commitgraph", "core.multipackindex", "core.longpaths", "core.protectntfs", "core.protecthfs",
	"extensions.objectformat", "extensions.refstorage", "extensions.worktreeconfig", "extensions.partialclone", "extensions.relativeworktrees",
	"user.name", "user.email", "init.defaultbranch", "remote.pushdefault",
	"remote.*.url", "remote.*.pushurl", "remote.*.fetch", "remote.*.push", "remote.*.tagopt", "remote.*.prune", "remote.*.mirror",
	"remote.*.promisor", "remote.*.partialclonefilter",
	"branch.*.remote", "branch.*.merge", "branch.*.rebase", "branch.*.pushremote", "branch.autosetuprebase", "branch.autosetupmerge",
	"submodule.*.url", "submodule.*.active", "submodule.*.branch", "submodule.*.ignore", "submodule.active", "submodule.recurse",
	"pull.rebase", "pull.ff", "push.default", "push.autosetupremote", "push.followtags", "fetch.prune", "fetch.prunetags", "merge.ff",
	"merge.conflictstyle", "merge.renames",
	"rebase.autosquash", "rebase.autostash", "rebase.updaterefs", "gc.auto", "gc.autodetach", "gc.pruneexpire", "index.version", "color.ui",
	"commit.gpgsign", "tag.gpgsign",
	"rerere.enabled", "diff.renames", "diff.algorithm", "status.showuntrackedfiles", "advice.detachedhead", "receive.denycurrentbranch"}

// harmless is a file of git's settings without those that name programs or places, and the ones that were left out, as name=value. inside
// says whether a place lies in the folder that is looked at: a submodule's settings say where its files are.
func harmless(data []byte, inside func(place string) bool) (clean []byte, left []string) {
	list, whole := settingsOf(data)
	var out strings.Builder
	for _, s := range list {
		if !isQuiet(s) && (s.name() != "core.worktree" || !inside(s.value)) {
			left = append(left, s.name()+"="+s.value)
			continue
		}
		if s.sub == "" {
			fmt.Fprintf(&out, "[%s]\n", s.section)
		} else {
			fmt.Fprintf(&out, "[%s \"%s\"]\n", s.section, escaped.Replace(s.sub))
		}
		fmt.Fprintf(&out, "\t%s = \"%s\"\n", s.key, escaped.Replace(s.value))
	}
	if !whole {
		left = append(left, "a line that cannot be read")
	}
	return []byte(out.String()), left
}

var escaped = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`)

func isQuiet(s setting) bool {
	if strings.HasPrefix(s.value, "-") || strings.Contains(s.value, "::") || strings.HasPrefix(s.value, "!") ||
		strings.ContainsAny(s.sub, "\n\t\b") {
		return false // a remote that is a program, or an option
	}
	name := s.name()
	return slices.ContainsFunc(quiet, func(q string) bool {
		before, after, has := strings.Cut(q, "*")
		if !has {
			return q == name
		}
		return s.sub != "" && before == s.section+"." && after == "."+s.key
	})
}

// settingNames are the names of settings without their values.
func settingNames(list []string) []string {
	var out []string
	for _, s := range list {
		name, _, _ := strings.Cut(s, "=")
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
