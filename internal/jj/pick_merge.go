package jj

import (
	"bytes"
	"context"
	"fmt"

	"tandem/internal/jj/screen"
	"tandem/internal/repo"
)

// pickSides lets people settle files in conflict on the screen: for each place
// they take lines of the sides and of the base, or nothing.
func (tb *toolbox) pickSides(ctx context.Context, tree repo.MergedTree, list []conflicted) (repo.MergedTree, error) {
	p := &screen.Picker{Title: "Pick the lines that settle each conflict"}
	for _, k := range list {
		p.Files = append(p.Files, screen.File{Title: tb.paths().Format(k.path), Groups: sideGroups(k.file)})
	}
	if err := tb.runPicker(p); err != nil {
		return tree, resolveError(err)
	}
	ed := repo.EditTree(tb.store, tree)
	for i, k := range list {
		var text []byte
		for _, g := range p.Files[i].Groups {
			for _, l := range g.Lines {
				if !g.Pick || l.On {
					text = append(text, l.Text...)
				}
			}
		}
		id, err := tb.store.PutFile(ctx, text)
		if err != nil {
			return tree, err
		}
		ed.Set(k.path, k.value(id))
	}
	return ed.Write(ctx)
}

// sideGroups are the stretches of a file in conflict: what is settled, and for
// each place that is not the lines of each term.
func sideGroups(f *repo.FileConflict) (out []screen.Group) {
	n := 0
	lines := func(text []byte, mark byte) (out []screen.Line) {
		for _, l := range bytes.SplitAfter(text, []byte("\n")) {
			if len(l) > 0 {
				out = append(out, screen.Line{Mark: mark, Text: string(l)})
			}
		}
		return out
	}
	for _, h := range repo.MergeFiles(f.Contents) {
		if h.IsResolved() {
			out = append(out, screen.Group{Lines: lines(h[0], ' ')})
			continue
		}
		n++
		for i, text := range h {
			name, mark, label := fmt.Sprintf("side %d", i/2+1), byte('+'), f.Labels.Add(i/2)
			if i%2 == 1 {
				name, mark, label = "base", '-', f.Labels.Remove(i/2)
			}
			if label != "" {
				name += ": " + label
			}
			if len(text) > 0 { // an empty one is the same as nothing
				out = append(out, screen.Group{Title: fmt.Sprintf("conflict %d, %s", n, name), Pick: true, Choice: n, Lines: lines(text, mark)})
			}
		}
		out = append(out, screen.Group{Title: fmt.Sprintf("conflict %d, nothing", n), Pick: true, Choice: n})
	}
	return out
}
