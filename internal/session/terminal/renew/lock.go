package renew

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"tandem/internal/session/agents"
)

// stale is the age at which Claude Code takes a lock for one that was left behind.
const stale = 10 * time.Second

// lock takes the program's own lock on its sign-in, as is read in Claude Code and traced of Codex.
//
// Claude Code makes the folder .oauth_refresh.lock in its state folder, and for its older versions one beside that folder, before it
// asks its issuer; a lock whose time was not renewed for ten seconds is nobody's. Codex asks its issuer without one, and locks auth.lock
// to write: under that lock it sees that its sign-in is another one by now, and leaves it.
func lock(ctx context.Context, agent, config string) (free func(), err error) {
	if agent == agents.CodexName {
		return lockFile(ctx, filepath.Join(config, "auth.lock"))
	}
	inside, err := lockFolder(ctx, filepath.Join(config, ".oauth_refresh.lock"))
	if err != nil {
		return nil, err
	}
	beside, err := lockFolder(ctx, filepath.Clean(config)+".lock")
	if err != nil {
		inside()
		return nil, err
	}
	return func() { beside(); inside() }, nil
}

// lockFolder makes a folder that only one can make, and keeps it young.
func lockFolder(ctx context.Context, path string) (free func(), err error) {
	for {
		err := os.Mkdir(path, 0o700)
		if err == nil {
			break
		}
		if !os.IsExist(err) {
			return nil, err
		}
		if st, err := os.Stat(path); err == nil && time.Since(st.ModTime()) > stale {
			os.Remove(path) // whoever makes it next has it
			continue
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
	held, end := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(stale / 4)
		defer tick.Stop()
		for {
			select {
			case <-held.Done():
				return
			case now := <-tick.C:
				os.Chtimes(path, now, now) // if it is gone, so is the lock
			}
		}
	}()
	return func() {
		end()
		<-ended
		os.Remove(path)
	}, nil
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(100 * time.Millisecond):
		return nil
	}
}
