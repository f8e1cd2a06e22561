//go:build unix

package health

import "golang.org/x/sys/unix"

// disk is how much room the disk of a folder has for this user: bytes and files, and of how many; -1 where it does not say.
func disk(path string) (bytes, of, files, ofFiles int64) {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return -1, -1, -1, -1
	}
	bytes, of, files, ofFiles = int64(st.Bavail)*int64(st.Bsize), int64(st.Blocks)*int64(st.Bsize), int64(st.Ffree), int64(st.Files)
	if st.Files == 0 { // some file systems make inodes as they need them
		files, ofFiles = -1, -1
	}
	return bytes, of, files, ofFiles
}
