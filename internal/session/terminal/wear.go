package terminal

import (
	"cmp"
	"context"

	"tandem/internal/session/agents"
	"tandem/internal/tool"
	"tandem/internal/tool/box"
)

// wearing is the working folder, and what a person gave the granted folder that holds it, as a sight shows them. It is looked up once for a
// box: what is given later is for the program's next start.
func (s *seat) wearing(ctx context.Context, see *tool.Sight) (*tool.Scope, error) {
	given := s.outfit.Load()
	if given == nil {
		o, err := s.d.room.Outfit(ctx, s.row.Tenant, s.row.Folder)
		if err != nil {
			return nil, err
		}
		given = &o
		s.outfit.Store(given)
	}
	return tool.NewScope([]tool.Folder{{Path: s.row.Folder, Outfit: *given}}).Seeing(see).Worn(), nil
}

// wear gives the program's box the toolchains and caches that commands of our own loop have, and returns what shows them. Its home stays
// its own, and so do the variables that steer the program itself.
func (s *seat) wear(b *box.Box, scope *tool.Scope, l Launch) ([]box.Mount, error) {
	who := tool.Wearer{Folder: orElse(s.row.Repo, s.row.Folder), Keeps: func(name string) bool { return agents.Steers(s.row.Agent, name) }}
	if l.tmp != "" { // a program with a sandbox of its own lets its commands write to /tmp, and nowhere in the home
		who.CachesAt = "/tmp/caches"
	}
	worn := *b
	worn.Mounts = nil
	if err := s.d.Kit.Wear(&worn, scope, who); err != nil {
		return nil, err
	}
	b.Env = worn.Env
	var places []string
	for _, m := range worn.Mounts {
		places = append(places, cmp.Or(m.At, m.From))
	}
	return worn.Mounts, s.clear(places...)
}
