// Aliases and the default command, as jj 0.45.1 expands them: an alias that leads back to itself is refused.

package jj

import (
	"slices"
	"sort"
	"strings"

	"tandem/internal/jj/config"
)

func sortStrings(s []string) { sort.Strings(s) }

// firstWord finds the command word among arguments, skipping global options
// and their values; -1 when there is none, or an unknown option comes first.
func firstWord(args []string) int {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			return -1
		}
		if !strings.HasPrefix(a, "-") || a == "-" {
			return i
		}
		o, whole := globalNamed(a)
		if o == nil {
			return -1
		}
		if o.value != "" && whole {
			i++
		}
	}
	return -1
}

// globalNamed finds the global option that a word gives; whole says that the
// word holds no value.
func globalNamed(word string) (o *opt, whole bool) {
	name, long := strings.CutPrefix(word, "--")
	if long {
		var assigned bool
		name, _, assigned = strings.Cut(name, "=")
		whole = !assigned
	} else {
		name, whole = word[1:2], len(word) == 2
	}
	for i := range globalOpts {
		o := &globalOpts[i]
		if long && (o.long == name || slices.Contains(o.alias, name)) || !long && o.short == name {
			return o, whole
		}
	}
	if name == "version" || name == "V" {
		return &opt{id: "version"}, whole
	}
	return nil, false
}

// expand applies the default command and the user's aliases.
func (e *env) expand(root *command, args []string) ([]string, error) {
	for _, a := range args {
		if a == "--help" || a == "-h" || a == "--version" || a == "-V" {
			return e.aliases(root, args)
		}
	}
	if firstWord(args) < 0 {
		def, err := e.defaultCommand()
		if err != nil {
			return nil, err
		}
		args = append(def, args...)
	}
	return e.aliases(root, args)
}

func (e *env) defaultCommand() ([]string, error) {
	v := e.conf.Get("ui", "default-command")
	if v == nil {
		e.ui.note("hint", "Hint: ", "Use `jj -h` for a list of available commands.") // quiet counts from the real command on
		t := e.ui.newText()
		t.Label("hint", "Run `jj config set --user ui.default-command log` to disable this message.\n")
		e.ui.colours.WriteTo(e.io.Stderr, t)
		return []string{"log"}, nil
	}
	if s, ok := v.V.(string); ok {
		if strings.Contains(s, " ") {
			var parts []string
			for _, w := range strings.Fields(s) {
				parts = append(parts, config.FormatString(w))
			}
			e.ui.warnf("To include flags/arguments in `ui.default-command`, use an array instead of a string: `ui.default-command = [%s]`",
				strings.Join(parts, ", "))
		}
		return []string{s}, nil
	}
	return e.conf.Strings("ui", "default-command")
}

// aliases is unalias that tells of aliases that can have no effect.
func (e *env) aliases(root *command, args []string) ([]string, error) {
	var shadow []string
	if table := e.conf.Table("aliases"); table != nil {
		for _, k := range table.Keys {
			if isCommand(root, k) {
				shadow = append(shadow, k)
			}
		}
	}
	sortStrings(shadow)
	for _, k := range shadow {
		e.ui.warnf("Cannot define an alias that overrides the built-in command '%s'.", k)
	}
	return e.unalias(root, args)
}

// unalias replaces aliases by what they stand for.
func (e *env) unalias(root *command, args []string) ([]string, error) {
	defined := map[string]bool{}
	if table := e.conf.Table("aliases"); table != nil {
		for _, k := range table.Keys {
			defined[k] = !isCommand(root, k)
		}
	}
	type frame struct {
		name       string
		start, end int
	}
	var stack []frame
	for {
		at := firstWord(args)
		if at < 0 || !defined[args[at]] {
			return args, nil
		}
		name := args[at]
		def, err := e.aliasDefinition(name)
		if err != nil {
			return nil, err
		}
		rest := args[at+1:]
		for len(stack) > 0 {
			top := stack[len(stack)-1]
			if at >= top.start && at < top.end {
				if slices.ContainsFunc(stack, func(f frame) bool { return f.name == name }) {
					return nil, userf("Recursive alias definition involving `%s`", name)
				}
				break
			}
			stack = stack[:len(stack)-1]
			if len(stack) > 0 {
				stack[len(stack)-1].end += top.end - top.start - 1
			}
		}
		stack = append(stack, frame{name, at, at + len(def)})
		out := append([]string(nil), args[:at]...)
		out = append(out, def...)
		args = append(out, rest...)
	}
}

func (e *env) aliasDefinition(name string) ([]string, error) {
	if v := e.conf.Get("aliases", name); v != nil {
		if t, ok := v.V.(*config.Table); ok && t.Get("definition") != nil {
			return e.conf.Strings("aliases", name, "definition")
		}
	}
	return e.conf.Strings("aliases", name)
}

func isCommand(root *command, name string) bool {
	return slices.ContainsFunc(root.subs, func(c *command) bool { return c.name == name || slices.Contains(c.alias, name) })
}
