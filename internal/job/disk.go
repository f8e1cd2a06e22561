package job

import (
	"context"
	"io/fs"
	"path/filepath"
	"time"
)

// maxDisk is how much a check may write, beside the files that it began with. It is measured while it runs.
const maxDisk = 8 << 30

// watch ends a check when its folders hold more than they may. What it returns waits for the end of the watch, and says whether
// that was so.
func (r *Room) watch(ctx context.Context, end func(), place string) (full func() bool) {
	most := size(place) + r.Disk
	over := make(chan bool, 1)
	go func() {
		for ctx.Err() == nil {
			began := time.Now()
			if size(place) > most {
				end()
				over <- true
				return
			}
			// Where there is much to look at, it is looked at less often.
			pause(ctx, nil, max(500*time.Millisecond, 10*time.Since(began)))
		}
		over <- size(place) > most // what ended by itself may have written more than it may, too
	}()
	return func() bool { return <-over }
}

// size is how much the files below a folder take up.
func size(at string) (n int64) {
	//nolint:errcheck // what goes while it is looked at takes up nothing
	filepath.WalkDir(at, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if st, err := d.Info(); err == nil && st.Mode().IsRegular() {
			n += st.Size()
		}
		return nil
	})
	return n
}
