package jj

import (
	"fmt"
	"strconv"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/diff"
	"tandem/internal/repo/render"
	"tandem/internal/repo/text"
)

// diffFormatOpts are the options that choose how diffs are shown.
func diffFormatOpts() []opt {
	return []opt{
		{id: "summary", long: "summary", short: "s"},
		{id: "stat", long: "stat"},
		{id: "types", long: "types"},
		{id: "name-only", long: "name-only"},
		{id: "git", long: "git"},
		{id: "color-words", long: "color-words"},
		{id: "tool", long: "tool", value: "NAME"},
		{id: "context", long: "context", value: "CONTEXT", check: checkCount},
		{id: "ignore-all-space", long: "ignore-all-space", short: "w"},
		{id: "ignore-space-change", long: "ignore-space-change", short: "b", conflicts: []string{"ignore-all-space"}},
	}
}

// differ shows diffs in the chosen formats.
type differ struct {
	w       *wsEnv
	formats []string
	opts    func(format string) (render.DiffOptions, error)
}

// diffOptions reads the settings, and the command line where there is one.
func (w *wsEnv) diffOptions(p *parsed) (render.DiffOptions, error) {
	var o render.DiffOptions
	n, _, err := w.conf.Int("diff.color-words.context")
	if err != nil {
		return o, err
	}
	o.Context = int(n)
	if n, _, err = w.conf.Int("diff.color-words.max-inline-alternation"); err != nil {
		return o, err
	}
	o.MaxAlternation = int(n)
	if o.Style, err = w.markerStyle(); err != nil {
		return o, err
	}
	prefix, err := w.conf.Bool("diff.git.show-path-prefix")
	if err != nil {
		return o, err
	}
	o.NoPrefix = !prefix
	if n, _, err = w.conf.Int("diff.stat.max-bar-width"); err != nil {
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

func chosenFormats(p *parsed) (short, long []string) {
	for _, f := range []string{"summary", "stat", "types", "name-only"} {
		if p.has(f) {
			short = append(short, f)
		}
	}
	for _, f := range []string{"git", "color-words"} {
		if p.has(f) {
			long = append(long, f)
		}
	}
	if t, ok := p.get("tool"); ok {
		long = append(long, ":"+strings.TrimPrefix(t, ":"))
		if !strings.HasPrefix(t, ":") {
			long[len(long)-1] = t
		}
	}
	return short, long
}

func (w *wsEnv) newDiffer(formats []string, p *parsed) (*differ, error) {
	for i, f := range formats {
		if g, ok := strings.CutPrefix(f, ":"); ok {
			formats[i] = g
		}
		switch formats[i] {
		case "summary", "stat", "types", "name-only", "git", "color-words":
		default:
			return nil, missing("the diff tool %q", f)
		}
	}
	base, err := w.diffOptions(p)
	if err != nil {
		return nil, err
	}
	return &differ{w: w, formats: formats, opts: func(format string) (render.DiffOptions, error) {
		o := base
		if format == "git" && (p == nil || !p.has("context")) {
			n, _, err := w.conf.Int("diff.git.context")
			if err != nil {
				return o, err
			}
			o.Context = int(n)
		}
		return o, nil
	}}, nil
}

// defaultFormat is the configured way to show diffs.
func (w *wsEnv) defaultFormat() (string, error) {
	v := w.conf.Get("ui", "diff-formatter")
	if v == nil {
		return "color-words", nil
	}
	s, ok := v.V.(string)
	if !ok {
		return "", missing("a diff tool given as a list")
	}
	if name, ok := strings.CutPrefix(s, ":"); ok {
		switch name {
		case "summary", "stat", "types", "name-only", "git", "color-words":
			return name, nil
		}
		return "", w.conf.Wrong("ui.diff-formatter", fmt.Errorf("Invalid builtin diff format: %s", s))
	}
	return "", missing("the diff tool %q", s)
}

// differFor chooses for commands that always show a diff.
func (w *wsEnv) differFor(p *parsed) (*differ, error) {
	short, long := chosenFormats(p)
	formats := append(short, long...)
	if len(formats) == 0 {
		f, err := w.defaultFormat()
		if err != nil {
			return nil, err
		}
		formats = []string{f}
	}
	return w.newDiffer(formats, p)
}

// logDiffer chooses for logs, where -p or a format asks for a diff; nil is none.
func (w *wsEnv) logDiffer(p *parsed) (*differ, error) {
	short, long := chosenFormats(p)
	formats := append(short, long...)
	if p.has("patch") && len(long) == 0 {
		f, err := w.defaultFormat()
		if err != nil {
			return nil, err
		}
		formats = append(formats, f)
	}
	if len(formats) == 0 {
		return nil, nil
	}
	return w.newDiffer(formats, p)
}

// show writes the difference of two trees in all formats.
func (d *differ) show(o *text.Text, from, to repo.MergedTree, match repo.Matcher, width int) error {
	copies, err := render.FindCopies(d.w.store, from, to)
	if err != nil {
		return err
	}
	return d.showWith(o, &render.Diff{Store: d.w.store, From: from, To: to, Match: match, Copies: copies, Paths: d.w.paths()}, width)
}

func (d *differ) showWith(o *text.Text, df *render.Diff, width int) error {
	o.Push("diff")
	defer o.Pop()
	for _, f := range d.formats {
		var err error
		if df.Opts, err = d.opts(f); err != nil {
			return err
		}
		o.Push(strings.ReplaceAll(f, "-", "_"))
		switch f {
		case "summary":
			err = df.Summary(o)
		case "stat":
			err = df.Stat(o, width)
		case "types":
			err = df.Types(o)
		case "name-only":
			err = df.Names(o)
		case "git":
			err = df.Git(o)
		default:
			err = df.ColorWords(o)
		}
		o.Pop()
		if err != nil {
			return err
		}
	}
	return nil
}

// patch writes what a commit changes.
func (d *differ) patch(o *text.Text, c *repo.Commit, match repo.Matcher, width int) error {
	from, err := repo.ParentTree(d.w.store, d.w.repo.Index, c)
	if err != nil {
		return err
	}
	return d.show(o, from, c.Tree, match, width)
}
