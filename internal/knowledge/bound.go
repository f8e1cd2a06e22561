package knowledge

import (
	"context"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// sessions are those that a caller is, or acts for.
func sessions(c op.Caller) (out []string) {
	for _, who := range c.Chain() {
		if name, ok := strings.CutPrefix(who, string(op.Session)+":"); ok && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if c.Session != "" && !slices.Contains(out, c.Session) {
		out = append(out, c.Session)
	}
	return out
}

// kept are the knowledge spaces that a caller is kept to, by the sessions that it is or acts for: what one of them may not read, it may
// not. bound is false where none of them was bound to any.
func (r *Room) kept(ctx context.Context, tx *db.Tx) (names []string, bound bool, err error) {
	if r.Bound == nil {
		return nil, false, nil
	}
	c := op.CallerFrom(ctx)
	for _, session := range sessions(c) {
		its, err := r.Bound(tx, c.Tenant, session)
		switch {
		case fault.Is(err, fault.NotFound) && c.Kind == op.Session && session != c.Name && session != c.Session: // it has that binding itself
		case fault.Is(err, fault.NotFound): // what it was bound to is not known any more
			names, bound = nil, true
		case err != nil:
			return nil, true, err
		case len(its) == 0:
		case !bound:
			names, bound = slices.Clone(its), true
		default:
			names = slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(its, n) })
		}
	}
	return names, bound, nil
}

// lets reports whether a caller may read a knowledge space, by what it is bound to, too.
func (r *Room) lets(ctx context.Context, tx *db.Tx, k *space) (bool, error) {
	if !reads(ctx, k) {
		return false, nil
	}
	names, bound, err := r.kept(ctx, tx)
	return err == nil && (!bound || slices.Contains(names, k.Name)), err
}

// Bindable refuses knowledge spaces that the caller may not read: nobody is bound to them in its name.
func (r *Room) Bindable(ctx context.Context, tx *db.Tx, names []string) error {
	for _, name := range names {
		if _, err := r.within(ctx, tx, name); err != nil {
			return err
		}
	}
	return nil
}
