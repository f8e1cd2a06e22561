//go:build unix

package testenv

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// clusterFolder begins the name of a cluster's folder, and clusterSocket is the socket in it.
const clusterFolder, clusterSocket = "tandem-pg", ".s.PGSQL.5432"

// sweep removes what earlier clusters below dir left behind: their keeper was killed, or its user may not remove a folder there.
// A folder stays while PostgreSQL answers in it, and for an hour, in which it may still be starting.
func sweep(dir string, now time.Time) {
	left, _ := filepath.Glob(filepath.Join(dir, clusterFolder+"*")) // the pattern is a good one
	for _, folder := range left {
		info, err := os.Lstat(folder)
		if err != nil || !info.IsDir() || now.Sub(info.ModTime()) < time.Hour {
			continue
		}
		c, err := net.Dial("unix", filepath.Join(folder, clusterSocket))
		if err == nil {
			c.Close()
			continue
		}
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
			os.RemoveAll(folder) //nolint:errcheck // another user's is theirs to remove
		}
	}
}
