package confine

import "golang.org/x/sys/unix"

const arch = unix.AUDIT_ARCH_AARCH64

// denied are further calls that only this machine has.
var denied = []uint32{unix.SYS_KEXEC_FILE_LOAD, unix.SYS_NFSSERVCTL}
