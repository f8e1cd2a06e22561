package job

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/session/checkout"
)

// maxDiff is how much of a diff is shown.
const maxDiff = 2 << 20

// diff is what the job changed, or the part of that which was asked for.
func (r *Room) diff(ctx context.Context, in wire.DiffIn) (out wire.DiffOut, err error) {
	j, err := r.get(ctx, op.CallerFrom(ctx).Tenant, in.ID)
	if err != nil {
		return out, err
	}
	if j.Commit == "" {
		return out, j.nothing("job.diff")
	}
	s, err := r.span(ctx, j, in)
	if err != nil {
		return out, err
	}
	if err := r.Tools.Genuine(ctx, j.Repo, s.from, s.to, true); err != nil {
		return out, err
	}
	changes, err := r.Tools.Changed(ctx, j.Repo, s.from, s.to)
	if err != nil {
		return out, err
	}
	p, err := r.parts(ctx, j)
	if err != nil {
		return out, err
	}
	out = wire.DiffOut{State: j.State, Base: j.Base, Commit: j.Commit, Part: s.part, Blanks: in.Blanks, Since: s.since, Steps: s.steps,
		Files: []wire.File{}}
	if j.masksStack(ctx); j.Held {
		out.On = j.On
	}
	out.Looked, out.Shown = j.viewedBy(op.CallerFrom(ctx))
	var without, paths []string
	words := map[byte]string{'A': "added", 'C': "added", 'D': "deleted", 'M': "changed", 'R': "renamed"}
	shown := func(name string) bool {
		return !s.carried[name] && sees(ctx, j.Repo, name) && sees(ctx, j.Repo, checkout.Named(name))
	}
	for _, c := range changes {
		if !shown(c.Path) || c.From != "" && !shown(c.From) {
			out.Hidden++
			without = append(without, c.Path)
			if c.From != "" {
				without = append(without, c.From)
			}
			continue
		}
		how := words[c.Status]
		if how == "" {
			how = "other"
		}
		paths = append(paths, c.Path)
		out.Files = append(out.Files, wire.File{Path: printed(c.Path), From: printed(c.From), How: how,
			Checks: j.Check != "" && (p.has(c.Path) || c.From != "" && p.has(c.From))})
	}
	if out.Diff, err = r.Tools.Patch(ctx, j.Repo, s.from, s.to, maxDiff, !in.Blanks, without...); err != nil {
		return out, err
	}
	long := len(out.Diff) > maxDiff
	if strings.Contains(out.Diff, "\nBinary files ") {
		all, err := r.Tools.Blobs(ctx, j.Repo, s.from, s.to)
		if err != nil {
			return out, err
		}
		all = slices.DeleteFunc(all, func(b checkout.Blob) bool { return slices.Contains(without, b.Path) })
		out.Diff = blobs(j.Repo, out.Diff, all, out.Files)
	}
	if !long {
		return out, nil
	}
	out.Diff, out.Cut = strings.ToValidUTF8(out.Diff[:maxDiff], ""), true
	counts, err := r.Tools.Counts(ctx, j.Repo, s.from, s.to)
	for i, p := range paths {
		out.Files[i].Added, out.Files[i].Deleted = counts[p][0], counts[p][1]
	}
	return out, err
}

// whole refuses a merge by somebody who cannot have seen all of what it brings in.
func (r *Room) whole(ctx context.Context, j *Job) error {
	out, err := r.diff(ctx, wire.DiffIn{ID: j.ID})
	switch {
	case err != nil:
		return err
	case out.Hidden > 0:
		return fault.New(fault.Denied, "job.merge", "you did not look at all of it: %d of its changed files you may not see", out.Hidden).
			WithNext("have somebody merge it who may see them")
	case out.Cut && !r.there(ctx, j):
		return fault.New(fault.Conflict, "job.merge", "you did not look at all of it: its diff is longer than the %d bytes that tandem shows",
			maxDiff).WithNext("look with git: git -C %[1]s diff %[2]s %[3]s; merge it with git, too: "+
			"git -C %[1]s merge %[3]s; then say it again here",
			quoted(j.Repo), j.Base, j.Commit)
	}
	return nil
}

// there says whether the branch holds the job's commit already.
func (r *Room) there(ctx context.Context, j *Job) bool {
	tip := r.tip(ctx, j.Repo, j.Onto)
	return tip != "" && r.Tools.Holds(ctx, j.Repo, tip, j.Commit)
}

// sees says whether the caller may look at a file of a repository. Policy knows no names with control characters, so nobody could grant or
// deny one: such a name is asked about with another character in place of each, which every pattern fits as well.
func sees(ctx context.Context, repo, file string) bool {
	return op.Sees(ctx, filepath.Join(repo, strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return '_'
		}
		return r
	}, file)))
}

// printed is a name as it is shown: quoted where it holds what does not print.
func printed(name string) string {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}
