package host

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/lease"
	"tandem/internal/op"
	"tandem/internal/policy"
)

// shows says whether the caller may see a path of a repository, in a commit or as a name: what policy denies or labels of the served
// folder, or of any other checkout of it, is so in every commit.
func (s *served) shows(ctx context.Context, p string) bool {
	return op.SeesTracked(ctx, path.Join(s.realRoot(), p), repoAt(s.name))
}

// takes says whether the caller may lease a path or pattern: nothing that it covers is kept from it.
func (s *served) takes(ctx context.Context, leased string) bool {
	return op.Takes(ctx, s.realRoot(), leased, repoAt(s.name))
}

// tells says whether the caller may hear of another's lease.
func (s *served) tells(ctx context.Context, leased string) bool {
	return op.Tells(ctx, s.realRoot(), leased, repoAt(s.name))
}

// within says whether the place that a lease begins with is shown to the caller: one that is not covers nothing that the caller could
// lease.
func (s *served) within(ctx context.Context, leased string) bool {
	plain, _ := lease.Split(leased)
	return s.shows(ctx, plain)
}

// realRoot is the served folder as policy names it: without links, with slashes.
func (s *served) realRoot() string {
	root := s.root
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	return "/" + strings.TrimPrefix(filepath.ToSlash(root), "/")
}

// mayCopy refuses a copy of a repository to whoever is denied part of it: objects
// cannot be handed out in parts, and what is denied is in some of them. The user
// whose machine this is reads the folder itself.
func (h *Host) mayCopy(ctx context.Context, s *served) error {
	if c := op.CallerFrom(ctx); c.Kind == op.Local && c.Door == op.DoorSocket {
		return nil
	}
	v, err := h.Gate().Sight(ctx, "")
	if err != nil || v.Whole(s.realRoot(), policy.ResourceRef{Kind: policy.KindRepo, Path: repoAt(s.name).Path}) {
		return err
	}
	return fault.New(fault.Denied, "repo.pull", "part of %s is kept from you, so you get no copy of it: a copy would hold that part", s.name).
		WithNext("look at its commits, without that part, in the panel; or ask the server's owner for the right")
}
