//go:build unix && !linux

package daemon

import (
	"strings"

	"golang.org/x/sys/unix"
)

// networkDisk names the file system when it is one on another machine.
func networkDisk(path string) string {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil || st.Flags&unix.MNT_LOCAL != 0 {
		return ""
	}
	return strings.TrimRight(unix.ByteSliceToString(st.Fstypename[:]), "\x00")
}
