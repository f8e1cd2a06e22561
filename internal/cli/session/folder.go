package session

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/cli/kit"
	"tandem/internal/op"
	room "tandem/internal/session"
)

// offerFolder tells whoever starts an agent in a folder that nobody granted, and offers on a terminal to grant it. The agent is started
// in any case: not every prompt is about files.
func offerFolder(ctx context.Context, k *kit.Kit, dir string) error {
	out, err := op.Do(ctx, k, room.FolderList, room.Nothing{})
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if slices.ContainsFunc(out.Folders, func(f room.Folder) bool {
		rel, err := filepath.Rel(f.Path, dir)
		return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
	}) {
		return nil
	}
	fmt.Fprintf(k.Err, "%s is not granted to sessions, so this agent reaches no file; grant it: tandem grant folder %s\n", dir, dir)
	if !k.Asks() {
		return nil
	}
	yes, err := k.Yes("grant it now, for reading, and changing with an approval?", false)
	if err != nil || !yes {
		return err
	}
	_, err = op.Do(ctx, k, room.FolderGrant, room.FolderIn{Path: dir})
	return err
}
