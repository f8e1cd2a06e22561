package render

import (
	"bytes"
	"context"
	"io"

	"tandem/internal/repo"
	"tandem/internal/repo/diff"
	"tandem/internal/repo/fileset"
	"tandem/internal/repo/text"
)

// Diff is the difference between two trees, ready to be shown.
type Diff struct {
	Store    repo.Store
	From, To repo.MergedTree
	Match    repo.Matcher
	Copies   Copies
	Paths    fileset.Paths
	Opts     DiffOptions
}

// DiffOptions are people's choices.
type DiffOptions struct {
	Pairs          bool // conflicts are compared term by term
	Context        int
	Compare        diff.Compare
	MaxAlternation int // of changed words in one line; < 0 for no limit
	Pair           bool
	Style          repo.MarkerStyle
	NoPrefix       bool
	MaxBar         int // 0 for as wide as fits
}

// Entry is one path of a diff.
type Entry struct {
	Path          repo.Path
	From          repo.Path // where a copy comes from, else ""
	Rename        bool
	Before, After repo.Merge[repo.TreeValue]
}

// Source is the path on the left side.
func (e Entry) Source() repo.Path {
	if e.From != "" {
		return e.From
	}
	return e.Path
}

// Status is the word and the letter for what happened.
func (e Entry) Status() (string, string) {
	switch {
	case e.From != "" && e.Rename:
		return "renamed", "R"
	case e.From != "":
		return "copied", "C"
	case !repo.IsPresent(e.Before):
		return "added", "A"
	case !repo.IsPresent(e.After):
		return "removed", "D"
	}
	return "modified", "M"
}

// Shown is the path as people see it, both ends of a copy in one.
func (e Entry) Shown(p fileset.Paths) string {
	if e.From != "" {
		return p.FormatCopy(e.From, e.Path)
	}
	return p.Format(e.Path)
}

// Entries lists what differs, in order of path.
func (d *Diff) Entries(ctx context.Context) ([]Entry, error) {
	m := d.Match
	if m == nil {
		m = repo.Everything{}
	}
	var out []Entry
	err := repo.DiffTrees(ctx, d.Store, d.From, d.To, m, func(path repo.Path, before, after repo.Merge[repo.TreeValue]) error {
		if from := d.Copies.origin[path]; from != "" {
			source, err := repo.ValueAt(ctx, d.Store, d.From, from)
			if err != nil {
				return err
			}
			left, err := repo.ValueAt(ctx, d.Store, d.To, from)
			if err != nil {
				return err
			}
			out = append(out, Entry{Path: path, From: from, Rename: !repo.IsFileLike(left), Before: source, After: after})
			return nil
		}
		if !repo.IsPresent(after) && d.Copies.source[path] {
			return nil // the rename tells it
		}
		out = append(out, Entry{Path: path, Before: before, After: after})
		return nil
	})
	return out, err
}

// content is one side of a changed file as bytes to compare.
type content struct {
	kind     string // "", file, executable, symlink, submodule, conflict
	id       string
	data     []byte // of a large binary file its beginning
	size     int64
	binary   bool
	terms    [][]byte // of a conflict of files
	conflict bool
	mode     string
}

func (d *Diff) read(ctx context.Context, v repo.Merge[repo.TreeValue], labels repo.Labels) (content, error) {
	t, ok := v.AsResolved()
	if !ok {
		fc, err := repo.ReadFileConflict(ctx, d.Store, v, labels)
		if err != nil {
			return content{}, err
		}
		c := content{conflict: true, mode: "100644"}
		if fc == nil {
			c.data = []byte(repo.DescribeConflict(v, labels))
			c.size = int64(len(c.data))
			return c, nil
		}
		c.data = fc.Materialize(d.Opts.Style, repo.MarkerLen(fc.Contents))
		c.terms, c.size = fc.Contents, int64(len(c.data))
		if fc.Executable {
			c.mode = "100755"
		}
		return c, nil
	}
	var c content
	switch t.Kind {
	case repo.Absent:
		return c, nil
	case repo.File:
		c.kind, c.mode = "regular file", "100644"
	case repo.Executable:
		c.kind, c.mode = "executable file", "100755"
	case repo.Symlink:
		c.kind, c.mode = "symlink", "120000"
	case repo.Submodule:
		c.kind, c.mode = "Git submodule", "040000"
		c.id = hexOf(t.ID)
		return c, nil
	}
	c.id = hexOf(t.ID)
	if !t.IsFile() {
		var err error
		c.data, err = d.Store.File(ctx, t.FileID())
		c.size = int64(len(c.data))
		return c, err
	}
	return c, c.load(ctx, d.Store, t.FileID())
}

// headSize is how much of a file says whether it is binary, as git looks.
const headSize = 8000

// load reads a file. Of a large binary one it holds the beginning alone: nobody is shown the rest, and no revset searches it.
func (c *content) load(ctx context.Context, from repo.Store, id repo.FileID) error {
	r, size, err := from.OpenFile(ctx, id)
	if err != nil {
		return err
	}
	defer r.Close()
	head := make([]byte, min(size, headSize))
	if _, err := io.ReadFull(r, head); err != nil {
		return err
	}
	c.size, c.binary, c.data = size, bytes.IndexByte(head, 0) >= 0, head
	if c.binary && size > repo.LargeFile || size <= headSize {
		return nil
	}
	c.data = append(make([]byte, 0, size), head...)[:size]
	_, err = io.ReadFull(r, c.data[headSize:])
	return err
}

// same says whether both sides have the same bytes.
func (c content) same(o content) bool {
	return c.size == o.size && (c.id == o.id && c.id != "" || !c.binary && !o.binary && bytes.Equal(c.data, o.data))
}

func hexOf(s string) string {
	const digits = "0123456789abcdef"
	out := make([]byte, 0, 2*len(s))
	for i := 0; i < len(s); i++ {
		out = append(out, digits[s[i]>>4], digits[s[i]&15])
	}
	return string(out)
}

func (c content) present() bool { return c.mode != "" }

func (d *Diff) compare() diff.Compare {
	if d.Opts.Compare == nil {
		return diff.Exact
	}
	return d.Opts.Compare
}

// Summary writes one letter and path a line.
func (d *Diff) Summary(ctx context.Context, o *text.Text) error {
	es, err := d.Entries(ctx)
	for _, e := range es {
		label, letter := e.Status()
		o.Label(label, letter+" "+e.Shown(d.Paths))
		o.Label(label, "\n")
	}
	return err
}

// Types writes the kinds of both sides and the path.
func (d *Diff) Types(ctx context.Context, o *text.Text) error {
	es, err := d.Entries(ctx)
	for _, e := range es {
		o.Label("modified", kindLetter(e.Before)+kindLetter(e.After)+" "+e.Shown(d.Paths)+"\n")
	}
	return err
}

func kindLetter(v repo.Merge[repo.TreeValue]) string {
	t, ok := v.AsResolved()
	if !ok {
		return "C"
	}
	switch t.Kind {
	case repo.Absent:
		return "-"
	case repo.Symlink:
		return "L"
	case repo.Submodule:
		return "G"
	}
	return "F"
}

// Names writes the paths alone.
func (d *Diff) Names(ctx context.Context, o *text.Text) error {
	es, err := d.Entries(ctx)
	for _, e := range es {
		o.Str(d.Paths.Format(e.Path) + "\n")
	}
	return err
}
