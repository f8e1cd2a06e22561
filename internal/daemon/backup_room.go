package daemon

import (
	"context"
	"time"

	"tandem/internal/fault"
)

// A copy reads one state of everything, and what is changed meanwhile waits beside the database until it is read (SQLite's WAL). Where the
// copy goes to a slow disk that takes long, and the room that waits for it must not be what the server needs.
const (
	waitsFreely = 64 << 20 // what may wait however full the disk is
	lookAtRoom  = time.Second
)

// whileRoom is ctx until so much waits for the copy that the disk runs full; stop ends the look.
func whileRoom(ctx context.Context, waiting func() (int64, error), room func() error) (_ context.Context, stop func()) {
	ctx, end := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(lookAtRoom)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			n, err := waiting()
			if err != nil || n <= waitsFreely {
				continue
			}
			if full := room(); full != nil {
				end(fault.New(fault.Unavailable, "server.backup",
					"the copy was given up: %d MB that were changed meanwhile wait for it, and %w", n>>20, full).
					WithNext("copy to a faster disk, or when less is written; or free some space: df -h"))
				return
			}
		}
	}()
	return ctx, func() { end(nil); <-ended }
}
