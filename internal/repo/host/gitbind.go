package host

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/repo"
)

// target is a bookmark on its way to a remote: where it is, and where the remote's was when we last saw it.
type target struct{ name, at, lease string }

// targets are the bookmarks that a push means, as they are now.
func targets(r *repo.Repo, in GitIn) (out []target, err error) {
	names := slices.Clone(in.Bookmarks)
	if len(names) == 0 {
		for name := range r.View.Bookmarks {
			names = append(names, name)
		}
		slices.Sort(names)
	}
	for _, name := range names {
		id, ok := r.View.Bookmark(name).AsResolved()
		if !ok || id == "" {
			return nil, fault.New(fault.Conflict, "repo.git_push", "the bookmark %q is conflicted or does not exist", name).
				WithNext("see: tandem bookmark list")
		}
		t := target{name: name, at: id.Hex()}
		if at, ok := r.View.RemoteBookmark(in.remote(), name).Target.AsResolved(); ok {
			t.lease = at.Hex()
		}
		out = append(out, t)
	}
	if len(out) == 0 {
		return nil, fault.New(fault.Invalid, "repo.git_push", "there is no bookmark to push").
			WithNext("make one: tandem bookmark create NAME -r REV")
	}
	return out, nil
}

// bindPush says what a push means at this moment: where the remote is, which commit each bookmark is at and what it brings there.
// Approved is that, and not whatever the bookmark is moved to afterwards.
func (h *Host) bindPush(ctx context.Context, in GitIn) ([]op.Bound, error) {
	s, err := h.find(ctx, in.Repo)
	if err != nil {
		return nil, err
	}
	url, _, err := s.address(ctx, in.remote(), "--push", "--all")
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	r, err := h.refresh(ctx, s)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	list, err := targets(r, in)
	if err != nil {
		return nil, err
	}
	out := []op.Bound{{Name: "remote " + in.remote(), Value: url}}
	for _, t := range list {
		out = append(out, op.Bound{Name: "bookmark " + t.name, Value: t.at})
	}
	for _, t := range list {
		shown, err := s.brings(ctx, t)
		if err != nil {
			return nil, err
		}
		out = append(out, shown...)
	}
	return out, nil
}

// bindFetch says where a fetch would fetch from.
func (h *Host) bindFetch(ctx context.Context, in GitIn) ([]op.Bound, error) {
	s, err := h.find(ctx, in.Repo)
	if err != nil {
		return nil, err
	}
	url, _, err := s.address(ctx, in.remote())
	return []op.Bound{{Name: "remote " + in.remote(), Value: url}}, err
}

// Of what a push brings, as many commits are listed and as much of the diff is shown; of a longer one the files.
const (
	pushCommits = 40
	pushDiff    = 96 << 10
)

// brings lists the commits that a bookmark takes to its remote, with their diff.
func (s *served) brings(ctx context.Context, t target) ([]op.Bound, error) {
	from, span := "4b825dc642cb6eb9a060e54bf8d69288fbee4904", []string{t.at} // the empty tree: all of it is new there
	if t.lease != "" {
		from, span = t.lease, []string{t.at, "^" + t.lease}
	}
	log, _, err := s.shown(ctx, pushDiff, slices.Concat([]string{"log", "--format=%h %an: %s", fmt.Sprintf("--max-count=%d", pushCommits)},
		span, []string{"--"})...)
	if err != nil {
		return nil, err
	}
	plain := []string{"--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--no-relative", "--ignore-submodules=all"}
	text, whole, err := s.shown(ctx, pushDiff, slices.Concat([]string{"diff"}, plain, []string{from, t.at, "--"})...)
	if err != nil {
		return nil, err
	}
	out := []op.Bound{{Name: "commits of " + t.name, Value: log, Shown: true}}
	if whole {
		return append(out, op.Bound{Name: "diff of " + t.name, Value: text, Shown: true, Diff: true}), nil
	}
	text, _, err = s.shown(ctx, pushDiff, slices.Concat([]string{"diff", "--numstat"}, plain, []string{from, t.at, "--"})...)
	return append(out, op.Bound{Name: "files of " + t.name + " (the diff is longer than " + fmt.Sprint(pushDiff>>10) + " KiB)", Value: text,
		Shown: true}), err
}

// shown is what a git command that only reads says, up to a length; whole says that this is all.
func (s *served) shown(ctx context.Context, most int, args ...string) (text string, whole bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	cmd, err := s.safeGit(ctx, args...)
	if err != nil {
		return "", false, err
	}
	out := limited{most: most}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := ended(cmd.Run()); err != nil && !out.full {
		return "", false, fault.New(fault.Conflict, "repo.git_push", "git %s failed: %.300s", args[0], strings.TrimSpace(said.String()))
	}
	return strings.ToValidUTF8(strings.TrimSuffix(out.String(), "\n"), "\uFFFD"), !out.full, nil
}

// limited keeps the beginning of what is written to it, and ends the writer when there is more.
type limited struct {
	bytes.Buffer
	most int
	full bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.full = l.full || l.Len()+len(p) > l.most; l.full {
		return 0, io.ErrShortWrite
	}
	return l.Buffer.Write(p)
}

// moved refuses an exchange whose names mean something else than what was approved a moment ago.
func moved(ctx context.Context, url string, in GitIn, list []target) error {
	was, asked := op.BoundIn(ctx, "remote "+in.remote())
	if !asked {
		return nil
	}
	other := ""
	if was != url {
		other = "the remote " + in.remote()
	}
	for _, t := range list {
		if at, ok := op.BoundIn(ctx, "bookmark "+t.name); !ok || at != t.at {
			other = "the bookmark " + t.name
		}
	}
	if other == "" {
		return nil
	}
	return fault.New(fault.Conflict, "repo.git", "%s is not what was approved any more", other).WithNext("repeat the call to ask again")
}
