package confine

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What a filter reads: struct seccomp_data is the number, the architecture, the instruction's address and six arguments of which
// the lower half comes first on both machines that have a table.
const (
	atNumber = 0
	atArch   = 4
	atArg0   = 16
	atArg1   = 24
)

// x32 marks calls of the third table of x86-64, which has the same architecture and other numbers.
const x32 = 0x40000000

// namespaces are the flags of clone that make a new world, in which a command would be root.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
	unix.CLONE_NEWPID | unix.CLONE_NEWNET

// newest is the last system call that was looked at for these tables. Later ones are not there for a confined program.
const newest = unix.SYS_FILE_SETATTR

// always are the calls that no confined program gets, beside those of the machine's own table.
var always = []uint32{
	// rings do what the filter would refuse, socket and connect included
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	// other processes, and their memory and files
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_PROCESS_MADVISE,
	unix.SYS_PERF_EVENT_OPEN,
	// what a user's processes share without a file
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET,
	unix.SYS_SEMGET,
	// and by its number, which needs no get: queues and semaphores of other programs
	unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL, unix.SYS_MQ_OPEN,
	unix.SYS_MQ_UNLINK,
	// new worlds and other roots
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_TREE,
	unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN,
	unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT,
	// the kernel itself
	unix.SYS_BPF, unix.SYS_USERFAULTFD, unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON,
	unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_QUOTACTL,
	unix.SYS_SYSLOG, unix.SYS_VHANGUP,
	// files by their path that Landlock does not ask about: owners, attributes, watching
	unix.SYS_FCHOWNAT, unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_SETXATTRAT,
	unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
	unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK, unix.SYS_INOTIFY_ADD_WATCH,
	// leaving the group that is ended at the deadline
	unix.SYS_SETSID, unix.SYS_SETPGID,
}

// sockets are the calls that only a plan with the network gets, beside socket itself.
var sockets = []uint32{unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4}

func op(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }
func load(at uint32) unix.SockFilter           { return op(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, at) }
func ret(k uint32) unix.SockFilter             { return op(unix.BPF_RET|unix.BPF_K, k) }

// unless skips the next n instructions when the comparison with k fails.
func unless(cmp uint16, k uint32, n uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | cmp | unix.BPF_K, Jf: n, K: k}
}

func fail(e unix.Errno) unix.SockFilter { return ret(unix.SECCOMP_RET_ERRNO | uint32(e)) }

// filter is the program that judges every call.
func filter(network bool) []unix.SockFilter {
	allow, deny := ret(unix.SECCOMP_RET_ALLOW), fail(unix.EPERM)
	f := []unix.SockFilter{
		load(atArch), unless(unix.BPF_JEQ, arch, 1), unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JA, K: 1}, ret(unix.SECCOMP_RET_KILL_PROCESS),
		load(atNumber),
		unless(unix.BPF_JGE, x32, 1), ret(unix.SECCOMP_RET_KILL_PROCESS),
		unless(unix.BPF_JGT, newest, 1), fail(unix.ENOSYS),
		// The flags of clone3 are in memory, where a filter cannot see them: programs go back to clone.
		unless(unix.BPF_JEQ, unix.SYS_CLONE3, 1), fail(unix.ENOSYS),
		unless(unix.BPF_JEQ, unix.SYS_CLONE, 4), load(atArg0), unless(unix.BPF_JSET, namespaces, 1), deny, allow,
		// Keys typed into somebody's terminal.
		unless(unix.BPF_JEQ, unix.SYS_IOCTL, 5), load(atArg1), unless(unix.BPF_JEQ, unix.TIOCSTI, 1), deny,
		unless(unix.BPF_JEQ, unix.TIOCLINUX, 1), deny,
		load(atNumber),
		// The limits and sessions of processes other than its own, and when and where they run.
		unless(unix.BPF_JEQ, unix.SYS_PRLIMIT64, 4), load(atArg0), unless(unix.BPF_JEQ, 0, 1), allow, deny,
		unless(unix.BPF_JEQ, unix.SYS_GETSID, 4), load(atArg0), unless(unix.BPF_JEQ, 0, 1), allow, deny,
		unless(unix.BPF_JEQ, unix.SYS_SCHED_SETSCHEDULER, 4), load(atArg0), unless(unix.BPF_JEQ, 0, 1), allow, deny,
		unless(unix.BPF_JEQ, unix.SYS_SCHED_SETPARAM, 4), load(atArg0), unless(unix.BPF_JEQ, 0, 1), allow, deny,
		unless(unix.BPF_JEQ, unix.SYS_SCHED_SETATTR, 4), load(atArg0), unless(unix.BPF_JEQ, 0, 1), allow, deny,
		unless(unix.BPF_JEQ, unix.SYS_SCHED_SETAFFINITY, 4), load(atArg0), unless(unix.BPF_JEQ, 0, 1), allow, deny,
		unless(unix.BPF_JEQ, unix.SYS_SETPRIORITY, 6), load(atArg0), unless(unix.BPF_JEQ, unix.PRIO_PROCESS, 3), load(atArg1),
		unless(unix.BPF_JEQ, 0, 1), allow, deny,
		// 1 is a process
		unless(unix.BPF_JEQ, unix.SYS_IOPRIO_SET, 6), load(atArg0), unless(unix.BPF_JEQ, 1, 3), load(atArg1), unless(unix.BPF_JEQ, 0, 1), allow,
		deny,
		// A pair of streams leads nowhere else; a pair of datagram sockets could be connected anew.
		unless(unix.BPF_JEQ, unix.SYS_SOCKETPAIR, 7), load(atArg0), unless(unix.BPF_JEQ, unix.AF_UNIX, 4), load(atArg1),
		op(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0xf),
		unless(unix.BPF_JEQ, unix.SOCK_STREAM, 1), allow, deny,
	}
	if network { // the internet, and not the sockets of programs on this machine
		f = append(f, unless(unix.BPF_JEQ, unix.SYS_SOCKET, 6), load(atArg0), unless(unix.BPF_JEQ, unix.AF_INET, 1), allow,
			unless(unix.BPF_JEQ, unix.AF_INET6, 1), allow, deny)
	} else {
		f = append(f, unless(unix.BPF_JEQ, unix.SYS_SOCKET, 1), deny)
		for _, nr := range sockets {
			f = append(f, unless(unix.BPF_JEQ, nr, 1), deny)
		}
	}
	for _, list := range [][]uint32{always, denied} {
		for _, nr := range list {
			f = append(f, unless(unix.BPF_JEQ, nr, 1), deny)
		}
	}
	return append(f, allow)
}

// restrictCalls binds this thread to the filter.
func restrictCalls(network bool) error {
	f := filter(network)
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(f)
	if errno != 0 {
		return fmt.Errorf("enter the filter of system calls: %w", errno)
	}
	return nil
}
