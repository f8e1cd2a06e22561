package render

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"

	"tandem/internal/repo"
	"tandem/internal/repo/dsl"
	"tandem/internal/repo/template"
	"tandem/internal/repo/text"
)

// Verification is what became of checking a signature.
type Verification struct {
	Status       string // good, bad or "" for unknown
	Key, Display string
}

// ErrNoSignature says that what stands for a signature is none.
var ErrNoSignature = errors.New("Invalid signature")

// TreeEntry is a file of a tree.
type TreeEntry struct {
	Path  repo.Path
	Value repo.Merge[repo.TreeValue]
}

// AnnotationLine is a line of a file with the commit it is from.
type AnnotationLine struct {
	Commit      *repo.Commit
	Content     string
	Number      int
	Original    int
	FirstInHunk bool
}

func (l *Lang) bindTrees(ctx context.Context) {
	str, num := template.StringType, template.IntegerType
	l.RepoPath = &template.Type{
		Name: "RepoPath", Same: true,
		Write: func(o *text.Text, v any) error { o.Str(string(v.(repo.Path))); return nil },
		JSON:  func(v any) any { return string(v.(repo.Path)) },
	}
	l.RepoPathOpt = template.Option(l.RepoPath)
	l.RepoPath.Methods = func() map[string]template.Method {
		return map[string]template.Method{
			"absolute": template.Field(str, func(p repo.Path) any { return filepath.Join(l.Paths.Root, filepath.FromSlash(string(p))) }),
			"display":  template.Field(str, func(p repo.Path) any { return l.Paths.Format(p) }),
			"parent": template.Field(l.RepoPathOpt, func(p repo.Path) any {
				if p == "" {
					return nil
				}
				dir, _ := p.Split()
				return dir
			}),
		}
	}
	entry := func(path func(any) repo.Path, value func(any) repo.Merge[repo.TreeValue]) func() map[string]template.Method {
		return func() map[string]template.Method {
			return map[string]template.Method{
				"path":     template.Field(l.RepoPath, func(v any) any { return path(v) }),
				"conflict": template.Field(template.BooleanType, func(v any) any { return !value(v).IsResolved() }),
				"conflict_side_count": template.Field(num, func(v any) any {
					return int64(value(v).Simplify().Sides())
				}),
				"file_type":  template.Field(str, func(v any) any { return fileType(value(v)) }),
				"executable": template.Field(template.BooleanType, func(v any) any { return executable(value(v)) }),
			}
		}
	}
	l.TreeEntry = &template.Type{Name: "TreeEntry", Methods: entry(
		func(v any) repo.Path { return v.(TreeEntry).Path },
		func(v any) repo.Merge[repo.TreeValue] { return v.(TreeEntry).Value })}
	l.TreeEntries = template.List(l.TreeEntry, " ")
	l.TreeDiffEntry = &template.Type{Name: "TreeDiffEntry", Methods: func() map[string]template.Method {
		return map[string]template.Method{
			"path":              template.Field(l.RepoPath, func(e Entry) any { return e.Path }),
			"display_diff_path": template.Field(str, func(e Entry) any { return e.Shown(l.Paths) }),
			"status":            template.Field(str, func(e Entry) any { s, _ := e.Status(); return s }),
			"status_char":       template.Field(str, func(e Entry) any { _, c := e.Status(); return c }),
			"source":            template.Field(l.TreeEntry, func(e Entry) any { return TreeEntry{e.Source(), e.Before} }),
			"target":            template.Field(l.TreeEntry, func(e Entry) any { return TreeEntry{e.Path, e.After} }),
		}
	}}
	l.TreeDiffEntries = template.List(l.TreeDiffEntry, " ")
	l.StatEntry = &template.Type{Name: "DiffStatEntry", Methods: func() map[string]template.Method {
		return map[string]template.Method{
			"path":              template.Field(l.RepoPath, func(e StatEntry) any { return e.Path }),
			"display_diff_path": template.Field(str, func(e StatEntry) any { return e.Shown(l.Paths) }),
			"status":            template.Field(str, func(e StatEntry) any { s, _ := e.Status(); return s }),
			"status_char":       template.Field(str, func(e StatEntry) any { _, c := e.Status(); return c }),
			"lines_added":       template.Field(num, func(e StatEntry) any { return int64(e.Added) }),
			"lines_removed":     template.Field(num, func(e StatEntry) any { return int64(e.Removed) }),
			"bytes_delta":       template.Field(num, func(e StatEntry) any { return int64(e.Delta) }),
		}
	}}
	l.StatEntries = template.List(l.StatEntry, " ")
	l.bindStats()
	l.TreeDiff = &template.Type{Name: "TreeDiff", Methods: func() map[string]template.Method { return l.diffMethods(ctx) }}
	l.SignatureOpt = template.Option(&template.Type{Name: "CryptographicSignature", Methods: func() map[string]template.Method {
		return map[string]template.Method{
			"status": template.Getter(str, func(c commit) (any, error) {
				v, err := l.Verify(ctx, c)
				if errors.Is(err, ErrNoSignature) {
					return "invalid", nil
				}
				return cmp.Or(v.Status, "unknown"), err
			}),
			"key":     template.Getter(str, func(c commit) (any, error) { v, err := l.Verify(ctx, c); return v.Key, err }),
			"display": template.Getter(str, func(c commit) (any, error) { v, err := l.Verify(ctx, c); return v.Display, err }),
		}
	}})
	l.Trailer = &template.Type{
		Name:  "Trailer",
		Write: func(o *text.Text, v any) error { t := v.(Trailer); o.Str(t.Key + ": " + t.Value); return nil },
		Methods: func() map[string]template.Method {
			return map[string]template.Method{
				"key":   template.Field(str, func(t Trailer) any { return t.Key }),
				"value": template.Field(str, func(t Trailer) any { return t.Value }),
			}
		},
	}
	l.Trailers = trailerList(template.List(l.Trailer, "\n"))
	l.Annotation = &template.Type{Name: "AnnotationLine", Methods: func() map[string]template.Method {
		return map[string]template.Method{
			"commit":               template.Field(l.Commit, func(a AnnotationLine) any { return a.Commit }),
			"content":              template.Field(template.BytesType, func(a AnnotationLine) any { return a.Content }),
			"line_number":          template.Field(num, func(a AnnotationLine) any { return int64(a.Number) }),
			"original_line_number": template.Field(num, func(a AnnotationLine) any { return int64(a.Original) }),
			"first_line_in_hunk":   template.Field(template.BooleanType, func(a AnnotationLine) any { return a.FirstInHunk }),
		}
	}}
}

func fileType(v repo.Merge[repo.TreeValue]) string {
	t, ok := v.AsResolved()
	if !ok {
		return "conflict"
	}
	switch t.Kind {
	case repo.File, repo.Executable:
		return "file"
	case repo.Symlink:
		return "symlink"
	case repo.Subtree:
		return "tree"
	case repo.Submodule:
		return "git-submodule"
	}
	return ""
}

func executable(v repo.Merge[repo.TreeValue]) bool {
	for _, t := range v {
		if !t.IsFile() && !t.IsAbsent() {
			return false
		}
	}
	k, ok := repo.MapMerge(v, func(t repo.TreeValue) repo.Kind { return t.Kind }).Trivial()
	return ok && k == repo.Executable
}

type statsOf struct {
	d     *Diff
	list  []StatEntry
	width int
}

func (l *Lang) bindStats() {
	num := template.IntegerType
	total := func(f func(StatEntry) int) template.Method {
		return template.Field(num, func(s statsOf) any {
			n := 0
			for _, e := range s.list {
				n += f(e)
			}
			return int64(n)
		})
	}
	l.Stats = &template.Type{
		Name: "DiffStats",
		Write: func(o *text.Text, v any) error {
			s := v.(statsOf)
			s.d.WriteStats(o, s.list, s.width)
			return nil
		},
		Methods: func() map[string]template.Method {
			return map[string]template.Method{
				"files":         template.Field(l.StatEntries, func(s statsOf) any { return template.Items(s.list) }),
				"total_added":   total(func(e StatEntry) int { return e.Added }),
				"total_removed": total(func(e StatEntry) int { return e.Removed }),
			}
		},
	}
}

func (l *Lang) diffMethods(ctx context.Context) map[string]template.Method {
	shown := func(git bool, write func(d *Diff, o *text.Text) error) template.Method {
		return func(b *template.Builder, self *template.Expr, call *dsl.Node) (*template.Expr, error) {
			size, err := sizeArg(b, call, -1)
			if err != nil {
				return nil, err
			}
			usual := -1
			if git && l.GitContext != nil {
				if usual, err = l.GitContext(); err != nil {
					return nil, dsl.Exprf(call.NameSpan, "Failed to load diff settings").With(err)
				}
			}
			return template.Tmpl(func(o *text.Text) error {
				v, err := self.Eval()
				if err != nil {
					return o.Fail(err)
				}
				d := *v.(*Diff)
				n, err := size()
				if err != nil {
					return o.Fail(err)
				}
				if n < 0 {
					n = usual
				}
				if n >= 0 {
					d.Opts.Context = n
				}
				if err := write(&d, o); err != nil {
					return o.Fail(err)
				}
				return nil
			}), nil
		}
	}
	return map[string]template.Method{
		"files": template.Getter(l.TreeDiffEntries, func(d *Diff) (any, error) {
			es, err := d.Entries(ctx)
			return template.Items(es), err
		}),
		"color_words": shown(false, func(d *Diff, o *text.Text) error { return d.ColorWords(ctx, o) }),
		"git":         shown(true, func(d *Diff, o *text.Text) error { return d.Git(ctx, o) }),
		"summary":     shown(false, func(d *Diff, o *text.Text) error { return d.Summary(ctx, o) }),
		"stat": func(b *template.Builder, self *template.Expr, call *dsl.Node) (*template.Expr, error) {
			args, err := call.ExpectNamed(0, 2, "", "max_bar_width")
			if err != nil {
				return nil, err
			}
			sizes := []func() (int, error){func() (int, error) { return 80, nil }, nil}
			for i, arg := range args {
				if arg == nil {
					continue
				}
				if sizes[i], err = b.Size(arg); err != nil {
					return nil, err
				}
			}
			return template.Map(self, l.Stats, func(d *Diff) (any, error) {
				width, err := sizes[0]()
				if err != nil {
					return nil, err
				}
				if sizes[1] != nil {
					narrow := *d
					if narrow.Opts.MaxBar, err = sizes[1](); err != nil {
						return nil, err
					}
					d = &narrow
				}
				list, err := d.Stats(ctx)
				return statsOf{d, list, width}, err
			}), nil
		},
	}
}
