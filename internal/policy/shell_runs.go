package policy

import (
	"path"
	"strings"
)

// emit notes a command, with what it runs in turn.
func (r *shellReader) emit(words []string) {
	if len(words) == 0 || r.lost {
		return
	}
	if words[0] == unknownWord {
		r.lost = true
		return
	}
	r.cmds = append(r.cmds, words)
	for _, w := range words[1:] {
		if w != unknownWord {
			r.files = append(r.files, w)
		}
	}
	r.unwrap(words)
}

// wrappers run the program that their arguments name, after options; of these letters take a value of their own.
var wrappers = map[string]string{"env": "uC", "command": "", "builtin": "", "exec": "a", "nohup": "", "setsid": "", "time": "fo",
	"nice": "n", "ionice": "cnp", "stdbuf": "ioe",
	"timeout": "sk", "sudo": "ugpChDRrtT", "doas": "uC", "xargs": "nPILdsEa", "busybox": "", "toybox": "", "watch": "n", "chrt": "",
	"flock": "wE"}

// unfollowed run others in ways that are not read.
var unfollowed = setOf([]string{"parallel", "script", "ssh", "su", "chroot", "unshare", "nsenter", "bwrap", "runuser", "setpriv", "strace",
	"gdb"})

var shells = setOf([]string{"sh", "bash", "dash", "zsh", "ksh", "ash", "fish"})

// unwrap follows programs that run others.
func (r *shellReader) unwrap(words []string) {
	if r.depth++; r.depth > maxNested {
		r.lost = true
	}
	defer func() { r.depth-- }()
	if r.lost {
		return
	}
	name := path.Base(words[0])
	valued, wraps := wrappers[name]
	switch {
	case unfollowed[name]:
		r.lost = true
	case name == "eval":
		for _, w := range words[1:] {
			r.lost = r.lost || w == unknownWord
		}
		r.inner(strings.Join(words[1:], " "))
	case shells[name]:
		r.script(words[1:])
	case name == "find" || name == "fd":
		for i, w := range words {
			if w == "-exec" || w == "-execdir" || w == "-ok" || w == "-okdir" || name == "fd" && (w == "-x" || w == "-X") {
				r.emit(words[i+1:])
			}
		}
	case wraps && !(name == "command" && len(words) > 1 && strings.HasPrefix(words[1], "-v")):
		r.emit(wrapped(name, valued, words[1:]))
	}
}

// wrapped is the command behind a wrapper's own words.
func wrapped(name, valued string, words []string) []string {
	operands := 0
	if name == "timeout" || name == "flock" {
		operands = 1
	}
	for len(words) > 0 {
		w := words[0]
		switch {
		case w == "--":
			words = words[1:]
			continue
		case len(w) == 2 && w[0] == '-' && strings.IndexByte(valued, w[1]) >= 0:
			words = words[min(2, len(words)):]
		case strings.HasPrefix(w, "-"), name == "env" && isAssignment(shellWord{text: w}), name == "sudo" && isAssignment(shellWord{text: w}):
			words = words[1:]
		case operands > 0:
			operands--
			words = words[1:]
		default:
			return words
		}
	}
	return nil
}

// script reads what a shell is told with -c. One that reads a file is a program like any other; one that reads its input is not followed.
func (r *shellReader) script(words []string) {
	for i, w := range words {
		switch {
		case w == unknownWord:
			r.lost = true
			return
		case strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, "c"):
			if i+1 >= len(words) || words[i+1] == unknownWord {
				r.lost = true
				return
			}
			r.inner(words[i+1])
			return
		case !strings.HasPrefix(w, "-"):
			return
		}
	}
	r.lost = true
}
