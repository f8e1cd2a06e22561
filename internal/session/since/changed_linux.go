package since

import (
	"io/fs"
	"syscall"
)

// changedAt is when anything of a file changed last: the system sets it, and no program can set it back.
func changedAt(st fs.FileInfo) int64 {
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		return s.Ctim.Nano()
	}
	return 0
}
