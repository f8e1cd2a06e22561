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

// sight is what the caller may see of a repository, path by path: what policy
// denies or labels of the served folder, or of any other checkout of it, is so in
// every commit.
type sight struct {
	*policy.Sight
	root string
	at   policy.ResourceRef
}

func (h *Host) sight(ctx context.Context, s *served) (sight, error) {
	seen, err := h.Gate().Sight(ctx, "")
	root := filepath.ToSlash(s.root)
	if real, err := filepath.EvalSymlinks(s.root); err == nil {
		root = filepath.ToSlash(real)
	}
	if !strings.HasPrefix(root, "/") {
		root = "/" + root
	}
	return sight{seen, root, policy.ResourceRef{Kind: policy.KindRepo, Path: repoAt(s.name).Path}}, err
}

// shows says whether the caller may see a path.
func (v sight) shows(p string) bool { return !v.Denied(path.Join(v.root, p), v.at) }

// mayCopy refuses a copy of a repository to whoever is denied part of it: objects
// cannot be handed out in parts, and what is denied is in some of them. The user
// whose machine this is reads the folder itself.
func (h *Host) mayCopy(ctx context.Context, s *served) error {
	if c := op.CallerFrom(ctx); c.Kind == op.Local && c.Door == op.DoorSocket {
		return nil
	}
	v, err := h.sight(ctx, s)
	if err != nil || v.Whole(v.root, v.at) {
		return err
	}
	return fault.New(fault.Denied, "repo.pull", "part of %s is kept from you, so you get no copy of it: a copy would hold that part", s.name).
		WithNext("look at its commits, without that part, in the panel; or ask the server's owner for the right")
}
