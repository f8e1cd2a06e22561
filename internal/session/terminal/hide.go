package terminal

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/policy"
	"tandem/internal/session"
	"tandem/internal/tool"
	"tandem/internal/tool/box"
)

// view is what a program's box was built to show.
type view struct {
	scope *tool.Scope
	sight *policy.Sight
	holds bool // what the box shows is still what policy shows
	// unreached is what was denied of the network when the box was built.
	unreached []string
}

// scope is the working folder as the session may see it now, at work on its turn or by itself.
func (s *seat) scope(ctx context.Context, atWork bool) (*view, error) {
	c, err := s.d.caller(s.row.Tenant, s.row.Session)(ctx)
	if err != nil {
		return nil, err
	}
	if !atWork { // the next turn may be somebody else's
		c.Prompted = nil
	}
	return s.seen(ctx, c, "bash")
}

// seen is the working folder as a caller may see it with a tool.
func (s *seat) seen(ctx context.Context, c op.Caller, with string) (*view, error) {
	sight, err := s.d.gate.Sight(op.WithCaller(ctx, c), with)
	see, err := session.SightOf(sight, err)
	if err != nil {
		return nil, err
	}
	scope, err := s.wearing(ctx, see)
	return &view{scope: scope, sight: sight, holds: true}, err
}

// masks is what a box takes out of the folder; of one that is too large to be looked through, what policy names.
func (v *view) masks() ([]tool.Mask, error) {
	masks, err := v.scope.Masks()
	if fault.Is(err, fault.Exhausted) {
		return v.scope.Trees(), nil
	}
	return masks, err
}

// hide is what takes out of the working folder what policy keeps from the session, on top of that folder. The program's own state lies
// elsewhere.
func (s *seat) hide(ctx context.Context) ([]box.Mount, error) {
	if s.stage != nil || s.d.gate == nil {
		return nil, nil // a probe works in a folder of tandem's own
	}
	now, err := s.scope(ctx, false)
	if err != nil {
		return nil, err
	}
	masks, err := now.masks()
	if err != nil {
		return nil, err
	}
	var out []box.Mount
	for _, m := range masks {
		switch {
		case m.How != tool.Hide:
			out = append(out, box.Mount{From: m.Path, Write: m.How == tool.Show})
		case m.Folder:
			out = append(out, box.Empty(m.Path))
		default:
			out = append(out, box.Mount{From: os.DevNull, At: m.Path})
		}
	}
	now.unreached = now.sight.Unreached()
	s.looked.Store(now)
	s.judged = now.sight
	hides := append(denied(masks), cut(now.unreached)...)
	s.update(func(r *row) bool {
		r.Hides = &hides
		r.Boundary = s.d.boundary(r.Agent, r.Confined) + without(r.Folder, masks) + astray(now.unreached) + s.unrenewed()
		return true
	})
	return out, nil
}

// without says in words what people's denials take out of a folder.
func without(folder string, masks []tool.Mask) string {
	var hidden []string
	stores := ""
	for _, m := range masks {
		if rel, err := filepath.Rel(folder, m.Path); err == nil && m.How == tool.Hide && !m.House() {
			hidden = append(hidden, rel)
			if name := filepath.Base(m.Path); name == ".git" || name == ".jj" {
				stores = " (the stores of version control hold what is denied, too: git and jj find no repository there, and tandem's own " +
					"operations leave out what is denied)"
			}
		}
	}
	switch n := len(hidden); {
	case n == 0:
		return ""
	case n > maxNamed:
		hidden = append(hidden[:maxNamed], fmt.Sprintf("%d more", n-maxNamed))
	}
	return "; hidden from it: " + strings.Join(hidden, ", ") + stores
}

// astray says in words what of the network is denied to a program whose box has to have the network, for its model.
func astray(unreached []string) string {
	if len(unreached) == 0 {
		return ""
	}
	n := min(len(unreached), maxNamed)
	return "; denied to it, and within reach of what it runs: " + strings.Join(unreached[:n], ", ") +
		" (calls that name a denied host are refused; where the network is denied nothing is fetched or searched and every command asks; " +
		"what the program itself sends, to its model and its maker, nobody holds)"
}

// maxNamed bounds the sentence.
const maxNamed = 8

// boxed says whether the program's box hides all that policy keeps from the session now. A denial that came later is in no box that
// was built before it: until the program is started again, what could come to it asks.
func (s *seat) boxed(ctx context.Context) bool {
	was := s.looked.Load()
	if was == nil || s.row.Confined != "bwrap" {
		return false
	}
	now, err := s.scope(ctx, true)
	if err != nil {
		return false
	}
	if now.sight == was.sight {
		return was.holds
	}
	path, err := was.scope.Narrowed(now.scope)
	next := &view{was.scope, now.sight, err == nil && path == "", was.unreached}
	s.looked.CompareAndSwap(was, next)
	return next.holds
}
