package agents

import (
	"context"
	"os"
	"time"
)

// LockStale is the age at which Claude Code takes a lock for one that was left behind.
const LockStale = 10 * time.Second

// LockFolder takes a lock as Claude Code does: it makes a folder that only one can make, and keeps it young.
func LockFolder(ctx context.Context, path string) (free func(), err error) {
	for {
		err := os.Mkdir(path, 0o700)
		if err == nil {
			break
		}
		if !os.IsExist(err) {
			return nil, err
		}
		if st, err := os.Stat(path); err == nil && time.Since(st.ModTime()) > LockStale {
			os.Remove(path) // whoever makes it next has it
			continue
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	held, end := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(LockStale / 4)
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
