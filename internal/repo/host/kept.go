package host

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/policy"
)

// shows says whether the caller may see a path of a repository, in a commit or as a name: what policy denies or labels of the served
// folder, or of any other checkout of it, is so in every commit.
func (s *served) shows(ctx context.Context, p string) bool {
	return op.SeesTracked(ctx, path.Join(s.realRoot(), p), repoAt(s.name))
}

// showsLease says the same of a leased path, which may be a pattern: what it begins with decides.
func (s *served) showsLease(ctx context.Context, pattern string) bool {
	var plain []string
	for _, word := range strings.Split(pattern, "/") {
		if strings.Contains(word, "*") {
			break
		}
		plain = append(plain, word)
	}
	return s.shows(ctx, strings.Join(plain, "/"))
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
