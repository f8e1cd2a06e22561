package spec

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Programs that take code as an argument, and the options behind which it stands. Shells and some others also take it behind several
// letters in one, such as -ec.
var (
	shells    = []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "busybox", "su", "script", "flock", "watch"}
	languages = []string{"python", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "Rscript", "pwsh", "powershell",
		"osascript"}
	written = []string{"awk", "gawk", "mawk", "nawk", "sed", "jq", "eval", "ssh"} // the code is an argument like others
	behind  = []string{"--command", "--eval", "--print", "eval"}
)

// Spliced says why a command is refused that has a {{name}} within code: the value has to arrive as data, or whoever chooses it chooses
// what the command does, after a person looked at it. "" is a command that is right.
func (c *Command) Spliced() string {
	if len(c.Run) == 0 {
		return ""
	}
	if holeForm.MatchString(c.Run[0]) {
		return "command.run begins with {{…}}: the program is written out, so that a person sees what runs"
	}
	takes := "" // the program that reads the arguments from here on
	for i, arg := range c.Run {
		name := strings.TrimRight(path.Base(arg), "0123456789.")
		if slices.Contains(shells, name) || slices.Contains(languages, name) || slices.Contains(written, name) {
			takes = name
			continue
		}
		if takes == "" || !holeForm.MatchString(arg) {
			continue
		}
		hole := holeForm.FindString(arg)
		if slices.Contains(written, takes) || code(c.Run[i-1]) || glued(arg) {
			return fmt.Sprintf("%s stands in code that %s runs: whoever chooses its value would choose what is done. "+
				"Give it as an argument of its own, which "+
				`the code knows as "$1": run = ["sh", "-c", "echo hello \"$1\"", "sh", "%s"]`, hole, takes, hole)
		}
	}
	return ""
}

// spliced are all commands of a definition that have a {{name}} within code.
func (a *Automation) spliced() (all Problems) {
	for i := range a.Nodes {
		n := &a.Nodes[i]
		body := &n.Body
		if n.Map != nil {
			body = &n.Map.Body
		}
		if body.Command == nil {
			continue
		}
		if why := body.Command.Spliced(); why != "" {
			all = append(all, Problem{"node " + n.ID, why})
		}
	}
	return all
}

// code says whether what follows an option is code: -c, -e, -E, -r, -p and such letters in one, as -ec; or the word for it.
func code(option string) bool {
	if slices.Contains(behind, option) {
		return true
	}
	letters, ok := strings.CutPrefix(option, "-")
	return ok && len(letters) > 0 && letters[0] != '-' && strings.ContainsAny(letters[len(letters)-1:], "ceErpnC")
}

// glued says whether an argument is an option with its code in one: -c'…', --eval=….
func glued(arg string) bool {
	if name, _, ok := strings.Cut(arg, "="); ok && slices.Contains(behind, name) {
		return true
	}
	return len(arg) > 2 && arg[0] == '-' && strings.ContainsAny(arg[1:2], "ceErp")
}
