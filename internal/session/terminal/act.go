package terminal

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/provider"
	"tandem/internal/session"
	"tandem/internal/session/agents"
	"tandem/internal/tool"
)

// act keeps what the program did with a tool of its own, for people to see.
func (s *seat) act(ctx context.Context, e agents.Entry) {
	if s.row.Probe || e.Act.Ref == "" {
		return
	}
	s.circles(e.Act)
	var used provider.Usage
	if e.Message != "" && !s.heard[e.Message] { // pieces of one message repeat its usage
		s.heard[e.Message] = true
		used = provider.Usage{Input: e.Tokens.Input, Output: e.Tokens.Output, CacheRead: e.Tokens.CacheRead, CacheWrite: e.Tokens.CacheWrite}
	}
	a := session.Act{Ref: e.Act.Ref, Tool: e.Act.Tool, Args: e.Act.Args}
	if e.Act.Ended {
		a.Result = &tool.Result{Text: e.Act.Text, Error: e.Act.Bad, Meta: s.changes(e.Act.Changes)}
	}
	t, err := s.d.room.Acted(ctx, s.turn, a, e.Model, used)
	if fault.Is(err, fault.Conflict) { // the turn ended in its rows already
		return
	}
	if err != nil {
		s.d.log.Error("store what an agent did", "session", s.row.Session, "err", err)
		return
	}
	s.turn = t
}

// changes are the files that a call changed, as calls of every driver tell them.
func (s *seat) changes(all []agents.Change) map[string]any {
	if len(all) == 0 {
		return nil
	}
	var diff strings.Builder
	var paths []string
	for _, c := range all {
		if !filepath.IsAbs(c.Path) {
			c.Path = filepath.Join(s.row.Folder, c.Path)
		}
		diff.WriteString(c.Unified(s.row.Folder))
		if !slices.Contains(paths, c.Path) {
			paths = append(paths, c.Path)
		}
	}
	return map[string]any{"diff": diff.String(), "paths": paths}
}
