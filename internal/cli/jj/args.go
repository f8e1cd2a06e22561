package jj

import (
	"slices"
	"strings"

	"tandem/internal/repo/dsl"
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
	conflicts []string // ids it cannot stand with
	optional  bool     // the value may be left out
	last      bool     // takes everything after "--"
	hidden    bool
	check     func(string) error
	values    []string // the only values it takes
	help      string
}

// group ties options together: one of them must be given, or at most one may.
type group struct {
	id       string
	required bool
	multiple bool
}

// command is a node of the tree of commands.
type command struct {
	name   string
	alias  []string
	about  string
	opts   []opt
	groups []group
	subs   []*command
	hidden bool
	run    func(*env, *parsed) error
	raw    bool // a group whose own run is called without subcommand
	absent bool // not built here: its arguments are not looked at
}

// parsed is what the user gave.
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

func (p *parsed) str(id string) string {
	s, _ := p.get(id)
	return s
}

func (o *opt) display() string {
	switch {
	case o.pos && o.required:
		return "<" + o.value + ">" + o.dots()
	case o.pos:
		return "[" + o.value + "]" + o.dots()
	}
	name := "--" + o.long
	if o.long == "" {
		name = "-" + o.short
	}
	if o.value == "" {
		return name
	}
	if o.optional {
		return name + "[=<" + o.value + ">]"
	}
	return name + " <" + o.value + ">"
}

func (o *opt) dots() string {
	if o.many {
		return "..."
	}
	return ""
}

func pathName(path []*command) string {
	names := make([]string, len(path))
	for i, c := range path {
		names[i] = c.name
	}
	return strings.Join(names, " ")
}

// usage is the general usage line of a command.
func usage(path []*command) string {
	c := path[len(path)-1]
	var b strings.Builder
	b.WriteString("Usage: " + pathName(path) + " [OPTIONS]")
	grouped := map[string]bool{}
	for i := range c.opts {
		o := &c.opts[i]
		if g := c.group(o.group); g != nil && g.required && !grouped[g.id] {
			grouped[g.id] = true
			b.WriteString(" " + c.groupDisplay(g))
		} else if !o.pos && o.required && o.group == "" {
			b.WriteString(" " + o.display())
		}
	}
	for i := range c.opts {
		o := &c.opts[i]
		if g := c.group(o.group); o.pos && !o.hidden && (g == nil || !g.required) {
			if o.last {
				b.WriteString(" --")
			}
			b.WriteString(" " + o.display())
		}
	}
	if len(c.subs) > 0 {
		if c.raw {
			b.WriteString(" [COMMAND]")
		} else {
			b.WriteString(" <COMMAND>")
		}
	}
	return b.String()
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

func (c *command) groupDisplay(g *group) string {
	var parts []string
	for i := range c.opts {
		o := &c.opts[i]
		if o.group != g.id || o.hidden {
			continue
		}
		if o.pos {
			parts = append(parts, o.value)
		} else {
			parts = append(parts, o.display())
		}
	}
	return "<" + strings.Join(parts, "|") + ">"
}

// smartUsage is the usage line of an error: what was used and what is missing.
func smartUsage(path []*command, used []string, missing []string) string {
	c := path[len(path)-1]
	var b strings.Builder
	b.WriteString("Usage: " + pathName(path))
	groups := map[string]bool{}
	showGroup := func(o *opt) bool {
		g := c.group(o.group)
		if g == nil || !g.required {
			return false
		}
		if !groups[g.id] {
			groups[g.id] = true
			b.WriteString(" " + c.groupDisplay(g))
		}
		return true
	}
	for i := range c.opts {
		o := &c.opts[i]
		if o.pos || o.hidden {
			continue
		}
		in := slices.Contains(used, o.id)
		if in && !showGroup(o) {
			b.WriteString(" " + o.display())
		} else if o.required && !in {
			b.WriteString(" " + o.display())
		}
	}
	for _, m := range missing {
		if g := c.group(m); g != nil && !groups[g.id] {
			groups[g.id] = true
			b.WriteString(" " + c.groupDisplay(g))
		}
	}
	for i := range c.opts {
		o := &c.opts[i]
		if !o.pos || o.hidden {
			continue
		}
		g := c.group(o.group)
		if g != nil && g.required {
			showGroup(o)
			continue
		}
		switch {
		case slices.Contains(used, o.id) || o.required:
			b.WriteString(" <" + o.value + ">" + o.dots())
		default:
			b.WriteString(" " + o.display())
		}
	}
	return b.String()
}

func clapError(msg string, tips []string, use string) *cmdError {
	var b strings.Builder
	b.WriteString("error: " + msg + "\n")
	for _, t := range tips {
		b.WriteString("\n  tip: " + t + "\n")
	}
	if use != "" {
		b.WriteString("\n" + use + "\n")
	}
	b.WriteString("\nFor more information, try '--help'.\n")
	return &cmdError{kind: clapErr, msg: b.String()}
}

type argParser struct {
	args    []string
	i       int
	p       *parsed
	cmd     *command
	posAt   int
	global  []opt
	trailer bool
}

// parse matches a command line against the tree below root.
func parse(root *command, args []string) (*parsed, error) {
	a := &argParser{args: args, p: &parsed{path: []*command{root}, vals: map[string][]string{}, global: &globals{}}, cmd: root, global: globalOpts}
	if err := a.run(); err != nil {
		return a.p, err
	}
	return a.p, a.validate()
}

func (a *argParser) run() error {
	for ; a.i < len(a.args); a.i++ {
		if a.cmd.absent {
			return nil // whoever runs it instead reads the rest
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
			return clapError("unexpected value '"+val+"' for '"+o.display()+"' found; no more were expected", nil, usage(a.p.path))
		}
		return a.put(o, "")
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
			if err := a.put(o, ""); err != nil {
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
		if a.i+1 >= len(a.args) || strings.HasPrefix(a.args[a.i+1], "-") && len(a.args[a.i+1]) > 1 && a.knownFlag(a.args[a.i+1]) {
			return &cmdError{kind: clapErr, msg: "error: a value is required for '" + o.display() + "' but none was supplied\n\nFor more information, try '--help'.\n", cause: &missingValue{o}}
		}
		a.i++
		val = a.args[a.i]
	}
	return a.put(o, val)
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

func (a *argParser) unexpected(what string) error {
	var tips []string
	if similar := a.similarOption(what); similar != "" {
		tips = append(tips, "a similar argument exists: '"+similar+"'")
	} else if a.takesPositional() {
		tips = append(tips, "to pass '"+what+"' as a value, use '-- "+what+"'")
	}
	return clapError("unexpected argument '"+what+"' found", tips, usage(a.p.path))
}

func (a *argParser) similarOption(what string) string {
	name, ok := strings.CutPrefix(what, "--")
	if !ok {
		return ""
	}
	best, score := "", 0.7
	consider := func(o *opt) {
		if o.long != "" && !o.hidden {
			if s := dsl.SimilarOf(name, o.long); s > score {
				best, score = "--"+o.long, s
			}
		}
	}
	for i := range a.cmd.opts {
		consider(&a.cmd.opts[i])
	}
	for i := range a.global {
		consider(&a.global[i])
	}
	return best
}

func (a *argParser) takesPositional() bool {
	return slices.ContainsFunc(a.cmd.opts, func(o opt) bool { return o.pos })
}

func (a *argParser) put(o *opt, val string) error {
	if o.values != nil && !slices.Contains(o.values, val) {
		msg := "invalid value '" + val + "' for '" + o.display() + "'\n  [possible values: " + strings.Join(o.values, ", ") + "]"
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
	a.p.vals[o.id] = append(a.p.vals[o.id], val)
	a.p.order = append(a.p.order, given{o.id, val})
	return nil
}

func invalidValue(o *opt, val string, err error) error {
	shown := o.display()
	if o.pos && o.group != "" {
		shown = "[" + o.value + "]" + o.dots()
	}
	e := &cmdError{kind: clapErr, msg: "error: invalid value '" + val + "' for '" + shown + "': " + err.Error() + "\n\nFor more information, try '--help'.\n"}
	if ce, ok := err.(*cmdError); ok {
		e.cause, e.hints = ce.cause, ce.hints
	}
	return e
}

func (a *argParser) positional(s string) error {
	if len(a.cmd.subs) > 0 && !a.trailer {
		for _, c := range a.cmd.subs {
			if c.name == s || slices.Contains(c.alias, s) {
				a.cmd = c
				a.p.path = append(a.p.path, c)
				a.posAt = 0
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

func (a *argParser) unknownCommand(s string) error {
	var names []string
	for _, c := range a.cmd.subs {
		if !c.hidden {
			names = append(names, c.name)
			names = append(names, c.alias...)
		}
	}
	return unknownCommand(a.p.path, s, names)
}

func unknownCommand(path []*command, s string, names []string) error {
	var tips []string
	similar := rankSimilar(s, names)
	switch len(similar) {
	case 0:
	case 1:
		tips = []string{"a similar subcommand exists: '" + similar[0] + "'"}
	default:
		tips = []string{"some similar subcommands exist: '" + strings.Join(similar, "', '") + "'"}
	}
	return clapError("unrecognized subcommand '"+s+"'", tips, usage(path))
}

// rankSimilar lists similar names, the least similar first, as clap does.
func rankSimilar(s string, names []string) []string {
	type cand struct {
		name  string
		score float64
	}
	var cs []cand
	for _, n := range names {
		if sc := dsl.SimilarOf(s, n); sc > 0.7 {
			cs = append(cs, cand{n, sc})
		}
	}
	slices.SortStableFunc(cs, func(a, b cand) int {
		switch {
		case a.score < b.score:
			return -1
		case a.score > b.score:
			return 1
		}
		return 0
	})
	var out []string
	for _, c := range cs {
		out = append(out, c.name)
	}
	return out
}

// validate checks conflicts, groups and what is required.
func (a *argParser) validate() error {
	c, p := a.cmd, a.p
	if p.has("help") || p.has("version") {
		return nil
	}
	var ids []string
	for _, g := range p.order {
		if !slices.Contains(ids, g.id) {
			ids = append(ids, g.id)
		}
	}
	for _, id := range ids {
		o := c.opt(id)
		if o == nil {
			continue
		}
		var bad []*opt
		for i := range c.opts {
			x := &c.opts[i]
			if x.id != id && p.has(x.id) && c.conflict(o, x) {
				bad = append(bad, x)
			}
		}
		if len(bad) > 0 {
			return c.conflictError(p, o, bad, ids)
		}
	}
	return c.requireError(p, ids)
}

func (c *command) conflict(a, b *opt) bool {
	if slices.Contains(a.conflicts, b.id) || slices.Contains(b.conflicts, a.id) {
		return true
	}
	if a.group != "" && a.group == b.group {
		g := c.group(a.group) // one that is not declared only excludes
		return g == nil || !g.multiple
	}
	return false
}

func (c *command) conflictError(p *parsed, o *opt, bad []*opt, ids []string) error {
	var used []string
	for _, id := range ids {
		if x := c.opt(id); x != nil && !slices.Contains(bad, x) && !(x != o && c.conflict(o, x)) {
			used = append(used, id)
		}
	}
	use := smartUsage(p.path, used, nil)
	var all []string
	for i := range c.opts {
		if x := &c.opts[i]; x != o && slices.Contains(o.conflicts, x.id) && (p.has(x.id) || c.twin(bad, x)) {
			all = append(all, x.display())
		}
	}
	if len(all) > 1 {
		return clapError("the argument '"+o.display()+"' cannot be used with:\n  "+strings.Join(all, "\n  "), nil, use)
	}
	return clapError("the argument '"+o.display()+"' cannot be used with '"+bad[0].display()+"'", nil, use)
}

// twin says whether x shares a group with one of the conflicting options, as
// clap then names the whole group.
func (c *command) twin(bad []*opt, x *opt) bool {
	return x.group != "" && slices.ContainsFunc(bad, func(b *opt) bool { return b.group == x.group })
}

func (c *command) requireError(p *parsed, ids []string) error {
	var lack []string
	var groups []string
	for i := range c.groups {
		g := &c.groups[i]
		if !g.required {
			continue
		}
		given := slices.ContainsFunc(c.opts, func(o opt) bool { return o.group == g.id && p.has(o.id) })
		if !given {
			lack = append(lack, c.groupDisplay(g))
			groups = append(groups, g.id)
		}
	}
	for i := range c.opts {
		if o := &c.opts[i]; o.required && !p.has(o.id) {
			lack = append(lack, o.display())
		}
	}
	if len(lack) == 0 {
		return nil
	}
	return clapError("the following required arguments were not provided:\n  "+strings.Join(lack, "\n  "), nil, smartUsage(p.path, ids, groups))
}
