// Choosing changes on a screen. The screen is our own; what it is asked for is what jj 0.45.1 asks its built-in editor.

package jj

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"tandem/internal/jj/screen"
	"tandem/internal/repo"
	"tandem/internal/repo/diff"
)

// picking is a file in the picker and what it is made of.
type picking struct {
	path          repo.Path
	before, after repo.Merge[repo.TreeValue]
	mode          int // the group that changes the mode, or -1
	text          bool
}

// pickDiff lets people choose, on the screen, what of the right tree's changes
// stays. Nothing is chosen at first.
func (tb *toolbox) pickDiff(ctx context.Context, left, right repo.MergedTree, match repo.Matcher) (repo.MergedTree, error) {
	var parts []picking
	p := &screen.Picker{Title: "Pick the changes to take"}
	err := repo.DiffTrees(ctx, tb.store, left, right, match, func(path repo.Path, before, after repo.Merge[repo.TreeValue]) error {
		part, file, err := tb.pickingOf(ctx, path, before, after)
		parts, p.Files = append(parts, part), append(p.Files, file)
		return err
	})
	if err != nil {
		return left, err
	}
	if err := tb.runPicker(p); err != nil {
		return left, userf("Failed to edit diff").because(err)
	}
	ed := repo.EditTree(tb.store, right)
	for i, part := range parts {
		v, err := tb.pickedValue(ctx, part, p.Files[i])
		if err != nil {
			return left, err
		}
		if !v.Equal(part.after) {
			ed.Set(part.path, v)
		}
	}
	return ed.Write(ctx)
}

func (tb *toolbox) runPicker(p *screen.Picker) error {
	out, _ := tb.io.Stdout.(*os.File)
	if !isTerminal(tb.io.Stdout) {
		out, _ = tb.io.Stderr.(*os.File)
	}
	return p.Run(out)
}

// pickingOf makes a file of the picker from a path that differs.
func (tb *toolbox) pickingOf(ctx context.Context, path repo.Path, before, after repo.Merge[repo.TreeValue]) (picking, screen.File, error) {
	part := picking{path: path, before: before, after: after, mode: -1}
	file := screen.File{Title: tb.paths().Format(path)}
	whole := func(title string) (picking, screen.File, error) {
		file.Groups = []screen.Group{{Title: title, Pick: true}}
		return part, file, nil
	}
	b, okB := before.AsResolved()
	a, okA := after.AsResolved()
	plain := func(v repo.TreeValue) bool { return v.IsFile() || v.IsAbsent() }
	if !okA || !okB || !plain(a) || !plain(b) {
		return whole("the whole file: " + kindWord(before) + " → " + kindWord(after))
	}
	x, err := tb.contentOf(ctx, b)
	if err != nil {
		return part, file, err
	}
	y, err := tb.contentOf(ctx, a)
	if err != nil {
		return part, file, err
	}
	if bytes.IndexByte(x, 0) >= 0 || bytes.IndexByte(y, 0) >= 0 {
		return whole("the whole file, which is not text")
	}
	part.text = true
	if !a.IsAbsent() && !b.IsAbsent() && a.Kind != b.Kind {
		part.mode = 0
		file.Groups = append(file.Groups, screen.Group{Title: "mode: " + kindWord(before) + " → " + kindWord(after), Pick: true})
	}
	n := len(file.Groups)
	file.Groups = append(file.Groups, lineGroups(x, y)...)
	if len(file.Groups) == n && part.mode < 0 {
		return whole("an empty file: " + kindWord(before) + " → " + kindWord(after))
	}
	return part, file, nil
}

// lineGroups are the stretches of two texts.
func lineGroups(x, y []byte) (out []screen.Group) {
	at := 1
	for _, h := range diff.ByLine(x, y).Hunks() {
		if h.Matching {
			g := screen.Group{}
			for _, l := range bytes.SplitAfter(h.Contents[0], []byte("\n")) {
				if len(l) > 0 {
					g.Lines = append(g.Lines, screen.Line{Mark: ' ', Text: string(l)})
				}
			}
			out, at = append(out, g), at+len(g.Lines)
			continue
		}
		g := screen.Group{Title: fmt.Sprintf("from line %d", at), Pick: true}
		for side, mark := range []byte{'-', '+'} {
			for _, l := range bytes.SplitAfter(h.Contents[side], []byte("\n")) {
				if len(l) > 0 {
					g.Lines = append(g.Lines, screen.Line{Mark: mark, Text: string(l)})
					at += 1 - side
				}
			}
		}
		out = append(out, g)
	}
	return out
}

func kindWord(v repo.Merge[repo.TreeValue]) string {
	t, ok := v.AsResolved()
	if !ok {
		return "conflict"
	}
	return map[repo.Kind]string{repo.Absent: "nothing", repo.File: "file", repo.Executable: "executable file", repo.Symlink: "symlink",
		repo.Subtree: "folder", repo.Submodule: "submodule"}[t.Kind]
}

func (tb *toolbox) contentOf(ctx context.Context, v repo.TreeValue) ([]byte, error) {
	if v.IsAbsent() {
		return nil, nil
	}
	return tb.store.File(ctx, v.FileID())
}

// pickedValue is what a file becomes by what was chosen.
func (tb *toolbox) pickedValue(ctx context.Context, part picking, file screen.File) (repo.Merge[repo.TreeValue], error) {
	on, all := file.Picked()
	switch {
	case on == 0:
		return part.before, nil
	case on == all || !part.text:
		return part.after, nil
	}
	b, _ := part.before.AsResolved()
	a, _ := part.after.AsResolved()
	kind := b.Kind
	if b.IsAbsent() || part.mode >= 0 && file.Groups[part.mode].On {
		kind = a.Kind
	}
	var text []byte
	for _, g := range file.Groups {
		for _, l := range g.Lines {
			if l.Mark == ' ' || (l.Mark == '+') == l.On {
				text = append(text, l.Text...)
			}
		}
	}
	id, err := tb.store.PutFile(ctx, text)
	return repo.Resolved(repo.TreeValue{Kind: kind, ID: string(id)}), err
}
