package jj

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"tandem/internal/repo"
	"tandem/internal/repo/diff"
)

// fixAll runs the programs, as many at once as there are processors.
func (f *fixing) fixAll(ctx context.Context, list []toFix) error {
	var wg sync.WaitGroup
	var failed error
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, x := range list {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			id, err := f.fix(ctx, x)
			f.mu.Lock()
			defer f.mu.Unlock()
			if err != nil {
				failed = err
			} else if id != x.id {
				f.fixed[x] = id
			}
		})
	}
	wg.Wait()
	return failed
}

// fix sends one content through all programs that are meant for its path.
func (f *fixing) fix(ctx context.Context, x toFix) (repo.FileID, error) {
	old, err := f.w.store.File(ctx, x.id)
	if err != nil || len(old) == 0 {
		return x.id, err
	}
	var base []byte
	if x.base != "" && !f.allLines {
		if base, err = f.w.store.File(ctx, x.base); err != nil {
			return x.id, err
		}
	}
	now := old
	for _, tool := range f.tools {
		if !tool.match.Match(x.path) {
			continue
		}
		var more []string
		if tool.lineRange != "" {
			spans := changedSpans(base, now, x.base == "" || f.allLines)
			if len(spans) == 0 && !tool.always {
				continue
			}
			for _, s := range spans {
				more = append(more, strings.NewReplacer("$first", itoa(s.Start), "$last", itoa(s.End)).Replace(tool.lineRange))
			}
		}
		if out, ok := f.runTool(ctx, tool, x.path, now, more); ok {
			now = out
		}
	}
	if bytes.Equal(now, old) {
		return x.id, nil
	}
	return f.w.store.PutFile(ctx, now)
}

// changedSpans lists the first and last lines, from 1, of what differs.
func changedSpans(base, now []byte, whole bool) []diff.Span {
	count := func(b []byte) int { return len(diff.Lines(b)) }
	if len(now) == 0 {
		return nil
	}
	if whole {
		return []diff.Span{{Start: 1, End: count(now)}}
	}
	var out []diff.Span
	line := 1
	for _, h := range diff.ByLine(base, now).Hunks() {
		n := count(h.Contents[1])
		if !h.Matching && n > 0 {
			out = append(out, diff.Span{Start: line, End: line + n - 1})
		}
		line += n
	}
	return out
}

// runTool lets one program rewrite a content. When it fails, the content stays.
func (f *fixing) runTool(ctx context.Context, tool fixer, path repo.Path, data []byte, more []string) ([]byte, bool) {
	w := f.w
	vars := map[string]string{"path": string(path), "root": w.ws.root}
	args := append(interpolate(tool.cmd.Args[1:], vars), more...)
	cmd := w.ui.command(ctx, tool.cmd.Args[0], args...)
	cmd.Dir, cmd.Env, cmd.Stdin = w.ws.root, slices.Clone(w.io.Env), bytes.NewReader(data)
	for k, v := range tool.cmd.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil && cmd.ProcessState == nil {
		w.ui.warnf("Failed to start `%s`.", tool.cmd.Args[0])
		return nil, false
	}
	if errs.Len() > 0 {
		io.WriteString(w.io.Stderr, w.paths().Format(path)+":\n"+errs.String()+"\n")
	}
	if !cmd.ProcessState.Success() {
		w.ui.warnf("Fix tool `%s` exited with non-zero exit code for `%s`", tool.cmd.Args[0], w.paths().Format(path))
		return nil, false
	}
	return out.Bytes(), true
}
