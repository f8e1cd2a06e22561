package daemon

import "golang.org/x/sys/unix"

// networkDisk names the file system when it is one on another machine.
func networkDisk(path string) string {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return ""
	}
	switch uint32(st.Type) {
	case 0x6969:
		return "nfs"
	case 0x517b, 0xff534d42, 0xfe534d42:
		return "smb"
	case 0x01021997:
		return "9p"
	case 0x5346414f:
		return "afs"
	case 0x00c36400:
		return "ceph"
	}
	return ""
}
