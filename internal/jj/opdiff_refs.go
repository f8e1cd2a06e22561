package jj

import (
	"context"
	"maps"
	"slices"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/revset"
	"tandem/internal/repo/text"
)

// showRefs writes which working copies, bookmarks and tags moved.
func (x *opDiff) showRefs(ctx context.Context, o *text.Text) error {
	from, to := x.from.View, x.to.View
	if err := x.workspaces(ctx, o); err != nil {
		return err
	}
	if err := x.local(ctx, o, "Changed local bookmarks:", from.Bookmarks, to.Bookmarks); err != nil {
		return err
	}
	if err := x.local(ctx, o, "Changed local tags:", from.Tags, to.Tags); err != nil {
		return err
	}
	bookmarks := func(v repo.RemoteView) map[string]repo.RemoteRef { return v.Bookmarks }
	if err := x.remote(ctx, o, "Changed remote bookmarks:", bookmarks); err != nil {
		return err
	}
	return x.remote(ctx, o, "Changed remote tags:", func(v repo.RemoteView) map[string]repo.RemoteRef { return v.Tags })
}

func (x *opDiff) workspaces(ctx context.Context, o *text.Text) error {
	from, to := x.from.View.Workspaces, x.to.View.Workspaces
	target := func(m map[string]repo.CommitID, name string) repo.RefTarget {
		if id, ok := m[name]; ok {
			return repo.Target(id)
		}
		return repo.NoTarget()
	}
	first := true
	for _, name := range bothKeys(from, to) {
		if from[name] == to[name] {
			continue
		}
		if first {
			o.Str("\n")
			first = false
		}
		o.Str("Changed working copy ")
		o.Label("working_copies", revset.FormatSymbol(name)+"@")
		o.Str(":\n")
		if err := x.targets(ctx, o, target(from, name), target(to, name), "", ""); err != nil {
			return err
		}
	}
	return nil
}

func bothKeys[V any](a, b map[string]V) []string {
	all := map[string]bool{}
	for k := range a {
		all[k] = true
	}
	for k := range b {
		all[k] = true
	}
	return slices.Sorted(maps.Keys(all))
}

func sameTarget(a, b repo.RefTarget) bool {
	return repo.IsAbsentTarget(a) && repo.IsAbsentTarget(b) || a.Equal(b)
}

func (x *opDiff) local(ctx context.Context, o *text.Text, title string, from, to map[string]repo.RefTarget) error {
	first := true
	for _, name := range bothKeys(from, to) {
		if sameTarget(from[name], to[name]) {
			continue
		}
		if first {
			o.Str("\n" + title + "\n")
			first = false
		}
		o.Str(revset.FormatSymbol(name) + ":\n")
		if err := x.targets(ctx, o, from[name], to[name], "", ""); err != nil {
			return err
		}
	}
	return nil
}

func (x *opDiff) remote(ctx context.Context, o *text.Text, title string, refs func(repo.RemoteView) map[string]repo.RemoteRef) error {
	from, to := map[string]repo.RemoteRef{}, map[string]repo.RemoteRef{}
	collect := func(v *repo.View, into map[string]repo.RemoteRef) {
		for remote, rv := range v.Remotes {
			if remote == repo.GitRemote {
				continue
			}
			for name, r := range refs(rv) {
				into[name+"\x00"+remote] = r
			}
		}
	}
	collect(x.from.View, from)
	collect(x.to.View, to)
	state := func(r repo.RemoteRef) string {
		if r.Tracked {
			return "tracked "
		}
		return "untracked "
	}
	first := true
	for _, key := range bothKeys(from, to) {
		a, b := from[key], to[key]
		if sameTarget(a.Target, b.Target) && a.Tracked == b.Tracked {
			continue
		}
		if first {
			o.Str("\n" + title + "\n")
			first = false
		}
		name, remote, _ := strings.Cut(key, "\x00")
		o.Str(revset.FormatRemote(name, remote) + ":\n")
		if err := x.targets(ctx, o, a.Target, b.Target, state(a), state(b)); err != nil {
			return err
		}
	}
	return nil
}

// targets writes where a ref is now and where it was.
func (x *opDiff) targets(ctx context.Context, o *text.Text, from, to repo.RefTarget, before, after string) error {
	if err := x.target(ctx, o, to, true, after); err != nil {
		return err
	}
	return x.target(ctx, o, from, false, before)
}

func (x *opDiff) target(ctx context.Context, o *text.Text, t repo.RefTarget, added bool, state string) error {
	line := func(id repo.CommitID, word string) error {
		mark(o, added)
		o.Str(state + word)
		c, err := x.pr.store.Commit(ctx, id)
		if err != nil {
			return err
		}
		if err := x.summary(o, c); err != nil {
			return err
		}
		o.Str("\n")
		return nil
	}
	switch {
	case repo.IsAbsentTarget(t):
		mark(o, added)
		o.Str(state + "(absent)\n")
		return nil
	case t.IsResolved():
		return line(t[0], "")
	}
	for i := 0; i < len(t); i += 2 {
		if t[i] != "" {
			if err := line(t[i], "(added) "); err != nil {
				return err
			}
		}
	}
	for i := 1; i < len(t); i += 2 {
		if t[i] != "" {
			if err := line(t[i], "(removed) "); err != nil {
				return err
			}
		}
	}
	return nil
}
