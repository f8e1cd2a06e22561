package peer

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
)

// Which says which space is meant.
type Which struct {
	Space string `json:"space,omitempty" jsonschema:"name or id of the space, when you are in several; that of your folder, or the last one you joined, when left out"`
}

// Choose means a space where none was named. The panel calls it with the one that a person looks at.
func (w *Which) Choose(space string) {
	if w.Space == "" {
		w.Space = space
	}
}

func (w Which) which() string { return w.Space }

// choice is which space a call is about: the one that it names, and the one that
// was taken because it named none of several.
type choice struct{ which, taken string }

type choiceKey struct{}

// choosing is a context of a call that may name a space.
func choosing(ctx context.Context, in any) context.Context {
	ch := &choice{}
	if w, ok := in.(interface{ which() string }); ok {
		ch.which = w.which()
	}
	return context.WithValue(ctx, choiceKey{}, ch)
}

func choiceFrom(ctx context.Context) *choice {
	if ch, ok := ctx.Value(choiceKey{}).(*choice); ok {
		return ch
	}
	return &choice{}
}

// took says in an answer which space it was.
func (s *Said) took(title string) { s.Space = title }

// mayHoldSeveral says who may be in several spaces: people. An agent has one,
// so that nothing it says ends up in another.
func mayHoldSeveral(c op.Caller) bool {
	return c.Session == "" && c.Client.ID == "" && (c.Kind == op.Person || c.Kind == op.Local)
}

// chosen is the caller's seat in the space that the call names; without a name
// the one whose folder the caller is in, or the one that was taken last. It is
// nil for a caller who has none.
func (r *Room) chosen(ctx context.Context) (out *seat, several bool, err error) {
	c, which := op.CallerFrom(ctx), choiceFrom(ctx).which
	who, folder, best, usable := owner(c), r.folderOf(ctx, c), -1, 0
	var named []*seat
	for _, s := range r.of(func(s *seat) bool { return s.tenant == c.Tenant && s.owner == who }) {
		s.mu.Lock()
		use, at, called := s.state == active || s.state == broken, s.folder, s.called(which)
		s.mu.Unlock()
		if called {
			if twin := slices.IndexFunc(named, func(o *seat) bool { return o.space == s.space }); twin < 0 {
				named = append(named, s)
			} else if use { // a seat that was lost before, and taken again
				named[twin] = s
			}
		}
		if !use {
			if out == nil {
				out = s
			}
			continue
		}
		usable++
		near := 0
		if within(folder, at) {
			near = len(at)
		}
		if near >= best {
			out, best = s, near
		}
	}
	switch {
	case which == "" || out == nil:
		return out, usable > 1, nil
	case len(named) == 1:
		return named[0], usable > 1, nil
	case len(named) > 1:
		return nil, true, fault.New(fault.Conflict, "space", "you are in several spaces called %q", clip(which)).
			WithNext("name one by its id: intandem_spaces")
	}
	return nil, true, fault.New(fault.NotFound, "space", "you are in no space called %q", clip(which)).WithNext("see yours: intandem_spaces")
}

// called says whether the space has that name or id. The caller holds s.mu.
func (s *seat) called(which string) bool {
	return which != "" && (s.space == which || s.sec.Base.Title == which || escape(s.sec.Base.Title) == which)
}

// within says whether a folder is another one or below it.
func within(folder, above string) bool {
	if folder == "" || above == "" {
		return false
	}
	rel, err := filepath.Rel(above, folder)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
