// Sending, as jj 0.45.1 does: the plan is shown, git pushes with a lease on each ref, and the view follows what was
// taken.

package jj

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/revset"
)

// send runs git and records what the remote has taken.
func (x *push) send(ctx context.Context) error {
	w := x.w
	if err := checkRemoteName(x.remote); err != nil {
		return err
	}
	all, err := w.git.remotes(ctx)
	if err != nil {
		return err
	}
	if all[x.remote] == nil {
		return noRemote(x.remote)
	}
	if err := w.store.Flush(); err != nil {
		return err
	}
	args := []string{"push", "--porcelain", "--no-verify"}
	for _, o := range x.p.all("option") {
		args = append(args, "--push-option="+o)
	}
	var specs []string
	objects := make([]string, len(x.updates)) // what the remote is to have; annotated tags are objects of their own
	for i, u := range x.updates {
		before, err := x.object(ctx, u, x.remote, u.from)
		if err != nil {
			return err
		}
		if objects[i], err = x.object(ctx, u, repo.GitRemote, u.to); err != nil {
			return err
		}
		args = append(args, fmt.Sprintf("--force-with-lease=%s:%x", u.full(), before))
		specs = append(specs, fmt.Sprintf("%x:%s", objects[i], u.full()))
	}
	args = append(append(args, "--", x.remote), specs...)
	res, err := w.git.run(ctx, args)
	if err != nil {
		return err
	}
	stats, err := parsePush(res)
	if err != nil {
		return err
	}
	stats.say(w.ui)
	n := 0
	for i, u := range x.updates {
		if !stats.pushed[u.full()] {
			continue
		}
		n++
		if err := x.record(u, objects[i]); err != nil {
			return err
		}
	}
	ok := len(stats.rejected) == 0 && len(stats.refused) == 0
	if ok || n > 0 {
		if err := x.finish(ctx, x.title()); err != nil {
			return err
		}
	}
	if !ok {
		return userf("Failed to push some bookmarks")
	}
	return nil
}

// full is the ref's name on the remote.
func (u refMove) full() string { return u.kind.git + u.name }

// object is what git calls a commit for a ref: the annotated tag, where the ref
// of that remote is one and stands for the commit.
func (x *push) object(ctx context.Context, u refMove, remote string, id repo.CommitID) (string, error) {
	known := u.kind.remote(x.View, remote, u.name)
	if u.kind != tagKind || id == "" || !known.Tracked || !known.Target.Equal(repo.Target(id)) {
		return string(id), nil
	}
	full := u.kind.gitRef(remote, u.name)
	at, ok, err := x.w.store.CommitAt(ctx, full)
	if err != nil || !ok || at != id {
		return string(id), err
	}
	ref, _, err := x.w.store.ReadRef(full)
	return ref.ID, err
}

// record notes where a ref of the remote is now, in git and in the view.
func (x *push) record(u refMove, object string) error {
	full := u.kind.gitRef(x.remote, u.name)
	now, _, err := x.w.store.ReadRef(full)
	if err != nil {
		return err
	}
	target := repo.NoTarget()
	if u.to != "" {
		target = repo.Target(u.to)
	}
	if now.ID != object {
		if err := x.w.store.UpdateRef(full, now.ID, object); err != nil {
			return errors.Join(userf("The following bookmarks couldn't be updated locally: %s", revset.FormatRemote(u.name, x.remote)), err)
		}
	}
	if u.kind == bookmarkKind {
		x.View.SetGitRef(full, target)
	}
	u.kind.setRemote(x.View, x.remote, u.name, repo.RemoteRef{Target: target, Tracked: true})
	return nil
}

func (x *push) title() string {
	to := " to git remote " + revset.FormatSymbol(x.remote)
	switch {
	case x.p.has("all"):
		return "push all bookmarks/tags" + to
	case x.p.has("tracked"):
		return "push all tracked bookmarks/tags" + to
	case x.p.has("deleted"):
		return "push all deleted bookmarks/tags" + to
	}
	var parts []string
	for _, k := range []refKind{bookmarkKind, tagKind} {
		var names []string
		for _, u := range x.updates {
			if u.kind == k {
				names = append(names, u.name)
			}
		}
		switch len(names) {
		case 0:
		case 1:
			parts = append(parts, k.noun+" "+revset.FormatSymbol(names[0]))
		default:
			parts = append(parts, k.noun+"s "+symbols(names))
		}
	}
	return "push " + strings.Join(parts, ", ") + to
}
