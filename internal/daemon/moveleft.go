package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"tandem/internal/db"
	"tandem/internal/installation"
)

// tidyMove takes away the SQLite file that a move which was cut off left beside a house in PostgreSQL: what had not arrived is removed,
// what had been left already is set aside, as the move itself does. Any other file of that name is somebody's, and stays.
func (d *Daemon) tidyMove(ctx context.Context) {
	file := filepath.Join(d.data, "tandem.db")
	if _, err := os.Lstat(file); err != nil || !strings.HasPrefix(d.dsn(), "postgres") {
		return
	}
	left, arriving, err := d.leftByMove(ctx, file)
	switch {
	case err == nil && arriving:
		for _, end := range []string{"", "-wal", "-shm"} {
			if e := os.Remove(file + end); !errors.Is(e, os.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
		d.Log.Info("removed what a move left that was cut off", "path", file)
	case err == nil && left:
		var to string
		to, err = d.fileAside()
		d.Log.Info("set the file aside that a move left", "path", to)
	}
	if err != nil {
		d.Log.Warn("a file of SQLite is beside this server's data, which is in PostgreSQL", "path", file, "err", err)
	}
}

// leftByMove reads whose a file is: one that this installation moved out of, or one that it did not arrive in.
func (d *Daemon) leftByMove(ctx context.Context, file string) (left, arriving bool, err error) {
	other, err := db.Open(ctx, file, nil)
	if err != nil {
		return false, false, err
	}
	defer other.Close()
	base, empty, err := installation.In(ctx, other)
	if err != nil || empty {
		return false, empty, err
	}
	mark, _, err := installation.Moved(ctx, other)
	if err != nil || base != d.kept.ID || mark == "" {
		return false, false, err
	}
	return !installation.Arrives(mark), installation.Arrives(mark), nil
}
