package renew

import (
	"context"
	"path/filepath"
	"time"

	"tandem/internal/session/agents"
)

// lock takes the program's own lock on its sign-in, as is read in Claude Code and traced of Codex.
//
// Claude Code makes the folder .oauth_refresh.lock in its state folder, and for its older versions one beside that folder, before it
// asks its issuer; a lock whose time was not renewed for ten seconds is nobody's. Codex asks its issuer without one, and locks auth.lock
// to write: under that lock it sees that its sign-in is another one by now, and leaves it.
func lock(ctx context.Context, agent, config string) (free func(), err error) {
	if agent == agents.CodexName {
		return lockFile(ctx, filepath.Join(config, "auth.lock"))
	}
	inside, err := agents.LockFolder(ctx, filepath.Join(config, ".oauth_refresh.lock"))
	if err != nil {
		return nil, err
	}
	beside, err := agents.LockFolder(ctx, filepath.Clean(config)+".lock")
	if err != nil {
		inside()
		return nil, err
	}
	return func() { beside(); inside() }, nil
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(100 * time.Millisecond):
		return nil
	}
}
