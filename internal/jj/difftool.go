// Diff editors, as jj 0.45.1 starts them: two or three folders, a JJ-INSTRUCTIONS file, and the right one is read back.

package jj

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/repo"
)

// diffTool is a program in which people adjust one side of a diff.
type diffTool struct {
	tb *toolbox
	t  *tool
}

func (tb *toolbox) diffEditor(name string) (*diffTool, error) {
	t, err := tb.toolFor(name, "diff-editor")
	if err != nil {
		return nil, err
	}
	if !t.builtin && len(t.editArgs) == 0 {
		return nil, userf("Failed to load tool configuration").because(userf("The tool `%s` cannot be used as a diff editor", t.name))
	}
	return &diffTool{tb, t}, nil
}

// side is a tree's changed files in a folder.
type side struct {
	dir   string
	files map[repo.Path]written
	paths []repo.Path // that may be there; others do not count
}

// written is a file as it was put into the folder.
type written struct {
	value     repo.Merge[repo.TreeValue]
	data      []byte
	markerLen int
}

// edit lets the user adjust the right tree.
func (d *diffTool) edit(ctx context.Context, left, right repo.MergedTree, match repo.Matcher,
	instructions string) (repo.MergedTree, error) {
	if d.t.builtin {
		return d.tb.pickDiff(ctx, left, right, match)
	}
	out, err := d.editTrees(ctx, left, right, match, instructions)
	if err != nil {
		if _, ok := err.(*unsupported); ok {
			return left, err
		}
		return left, userf("Failed to edit diff").because(err)
	}
	return out, nil
}

func (d *diffTool) editTrees(ctx context.Context, left, right repo.MergedTree, match repo.Matcher,
	instructions string) (repo.MergedTree, error) {
	tb := d.tb
	var paths []repo.Path
	err := repo.DiffTrees(ctx, tb.store, left, right, match, func(p repo.Path, _, _ repo.Merge[repo.TreeValue]) error {
		paths = append(paths, p)
		return nil
	})
	if err != nil {
		return left, err
	}
	tmp, err := os.MkdirTemp(tb.tempDir(), "jj-diff-")
	if err != nil {
		return left, err
	}
	defer removeAll(tmp)
	style, err := tb.markerStyle()
	if err != nil {
		return left, err
	}
	if d.t.style != nil {
		style = *d.t.style
	}
	three := slices.ContainsFunc(d.t.editArgs, func(a string) bool { return strings.Contains(a, "$output") })
	vars := map[string]string{}
	sides := map[string]*side{}
	for _, s := range []struct {
		name string
		tree repo.MergedTree
		on   bool
	}{{"left", left, true}, {"right", right, true}, {"output", right, three}} {
		if !s.on {
			continue
		}
		out, err := tb.writeSide(ctx, filepath.Join(tmp, s.name), s.tree, paths, style)
		if err != nil {
			return left, err
		}
		sides[s.name], vars[s.name] = out, out.dir
	}
	result := sides["right"]
	readOnly(sides["left"].dir)
	if three {
		result = sides["output"]
		readOnly(sides["right"].dir)
	}
	on, err := tb.conf.Bool("ui.diff-instructions")
	if err != nil {
		return left, err
	}
	note := filepath.Join(result.dir, "JJ-INSTRUCTIONS")
	if !on || exists(note) {
		note = ""
	} else if err := writeNotes(note, sides["right"].dir, three, instructions); err != nil {
		return left, err
	}
	if err := d.invoke(ctx, vars, paths); err != nil {
		return left, err
	}
	if note != "" {
		os.Remove(note)
	}
	return tb.readSide(ctx, result, right)
}

func writeNotes(note, rightDir string, three bool, instructions string) error {
	const experimental = "You are using the experimental 3-pane diff editor config. Some of\n" +
		"the following instructions may have been written with a 2-pane\ndiff editing in mind and be a little inaccurate.\n\n"
	text := instructions
	if three {
		keep := "The content of this pane should NOT be edited. Any edits will be\nlost.\n\n" + experimental + instructions
		if err := os.WriteFile(filepath.Join(rightDir, "JJ-INSTRUCTIONS"), []byte(keep), 0o644); err != nil {
			return err
		}
		text = "Please make your edits in this pane.\n\n" + experimental + instructions
	}
	return os.WriteFile(note, []byte(text), 0o644)
}

func (d *diffTool) invoke(ctx context.Context, vars map[string]string, paths []repo.Path) error {
	run := func(v map[string]string) error {
		code, err := d.tb.runTool(ctx, d.t, interpolate(d.t.editArgs, v))
		if err == nil && code != 0 {
			err = toolAborted(code)
		}
		return err
	}
	if !d.t.editFiles {
		return run(vars)
	}
	for _, p := range paths {
		v := map[string]string{}
		for k, dir := range vars {
			v[k] = filepath.Join(dir, filepath.FromSlash(string(p)))
		}
		if err := run(v); err != nil {
			return err
		}
	}
	return nil
}

func (e *env) tempDir() string {
	if d := e.io.getenv("TMPDIR"); d != "" {
		return d
	}
	return os.TempDir()
}

func readOnly(dir string) {
	filepath.WalkDir(dir, func(p string, en fs.DirEntry, err error) error {
		if err == nil && en.Type().IsRegular() {
			if st, err := en.Info(); err == nil {
				os.Chmod(p, st.Mode()&^0o222)
			}
		}
		return nil
	})
}

func removeAll(dir string) { os.RemoveAll(dir) }

// writeSide puts some files of a tree into a new folder.
func (tb *toolbox) writeSide(ctx context.Context, dir string, tree repo.MergedTree, paths []repo.Path,
	style repo.MarkerStyle) (*side, error) {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	s := &side{dir: dir, files: map[repo.Path]written{}, paths: paths}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, p := range paths {
		v, err := repo.ValueAt(ctx, tb.store, tree, p)
		if err != nil {
			return nil, err
		}
		if t, ok := v.AsResolved(); ok && (t.IsAbsent() || t.IsTree() || t.Kind == repo.Submodule) {
			continue
		}
		f := written{value: v, markerLen: repo.MinMarkerLen}
		name := filepath.FromSlash(string(p))
		if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return nil, err
		}
		mode := os.FileMode(0o644)
		if t, ok := v.AsResolved(); ok {
			if f.data, err = tb.store.File(ctx, t.FileID()); err != nil {
				return nil, err
			}
			if t.Kind == repo.Symlink {
				if err := root.Symlink(string(f.data), name); err != nil {
					return nil, err
				}
				s.files[p] = f
				continue
			}
			if t.Kind == repo.Executable {
				mode = 0o755
			}
		} else {
			fc, err := repo.ReadFileConflict(ctx, tb.store, v, tree.Labels)
			if err != nil {
				return nil, err
			}
			if fc == nil {
				f.data = []byte(repo.DescribeConflict(v, tree.Labels))
			} else {
				f.markerLen = repo.MarkerLen(fc.Contents)
				f.data = fc.Materialize(style, f.markerLen)
				if fc.Executable {
					mode = 0o755
				}
			}
		}
		if err := root.WriteFile(name, f.data, mode); err != nil {
			return nil, err
		}
		s.files[p] = f
	}
	return s, nil
}

// readSide is a tree with what a folder holds now.
func (tb *toolbox) readSide(ctx context.Context, s *side, base repo.MergedTree) (repo.MergedTree, error) {
	ed := repo.EditTree(tb.store, base)
	seen := map[repo.Path]bool{}
	changed := false
	err := filepath.WalkDir(s.dir, func(full string, en fs.DirEntry, err error) error {
		if err != nil || en.IsDir() {
			return err
		}
		rel, err := filepath.Rel(s.dir, full)
		if err != nil {
			return err
		}
		p := repo.Path(filepath.ToSlash(rel))
		if !slices.Contains(s.paths, p) {
			return nil
		}
		seen[p] = true
		v, err := tb.readBack(ctx, s.files[p], full, en)
		if err != nil {
			return err
		}
		if old, ok := s.files[p]; !ok || !old.value.Equal(v) {
			ed.Set(p, v)
			changed = true
		}
		return nil
	})
	if err != nil {
		return base, err
	}
	for p := range s.files {
		if !seen[p] {
			ed.Set(p, repo.Resolved(repo.TreeValue{}))
			changed = true
		}
	}
	if !changed {
		return base, nil
	}
	return ed.Write(ctx)
}

func (tb *toolbox) readBack(ctx context.Context, old written, full string, en fs.DirEntry) (repo.Merge[repo.TreeValue], error) {
	if en.Type()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(full)
		if err != nil {
			return nil, err
		}
		id, err := tb.store.PutFile(ctx, []byte(target))
		return repo.Resolved(repo.TreeValue{Kind: repo.Symlink, ID: string(id)}), err
	}
	data, err := os.ReadFile(full)
	if err != nil {
		return nil, err
	}
	st, err := en.Info()
	if err != nil {
		return nil, err
	}
	kind := repo.File
	if st.Mode()&0o111 != 0 {
		kind = repo.Executable
	}
	if old.value != nil && !old.value.IsResolved() {
		if bytes.Equal(old.data, data) {
			return old.value, nil
		}
		if ids, ok := repo.FileIDs(old.value); ok {
			now, err := repo.UpdateConflict(ctx, tb.store, ids, data, old.markerLen)
			if err != nil {
				return nil, err
			}
			if len(now) > 1 {
				return withIDs(old.value, now), nil
			}
		}
	}
	id, err := tb.store.PutFile(ctx, data)
	return repo.Resolved(repo.TreeValue{Kind: kind, ID: string(id)}), err
}

// withIDs is a conflict of files with other contents.
func withIDs(v repo.Merge[repo.TreeValue], ids repo.Merge[repo.FileID]) repo.Merge[repo.TreeValue] {
	out := v.Clone()
	for i, id := range ids {
		switch {
		case i >= len(out):
		case id == "":
			out[i] = repo.TreeValue{}
		default:
			if out[i].IsAbsent() {
				out[i].Kind = repo.File
			}
			out[i].ID = string(id)
		}
	}
	return out
}
