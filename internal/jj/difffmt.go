// How differences are shown, by the options and settings of jj 0.45.1; one short and one long format at a time.

package jj

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tandem/internal/jj/config"
	"tandem/internal/repo"
	"tandem/internal/repo/diff"
	"tandem/internal/repo/render"
	"tandem/internal/repo/text"
)

// diffFormats names the options that choose how diffs are shown, together.
const diffFormats = "DiffFormatArgs"

// diffFormatOpts are the options that choose how diffs are shown, for commands
// that show little else.
func diffFormatOpts() []opt {
	opts := logDiffOpts()
	for i := range opts {
		switch opts[i].id {
		case "ignore-all-space":
			opts[i].short = "w"
		case "ignore-space-change":
			opts[i].short = "b"
		}
	}
	return opts
}

// logDiffOpts are the same options for commands in which diffs are optional.
func logDiffOpts() []opt {
	opts := []opt{
		{id: "summary", group: "short-format", long: "summary", short: "s"},
		{id: "stat", group: "short-format", long: "stat"},
		{id: "types", group: "short-format", long: "types"},
		{id: "name-only", group: "short-format", long: "name-only"},
		{id: "git", group: "long-format", long: "git"},
		{id: "color-words", group: "long-format", long: "color-words"},
		{id: "tool", long: "tool", value: "TOOL"},
		{id: "context", long: "context", value: "CONTEXT", check: checkCount},
		{id: "ignore-all-space", long: "ignore-all-space"},
		{id: "ignore-space-change", long: "ignore-space-change", conflicts: []string{"ignore-all-space"}},
	}
	for i := range opts {
		opts[i].diff, opts[i].set = true, diffFormats
	}
	return opts
}

// differ shows diffs in the chosen formats.
type differ struct {
	pr      *printer
	formats []string
	tool    *tool // when one of the formats is a program's
	opts    func(format string) (render.DiffOptions, error)
}

// diffOptions reads the settings, and the command line where there is one.
func (pr *printer) diffOptions(p *parsed) (render.DiffOptions, error) {
	var o render.DiffOptions
	n, _, err := pr.conf.Int("diff.color-words.context")
	if err != nil {
		return o, err
	}
	o.Context = int(n)
	if n, _, err = pr.conf.Signed("diff.color-words.max-inline-alternation"); err != nil {
		return o, err
	}
	o.MaxAlternation = int(n)
	switch how := pr.conf.Str("diff.color-words.conflict"); how {
	case "materialize":
	case "pair":
		o.Pairs = true
	default:
		return o, pr.conf.Mistyped("diff.color-words.conflict", fmt.Errorf("unknown variant `%s`, expected `materialize` or `pair`", how))
	}
	if o.Style, err = pr.markerStyle(); err != nil {
		return o, err
	}
	prefix, err := pr.conf.Bool("diff.git.show-path-prefix")
	if err != nil {
		return o, err
	}
	o.NoPrefix = !prefix
	if n, _, err = pr.conf.Int("diff.stat.max-bar-width"); err != nil {
		return o, err
	}
	o.MaxBar = int(n)
	if p == nil {
		return o, nil
	}
	if s, ok := p.get("context"); ok {
		o.Context, _ = strconv.Atoi(s)
	}
	if p.has("ignore-all-space") {
		o.Compare = diff.IgnoreAllSpace
	} else if p.has("ignore-space-change") {
		o.Compare = diff.IgnoreSpaceAmount
	}
	return o, nil
}

// builtinFormats are the ways to show diffs that need no other program.
var builtinFormats = []string{"summary", "stat", "types", "name-only", "git", "color-words"}

func isShort(format string) bool { return slices.Contains(builtinFormats[:4], format) }

// chosenFormats are the formats the command line asks for, at most one of each
// kind; "" is none.
func (pr *printer) chosenFormats(p *parsed, d *differ) (short, long string, err error) {
	for _, f := range builtinFormats {
		if p.has(f) && isShort(f) {
			short = f
		} else if p.has(f) {
			long = f
		}
	}
	name, ok := p.get("tool")
	if !ok {
		return short, long, nil
	}
	kind := &long
	builtin, is := strings.CutPrefix(name, ":")
	switch {
	case is && !slices.Contains(builtinFormats, builtin):
		return "", "", clif("Invalid builtin diff format: %s", builtin)
	case is && isShort(builtin):
		kind = &short
	}
	if *kind != "" {
		return "", "", clif("--tool=%s cannot be used with --%s", name, *kind)
	}
	*kind = builtin
	if !is {
		d.tool, err = pr.diffTool(name)
		*kind = toolFormat
	}
	return short, long, err
}

// toolFormat stands among formats for an outside program.
const toolFormat = "tool"

// diffTool finds a program that shows diffs.
func (pr *printer) diffTool(name string) (*tool, error) {
	t, err := pr.tools.configuredTool(name)
	if err == nil && len(t.diffArgs) == 0 {
		return nil, clif("The tool `%s` cannot be used for diff formatting", name)
	}
	return t, err
}

func (pr *printer) newDiffer(formats []string, p *parsed) (*differ, error) {
	d := &differ{pr: pr, formats: formats}
	return d, d.configure(p)
}

// configure reads the settings of the formats.
func (d *differ) configure(p *parsed) error {
	pr := d.pr
	base, err := pr.diffOptions(p)
	if err != nil {
		return err
	}
	d.opts = func(format string) (render.DiffOptions, error) {
		o := base
		if format == "git" && (p == nil || !p.has("context")) {
			n, _, err := pr.conf.Int("diff.git.context")
			if err != nil {
				return o, err
			}
			o.Context = int(n)
		}
		return o, nil
	}
	return nil
}

// defaultFormat is the configured way to show diffs.
func (pr *printer) defaultFormat(d *differ) (string, error) {
	v := pr.conf.Get("ui", "diff-formatter")
	if v == nil {
		return "color-words", nil
	}
	s, ok := v.V.(string)
	if !ok {
		c, err := pr.conf.Cmd("ui", "diff-formatter")
		if err != nil {
			return "", err
		}
		d.tool = commandTool(c.Args)
		return toolFormat, nil
	}
	if name, ok := strings.CutPrefix(s, ":"); ok {
		if slices.Contains(builtinFormats, name) {
			return name, nil
		}
		return "", configf(fmt.Errorf("Invalid builtin diff format: %s", name), "Invalid type or value for ui.diff-formatter")
	}
	var err error
	if pr.conf.Get("merge-tools", s) == nil {
		d.tool = commandTool(config.Words(s))
	} else {
		d.tool, err = pr.diffTool(s)
	}
	return toolFormat, err
}

// differFor chooses for commands that always show a diff.
func (pr *printer) differFor(p *parsed) (*differ, error) {
	d := &differ{pr: pr}
	short, long, err := pr.chosenFormats(p, d)
	if err == nil && short == "" && long == "" {
		long, err = pr.defaultFormat(d)
	}
	if err != nil {
		return nil, err
	}
	d.choose(short, long)
	return d, d.configure(p)
}

// logDiffer chooses for logs, where -p or a format asks for a diff; nil is none.
func (pr *printer) logDiffer(p *parsed) (*differ, error) {
	d := &differ{pr: pr}
	short, long, err := pr.chosenFormats(p, d)
	if err == nil && p.has("patch") && long == "" {
		if long, err = pr.defaultFormat(d); long == short {
			long = ""
		}
	}
	if err != nil || short == "" && long == "" {
		return nil, err
	}
	d.choose(short, long)
	return d, d.configure(p)
}

func (d *differ) choose(formats ...string) {
	for _, f := range formats {
		if f != "" {
			d.formats = append(d.formats, f)
		}
	}
}

// show writes a difference in all formats.
func (d *differ) show(ctx context.Context, o *text.Text, df *render.Diff, width int) error {
	o.Push("diff")
	defer o.Pop()
	for _, f := range d.formats {
		var err error
		if df.Opts, err = d.opts(f); err != nil {
			return err
		}
		if f == toolFormat {
			if err := d.showTool(ctx, o, df, width); err != nil {
				return err
			}
			continue
		}
		o.Push(strings.ReplaceAll(f, "-", "_"))
		switch f {
		case "summary":
			err = df.Summary(ctx, o)
		case "stat":
			err = df.Stat(ctx, o, width)
		case "types":
			err = df.Types(ctx, o)
		case "name-only":
			err = df.Names(ctx, o)
		case "git":
			err = df.Git(ctx, o)
		default:
			err = df.ColorWords(ctx, o)
		}
		o.Pop()
		if err != nil {
			return err
		}
	}
	return nil
}

// patch writes what a commit changes.
func (d *differ) patch(ctx context.Context, o *text.Text, c *repo.Commit, match repo.Matcher, width int) error {
	from, err := repo.ParentTree(ctx, d.pr.store, d.pr.repo.Index, c)
	if err != nil {
		return err
	}
	copies, err := render.CopiesOf(ctx, d.pr.store, c, match)
	if err != nil {
		return err
	}
	return d.show(ctx, o, &render.Diff{Store: d.pr.store, From: from, To: c.Tree, Match: match, Copies: copies, Paths: d.pr.paths()}, width)
}
