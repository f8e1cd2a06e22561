// `jj file search`, as jj 0.45.1 has it: a string pattern over the content of files; sides of a conflict are searched
// each.

package jj

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/diff"
	"tandem/internal/repo/pattern"
)

func runFileSearch(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	c, err := w.revs.single(ctx, p.or("revision", "@"))
	if err != nil {
		return err
	}
	set, err := w.revs.fileArgs(p.all("pos"))
	if err != nil {
		return err
	}
	kind, text, ok := strings.Cut(p.str("pattern"), ":")
	if !ok {
		kind, text = "regex", p.str("pattern")
	}
	pat, err := pattern.New(kind, text)
	if err != nil {
		return clif("%s", err)
	}
	w.ui.page(ctx)
	err = repo.WalkTree(ctx, w.store, c.Tree, set, func(path repo.Path, v repo.Merge[repo.TreeValue]) error {
		sides, err := w.sidesOf(ctx, v)
		if err != nil {
			return err
		}
		name := w.paths().Format(path)
		for _, data := range sides {
			if n := writeMatches(w.ui.out, name, data, pat, p.has("line-number"), p.has("name-only")); n > 0 && p.has("name-only") {
				w.ui.printf("%s\n", name)
				break
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.warnUnmatched(ctx, set, c.Tree)
}

// sidesOf is the content of a file, or of each side of one in conflict.
func (st *state) sidesOf(ctx context.Context, v repo.Merge[repo.TreeValue]) ([][]byte, error) {
	if t, ok := v.AsResolved(); ok {
		if !t.IsFile() {
			return nil, nil
		}
		data, err := st.store.File(ctx, t.FileID())
		return [][]byte{data}, err
	}
	fc, err := repo.ReadFileConflict(ctx, st.store, v, nil)
	if err != nil || fc == nil {
		return nil, err
	}
	var out [][]byte
	for i := 0; i < len(fc.Contents); i += 2 {
		out = append(out, fc.Contents[i])
	}
	return out, nil
}

// writeMatches prints the lines that match, unless only to be counted, and
// says how many there are.
func writeMatches(out io.Writer, name string, data []byte, pat pattern.String, number, count bool) int {
	n := 0
	for i, s := range diff.Lines(data) {
		line := bytes.TrimSuffix(data[s.Start:s.End], []byte("\n"))
		if !pat.Match(string(line)) {
			continue
		}
		n++
		if count {
			return n
		}
		if number {
			fmt.Fprintf(out, "%s:%d:%s\n", name, i+1, line)
		} else {
			fmt.Fprintf(out, "%s:%s\n", name, line)
		}
	}
	return n
}
