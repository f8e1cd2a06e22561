package repo

import (
	"context"
	"fmt"
)

// Content is what somebody sees at a path of a tree: a file's bytes, a link's
// target, a conflict with its markers; nothing where there is nothing.
func Content(ctx context.Context, s Store, v Merge[TreeValue], labels Labels) ([]byte, error) {
	if !IsPresent(v) {
		return nil, nil
	}
	if one, ok := v.AsResolved(); ok {
		switch one.Kind {
		case File, Executable, Symlink:
			return s.File(ctx, FileID(one.ID))
		case Submodule:
			return fmt.Appendf(nil, "submodule at %x\n", one.ID), nil
		}
		return nil, nil
	}
	c, err := ReadFileConflict(ctx, s, v, labels)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return []byte(DescribeConflict(v, labels)), nil
	}
	return c.Materialize(DiffMarkers, MarkerLen(c.Contents)), nil
}
