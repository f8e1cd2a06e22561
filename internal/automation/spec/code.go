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
	written = []string{"awk", "gawk", "mawk", "nawk", "sed", "jq", "eval", "ssh", "watch", "parallel", "sqlite", "gdb"} // as any argument
	behind  = []string{"--command", "--eval", "--print", "eval", "-Command"}
)

// bearing are other programs that run what stands behind some of their options, or do to files what those say. A value that begins with
// a dash would be such an option by itself.
var bearing = map[string][]string{
	"env": {"-S", "--split-string"}, "tar": {"--to-command", "--checkpoint-action", "-I", "--use-compress-program", "--rsh-command", "-F"},
	"git": {"-c", "--config-env", "--exec-path", "-O", "--open-files-in-pager", "--upload-pack", "--receive-pack", "--exec", "-x", "--extcmd"},
	"vim": {"-c", "--cmd"}, "vi": {"-c", "--cmd"}, "nvim": {"-c", "--cmd"}, "emacs": {"--eval"}, "R": {"-e"}, "expect": {"-c"},
	"npx": {"-c", "--call"}, "npm": {"-c", "--call", "--script-shell"}, "rsync": {"-e", "--rsh", "--rsync-path"}, "scp": {"-S", "-o"},
	"sftp": {"-S", "-o"}, "sort": {"--compress-program"}, "man": {"-P", "--pager", "-H"}, "psql": {"-c", "--command", "-v"},
	"mysql": {"-e", "--execute", "--pager"}, "make": {"--eval", "-f"}, "find": {"-exec", "-execdir", "-ok", "-okdir"},
	"xargs": {}, "curl": {"-K", "--config"}, "wget": {"--use-askpass", "-e", "--execute"}, "zip": {"-TT", "--unzip-command"},
	"go": {"-exec", "-toolexec", "-vettool"}, "cargo": {"--config"}, "docker": {"--entrypoint"}, "jj": {"--config"}, "less": {}, "gh": {},
	"pip": {},
}

// Spliced says why a command is refused that has a {{name}} within code: the value has to arrive as data, or whoever chooses it chooses
// what the command does, after a person looked at it. "" is a command that is right.
func (c *Command) Spliced() string {
	if len(c.Run) == 0 {
		return ""
	}
	if holeForm.MatchString(c.Run[0]) {
		return "command.run begins with {{…}}: the program is written out, so that a person sees what runs"
	}
	if at := c.program(); at < len(c.Run) && holeForm.MatchString(c.Run[at]) {
		return fmt.Sprintf("%s runs what {{…}} says: the program is written out, so that a person sees what runs", c.Run[0])
	}
	takes := ""       // the program that reads the arguments from here on
	var runs []string // it, and those before that run it
	for i, arg := range c.Run {
		name := strings.TrimRight(path.Base(arg), "0123456789.")
		_, has := bearing[name]
		if has || slices.Contains(shells, name) || slices.Contains(languages, name) || slices.Contains(written, name) {
			takes, runs = name, append(runs, name)
			continue
		}
		if takes == "" || !holeForm.MatchString(arg) {
			continue
		}
		_, other := bearing[takes]
		reads := func(program string) bool { return slices.Contains(written, program) || bears(program, c.Run[i-1], arg) }
		if !other && (code(c.Run[i-1]) || glued(arg)) || slices.ContainsFunc(runs, reads) {
			hole := holeForm.FindString(arg)
			return fmt.Sprintf("%s stands in code that %s runs: whoever chooses its value would choose what is done. "+
				"Give it as an argument of its own, which "+
				`the code knows as "$1": run = ["sh", "-c", "echo hello \"$1\"", "sh", "%s"]`, hole, takes, hole)
		}
	}
	return ""
}

// bears says whether an argument is, or is part of, what a program runs because of an option.
func bears(program, before, arg string) bool {
	return slices.ContainsFunc(bearing[program], func(option string) bool {
		long := strings.HasPrefix(option, "--")
		return before == option || strings.HasPrefix(arg, option) && (!long || strings.HasPrefix(arg, option+"="))
	})
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
