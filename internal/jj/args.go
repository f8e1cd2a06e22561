// Arguments as jj 0.45.1 reads them, by the rules of its parser, clap: prefixes are no names, a value may follow `=` or
// a space, and `--` ends options. Errors have clap's texts, because scripts show them to people who look them up.

package jj

import (
	"context"
	"slices"
	"strings"
)

// opt is one option or positional argument of a command.
type opt struct {
	id        string   // how the command asks for it
	long      string   // without dashes
	short     string   // without dash
	alias     []string // other long names, and short ones of one letter
	value     string   // name of its value; "" for a flag
	many      bool     // may be given several times
	pos       bool     // positional
	required  bool
	group     string   // members of one group: see group
	set       string   // a second group, which demands nothing and excludes nobody within
	conflicts []string // ids of options and groups it cannot stand with
	optional  bool     // the value may be left out
	blank     bool     // the value may be empty although its kind seldom is
	comma     bool     // a value is a list, cut at commas
	last      bool     // takes everything after "--"
	hidden    bool
	diff      bool // stands with the formats of diffs in help
	check     func(string) error
	values    []string // the only values it takes
}

// group ties options together: one of them must be given, or at most one may.
type group struct {
	id        string
	required  bool
	multiple  bool
	conflicts []string // what its members cannot stand with
}

// command is a node of the tree of commands.
type command struct {
	name   string
	alias  []string
	opts   []opt
	groups []group
	subs   []*command
	hidden bool
	run    func(context.Context, *env, *parsed) error
	raw    bool // a group whose own run is called without subcommand
	absent bool // not built here: its arguments are not looked at
}

// parsed is what the user gave. The value of a flag is how it was spelled.
type parsed struct {
	path   []*command
	vals   map[string][]string
	order  []given // in the order of the command line
	global *globals
}

type given struct{ id, value string }

func (p *parsed) has(id string) bool     { _, ok := p.vals[id]; return ok }
func (p *parsed) all(id string) []string { return p.vals[id] }
func (p *parsed) command() *command      { return p.path[len(p.path)-1] }
func (p *parsed) get(id string) (string, bool) {
	v, ok := p.vals[id]
	if !ok || len(v) == 0 {
		return "", ok
	}
	return v[len(v)-1], true
}

// helpWanted says whether help was asked for, and whether at length.
func (p *parsed) helpWanted() (long, wanted bool) {
	for _, g := range p.order {
		if g.id == "help" {
			return g.value == "help", true
		}
	}
	return false, false
}

func (p *parsed) str(id string) string {
	s, _ := p.get(id)
	return s
}

func (c *command) group(id string) *group {
	for i := range c.groups {
		if c.groups[i].id == id {
			return &c.groups[i]
		}
	}
	return nil
}

func (c *command) opt(id string) *opt {
	for i := range c.opts {
		if c.opts[i].id == id {
			return &c.opts[i]
		}
	}
	return nil
}

type argParser struct {
	args    []string
	i       int
	p       *parsed
	cmd     *command
	posAt   int
	from    int // where in the order of what was given the command's own begins
	global  []opt
	trailer bool
	pending *given // read, but looked at only when the next argument is known
}

// parse matches a command line against the tree below root.
func parse(root *command, args []string) (*parsed, error) {
	a := &argParser{args: args, p: &parsed{path: []*command{root}, vals: map[string][]string{}, global: &globals{}}, cmd: root,
		global: globalOpts}
	err := a.run()
	if err == nil {
		err = a.settle()
	}
	if err == nil {
		err = a.validate()
	}
	return a.p, err
}

// answered says that what was read so far ends the reading: help and version
// are given whatever follows.
func (a *argParser) answered() bool { return a.p.has("help") || a.p.has("version") }

func (a *argParser) run() error {
	for ; a.i < len(a.args); a.i++ {
		if a.cmd.absent || a.answered() {
			return nil // whoever runs an absent command reads the rest
		}
		s := a.args[a.i]
		var err error
		switch {
		case a.trailer:
			err = a.positional(s)
		case s == "--":
			a.trailer = true
		case strings.HasPrefix(s, "--"):
			err = a.long(s)
		case strings.HasPrefix(s, "-") && len(s) > 1:
			err = a.shorts(s)
		default:
			err = a.positional(s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *argParser) find(match func(*opt) bool) *opt {
	for i := range a.cmd.opts {
		if o := &a.cmd.opts[i]; !o.pos && match(o) {
			return o
		}
	}
	for i := range a.global {
		if o := &a.global[i]; match(o) {
			return o
		}
	}
	return nil
}

func (a *argParser) long(s string) error {
	name, val, has := strings.Cut(s[2:], "=")
	o := a.find(func(o *opt) bool { return o.long == name || len(name) > 1 && slices.Contains(o.alias, name) })
	if o == nil {
		return a.unexpected("--" + name)
	}
	if o.value == "" {
		if has {
			return clapError("unexpected value '"+val+"' for '"+o.display()+"' found; no more were expected", nil, a.usage(o.id))
		}
		return a.put(o, name)
	}
	return a.valued(o, val, has)
}

func (a *argParser) shorts(s string) error {
	for j := 1; j < len(s); j++ {
		c := s[j : j+1]
		o := a.find(func(o *opt) bool { return o.short == c || slices.Contains(o.alias, c) })
		if o == nil {
			return a.unexpected("-" + c)
		}
		if o.value == "" {
			if err := a.put(o, c); err != nil {
				return err
			}
			continue
		}
		rest := s[j+1:]
		return a.valued(o, strings.TrimPrefix(rest, "="), rest != "")
	}
	return nil
}

func (a *argParser) valued(o *opt, val string, has bool) error {
	if !has && o.optional {
		return a.put(o, "")
	}
	if !has {
		next := ""
		if a.i+1 < len(a.args) {
			next = a.args[a.i+1]
		}
		dashed := strings.HasPrefix(next, "-") && len(next) > 1
		if dashed && !a.knownFlag(next) {
			name, _, _ := strings.Cut(next, "=")
			if !strings.HasPrefix(next, "--") {
				name = next[:2]
			}
			return a.unexpected(name)
		}
		if a.i+1 >= len(a.args) || dashed {
			return lacking(o)
		}
		a.i++
		return a.put(o, a.args[a.i])
	}
	if err := a.put(o, val); err != nil {
		return err
	}
	return a.settle() // nothing can follow a value that is part of the word
}

func lacking(o *opt) error {
	return &cmdError{kind: clapErr, msg: "error: a value is required for '" + o.display() + "' but none was supplied\n" + o.choices() +
		"\nFor more information, try '--help'.\n", cause: &missingValue{o}}
}

// choices is the line that lists what an option takes.
func (o *opt) choices() string {
	if o.values == nil {
		return ""
	}
	return "  [possible values: " + strings.Join(o.values, ", ") + "]\n"
}

// missingValue marks an option that was given without its value.
type missingValue struct{ o *opt }

func (m *missingValue) Error() string { return "missing value" }

// knownFlag says whether a word that starts with a dash is an option, so that
// it is not taken for the value of another.
func (a *argParser) knownFlag(s string) bool {
	if s == "--" {
		return true
	}
	if n, ok := strings.CutPrefix(s, "--"); ok {
		n, _, _ = strings.Cut(n, "=")
		return a.find(func(o *opt) bool { return o.long == n || len(n) > 1 && slices.Contains(o.alias, n) }) != nil
	}
	c := s[1:2]
	return a.find(func(o *opt) bool { return o.short == c || slices.Contains(o.alias, c) }) != nil
}

func (a *argParser) takesPositional() bool {
	return slices.ContainsFunc(a.cmd.opts, func(o opt) bool { return o.pos })
}

// put takes what was given for an option. Its value is looked at when the next
// one comes, as clap does: which of two mistakes is told depends on it.
func (a *argParser) put(o *opt, val string) error {
	if err := a.settle(); err != nil {
		return err
	}
	a.pending = &given{o.id, val}
	if o.value == "" {
		return a.settle()
	}
	return nil
}

// settle looks at the value that waits.
func (a *argParser) settle() error {
	if a.pending == nil {
		return nil
	}
	g := *a.pending
	a.pending = nil
	o := a.opt(g.id)
	vals := []string{g.value}
	if o.comma {
		vals = strings.Split(g.value, ",")
	}
	for _, val := range vals {
		if err := o.accepts(val); err != nil {
			return err
		}
		a.p.vals[o.id] = append(a.p.vals[o.id], val)
		a.p.order = append(a.p.order, given{o.id, val})
	}
	return nil
}

// accepts looks at one value.
func (o *opt) accepts(val string) error {
	if val == "" && (o.values != nil || !o.optional && !o.blank && (strings.HasPrefix(o.value, "REV") || o.value == "PATH" && !o.pos)) {
		return lacking(o) // no revset, and no path, is empty
	}
	if o.values != nil && !slices.Contains(o.values, val) {
		msg := "invalid value '" + val + "' for '" + o.display() + "'\n" + strings.TrimSuffix(o.choices(), "\n")
		var tips []string
		if similar := rankSimilar(val, o.values); len(similar) > 0 {
			tips = []string{"a similar value exists: '" + similar[len(similar)-1] + "'"}
		}
		return clapError(msg, tips, "")
	}
	if o.check != nil {
		if err := o.check(val); err != nil {
			return invalidValue(o, val, err)
		}
	}
	return nil
}

func (a *argParser) positional(s string) error {
	if len(a.cmd.subs) > 0 && !a.trailer {
		for _, c := range a.cmd.subs {
			if c.name == s || slices.Contains(c.alias, s) {
				if err := a.settle(); err != nil {
					return err
				}
				a.cmd = c
				a.p.path = append(a.p.path, c)
				a.posAt, a.from = 0, len(a.p.order)
				return nil
			}
		}
		if !a.takesPositional() {
			return a.unknownCommand(s)
		}
	}
	n := 0
	for i := range a.cmd.opts {
		o := &a.cmd.opts[i]
		if !o.pos {
			continue
		}
		if n == a.posAt || o.last && a.trailer {
			if !o.many {
				a.posAt++
			}
			return a.put(o, s)
		}
		n++
	}
	if len(a.cmd.subs) > 0 {
		return a.unknownCommand(s)
	}
	return clapError("unexpected argument '"+s+"' found", nil, usage(a.p.path))
}
