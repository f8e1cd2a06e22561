package confine

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// minABI is the first Landlock that knows truncation: before it, a command could empty files that it may not open.
const minABI = 3

// The rights on files, by what a plan says. What is not named here is handled and given to nobody: making devices.
const (
	readFile  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	readDir   = unix.LANDLOCK_ACCESS_FS_READ_DIR
	writeFile = readFile | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	writeDir  = readDir | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	devices = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

func landlockABI() (int, error) {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, errno
	}
	return int(abi), nil
}

// restrictFiles binds this thread to the plan's files, as far as the kernel's Landlock goes.
func restrictFiles(p Plan) error {
	abi, err := landlockABI()
	if err != nil {
		return fmt.Errorf("ask for Landlock: %w", err)
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: writeFile | writeDir | devices}
	if abi >= 4 && !p.Network {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if abi >= 5 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	ruleset, err := newRuleset(attr)
	if err != nil {
		return err
	}
	defer unix.Close(ruleset) //nolint:errcheck // the ruleset was taken over, or the program ends
	for _, give := range []struct {
		paths     []string
		file, dir uint64
	}{{p.Read, readFile, readDir}, {p.Write, writeFile, writeDir}} {
		for _, path := range give.paths {
			if err := allow(ruleset, path, give.file, give.dir); err != nil && !errors.Is(err, unix.ENOENT) {
				return err
			}
		}
	}
	return enter(ruleset)
}

// scope keeps this thread from abstract sockets that were made outside. It restricts no files, so bubblewrap may still mount.
func scope() error {
	ruleset, err := newRuleset(unix.LandlockRulesetAttr{Scoped: unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET})
	if err != nil {
		return err
	}
	defer unix.Close(ruleset) //nolint:errcheck // the ruleset was taken over, or the program ends
	return enter(ruleset)
}

func newRuleset(attr unix.LandlockRulesetAttr) (int, error) {
	// The kernel takes a longer structure than it knows if the rest is zero; three words are what this one fills.
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)),
		unsafe.Offsetof(attr.Scoped)+unsafe.Sizeof(attr.Scoped), 0)
	if errno != 0 {
		return 0, fmt.Errorf("make a ruleset: %w", errno)
	}
	return int(fd), nil
}

func enter(ruleset int) error {
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0); errno != 0 {
		return fmt.Errorf("enter the ruleset: %w", errno)
	}
	return nil
}

// allow gives rights on a path and, when it is a folder, on what is below it.
func allow(ruleset int, path string, file, dir uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer unix.Close(fd) //nolint:errcheck // it was only looked at
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: file, Parent_fd: int32(fd)}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		rule.Allowed_access |= dir
	}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("allow %s: %w", path, errno)
	}
	return nil
}
