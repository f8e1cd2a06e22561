package repo

import (
	"context"
	"fmt"
	"strings"

	"tandem/internal/op"
	"tandem/internal/space/peer"
)

// leased asks this machine's daemon whether what was edited here may go out: a
// file that a peer of a space has leased, and that no server guards, is a person's
// to decide. The edits stay here meanwhile. It gives the files that go out.
func (c *command) leased(ctx context.Context) ([]string, error) {
	waiting, err := c.r.Waiting(ctx)
	if err != nil || waiting == 0 {
		return nil, err
	}
	files, err := c.r.Edited(ctx)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	_, err = op.Do(ctx, c.k, peer.SpaceChanged, peer.ChangedIn{Folder: c.r.Root, Paths: files, By: c.r.Workspace})
	return files, err
}

// went tells the members of a space who have leased what went out. Those whom it
// could not tell hear it from the server.
func (c *command) went(ctx context.Context, files []string) {
	if len(files) > 0 {
		_, _ = op.Do(ctx, c.k, peer.SpaceChanged, peer.ChangedIn{Folder: c.r.Root, Paths: files, By: c.r.Workspace, Sent: true})
	}
}

// baseMoved tells whoever leased a file here that it was changed below. That it
// could not be told is no reason to fail: the change itself is in the log.
func (c *command) baseMoved(ctx context.Context) {
	files, err := c.r.BaseMoved(ctx)
	if err != nil || len(files) == 0 {
		return
	}
	out, err := op.Do(ctx, c.k, peer.SpaceMoved, peer.ChangedIn{Folder: c.r.Root, Paths: files})
	if err == nil && len(out.IDs) > 0 {
		fmt.Fprintf(c.k.Err, "Warning: leased here, and changed under you: %s\n", strings.Join(out.IDs, ", "))
	}
}
