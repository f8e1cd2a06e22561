package spec

import (
	"path"
	"slices"
	"strings"
)

// wrapper is a program that runs another one: which of its options take a value, and how many words of its own come before the other.
type wrapper struct {
	valued []string
	words  int
}

var wrappers = map[string]wrapper{
	"env": {valued: []string{"-u", "--unset", "-C", "--chdir"}}, "nice": {valued: []string{"-n", "--adjustment"}}, "nohup": {}, "setsid": {},
	"timeout": {valued: []string{"-s", "--signal", "-k", "--kill-after"}, words: 1}, "stdbuf": {valued: []string{"-i", "-o", "-e"}},
	"ionice": {valued: []string{"-c", "-n"}}, "time": {}, "busybox": {}, "xargs": {valued: []string{"-I", "-n", "-P", "-L", "-d", "-a", "-s"}},
}

// valued are options whose next word is their value, whatever it begins with. Of any other nobody knows that it takes one.
var valued = map[string][]string{
	"tar": {"-f", "-xf", "-cf", "-tf", "-xzf", "-czf", "-tzf", "-xJf", "-cJf", "-C"}, "git": {"-m", "-C"}, "jj": {"-m", "-R"},
	"curl": {"-o", "-d", "-H", "-X", "-F", "--data", "--data-raw", "--header", "--request", "--url"}, "wget": {"-O", "-P"},
	"grep": {"-e", "-f"}, "rg": {"-e", "-f"}, "head": {"-n", "-c"}, "tail": {"-n", "-c"}, "make": {"-C"},
	"gh": {"-t", "--title", "-b", "--body", "-R"}, "date": {"-d"}, "cc": {"-o"}, "gcc": {"-o"},
}

// handing are programs that take no option any more behind the code of their -c: what follows are its arguments.
var handing = []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "python"}

func programName(arg string) string { return strings.TrimRight(path.Base(arg), "0123456789.") }

// program is where the program stands that reads the arguments: the first word, or behind those that only run another one.
func (c *Command) program() int {
	at := 0
	for at < len(c.Run) {
		name := programName(c.Run[at])
		w, is := wrappers[name]
		if !is {
			return at
		}
		for at++; at < len(c.Run); at++ {
			arg := c.Run[at]
			if slices.Contains(w.valued, arg) {
				at++
			} else if strings.HasPrefix(arg, "-") || name == "env" && strings.Contains(arg, "=") {
				continue
			} else if w.words--; w.words < 0 {
				break
			}
		}
	}
	return at
}

// Bare says whether a program could read the value of an argument as an option, which for many programs says what to run or to write: it
// begins with what is filled in, and neither "--" before it nor the option that it is the value of says that it is none.
func (c *Command) Bare(i int) bool {
	hole := holeForm.FindStringIndex(c.Run[i])
	if hole == nil || hole[0] > 0 {
		return false
	}
	at := c.program()
	if at >= i {
		return true
	}
	name := programName(c.Run[at])
	takes := func(option string) bool { return slices.Contains(valued[name], option) }
	for k := at + 1; k < i; k++ {
		switch before := c.Run[k-1]; {
		case c.Run[k] == "--" && !takes(before):
			return false
		case slices.Contains(handing, name) && !strings.HasPrefix(c.Run[k], "-") && code(before) && strings.HasSuffix(before, "c"):
			return false
		}
	}
	return !takes(c.Run[i-1])
}
