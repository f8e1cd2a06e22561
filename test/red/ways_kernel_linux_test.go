package red

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// calls is a program that makes one system call with the server's number, and says so when it worked.
func (c *cell) calls(program string) try {
	return says("python3 - <<'END'\nimport ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\npid = "+strconv.Itoa(c.pid)+"\n"+program+
		"\nprint('WOR'+'KED')\nEND", "WORKED")
}

// listens is a socket of somebody else's for as long as a way is tried.
func listens(network, address, line string) try {
	l, err := net.Listen(network, address)
	if err != nil {
		return try{line: "true", outside: func(string) bool { return false }}
	}
	if filepath.IsAbs(address) {
		os.Chmod(address, 0o777) //nolint:errcheck // the way then shows nothing, and the test says so
	}
	return try{line: line, outside: func(said string) bool {
		l.Close()
		return strings.Contains(said, "CONNECTED")
	}}
}

// hears is a datagram that arrives outside.
func hears(line func(port string) string) try {
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return try{line: "true", outside: func(string) bool { return false }}
	}
	_, port, _ := net.SplitHostPort(l.LocalAddr().String())
	return try{line: line(port), outside: func(string) bool {
		defer l.Close()
		l.SetReadDeadline(time.Now().Add(time.Second)) //nolint:errcheck // it then waits for ever, and the test says so
		_, _, err := l.ReadFrom(make([]byte, 16))
		return err == nil
	}}
}

// queue is a message queue of the server's user, made outside.
func (c *cell) queue(line func(id string) string) try {
	cmd := exec.Command("ipcmk", "-Q", "-p", "0666")
	cmd.SysProcAttr = as(c.uid)
	out, _ := cmd.Output() // without one the way does not work outside either
	id := strings.TrimSpace(string(out)[strings.LastIndexByte(string(out), ':')+1:])
	return try{line: line(id), outside: func(said string) bool {
		exec.Command("ipcrm", "-q", id).Run() //nolint:errcheck // the way may have removed it
		return strings.Contains(said, "WORKED")
	}}
}

// shared is a file of memory that somebody else left.
func (c *cell) shared() string {
	at := filepath.Join("/dev/shm", c.mark)
	os.WriteFile(at, []byte(c.canary), 0o644) //nolint:errcheck // the way then shows nothing, and the test says so
	return at
}

func dials(family, address string) string {
	return "python3 - <<'END'\nimport socket\ns = socket.socket(socket." + family + ")\ns.settimeout(5)\ns.connect(" + address +
		")\nprint('CONN'+'ECTED')\nEND"
}

var kernelWays = []way{
	{"nest", "a user namespace", false, func(c *cell) try { return says("unshare -U true && printf NES%s TED", "NESTED") }},
	{"nest", "root in a namespace of its own", false, func(c *cell) try { return says("unshare -Ur sh -c 'printf NES%s TED'", "NESTED") }},
	{"nest", "a namespace of mounts", true, func(c *cell) try { return says("unshare -m true && printf NES%s TED", "NESTED") }},
	{"nest", "a mount over its own folder", true, func(c *cell) try {
		return says("mkdir -p m; mount -t tmpfs x m && printf MOU%s NTED; umount m; rmdir m", "MOUNTED")
	}},
	{"nest", "a mount in a namespace of its own", false, func(c *cell) try {
		return says("mkdir -p own; unshare -Urm sh -c 'mount -t tmpfs x own && printf MOU%s NTED'; rmdir own", "MOUNTED")
	}},
	{"nest", "uncovering what is hidden", true, func(c *cell) try {
		return says("unshare -m sh -c 'umount -l "+c.home+"; umount -l /; cat "+c.home+"/.ssh/id_ed25519'", c.canary)
	}},
	{"nest", "uncovering what is hidden, in a namespace of its own", false, func(c *cell) try {
		return says("unshare -Urm sh -c 'umount -l "+c.home+"; umount -l /; cat "+c.home+"/.ssh/id_ed25519'", c.canary)
	}},
	{"nest", "uncovering the machine's passwords, in a namespace of its own", true, func(c *cell) try {
		return says("unshare -Urm sh -c 'umount -l /etc/shadow; umount -l /etc; head -c 5 /etc/shadow'", "root:")
	}},
	{"nest", "the system made writable, in a namespace of its own", true, func(c *cell) try {
		return exists("unshare -Urm sh -c 'mount -o remount,rw,bind /usr; mount -o remount,rw /; touch /usr/"+c.mark+"'", "/usr/"+c.mark)
	}},
	{"nest", "the server's mounts", true, func(c *cell) try {
		return says(fmt.Sprintf("nsenter -t %d -m cat %s/.ssh/id_ed25519", c.pid, c.home), c.canary)
	}},
	{"nest", "the server's network", true, func(c *cell) try {
		return says(fmt.Sprintf("nsenter -t %d -n curl -s -m 5 %s/global/health", c.pid, c.url), `"ready"`)
	}},
	{"nest", "a sandbox of its own that shows everything", false, func(c *cell) try {
		return says("bwrap --bind / / --dev /dev cat "+c.home+"/.ssh/id_ed25519", c.canary)
	}},
	{"nest", "a device of its own", true, func(c *cell) try {
		return says(python(`import os, stat; os.mknod("node", stat.S_IFCHR|0o600, os.makedev(1,3)); print("MA"+"DE"); os.unlink("node")`), "MADE")
	}},

	{"spy", "the server's memory", false, func(c *cell) try { return c.calls("open(f'/proc/{pid}/mem', 'rb')") }},
	{"spy", "the server, traced", false, func(c *cell) try { return c.calls("assert libc.ptrace(0x4206, pid, 0, 0) == 0") }},
	{"spy", "the server's memory, by the kernel's call", false, func(c *cell) try {
		return c.calls(`class V(ctypes.Structure): _fields_ = [("b", ctypes.c_void_p), ("n", ctypes.c_size_t)]
at = int(open(f'/proc/{pid}/maps').readline().split('-')[0], 16)
into = ctypes.create_string_buffer(16)
assert libc.process_vm_readv(pid, ctypes.byref(V(ctypes.addressof(into), 16)), 1, ctypes.byref(V(at, 16)), 1, 0) == 16`)
	}},
	{"spy", "a file that the server has open", false, func(c *cell) try {
		return c.calls("fd = libc.syscall(434, pid, 0)\nassert fd >= 0 and libc.syscall(438, fd, 0, 0) >= 0")
	}},
	{"spy", "the server's processors", false, func(c *cell) try { return c.calls("os.sched_setaffinity(pid, os.sched_getaffinity(pid))") }},
	{"spy", "the server's limits, by the kernel's call", false, func(c *cell) try {
		return c.calls("import resource\nresource.prlimit(pid, resource.RLIMIT_NOFILE)")
	}},
	{"spy", "the server's scheduling", false, func(c *cell) try {
		return c.calls("os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))")
	}},
	{"spy", "the server's session", false, func(c *cell) try { return c.calls("os.getsid(pid)") }},
	{"spy", "what others share in memory", false, func(c *cell) try {
		at := c.shared()
		return try{line: "cat " + at, outside: func(said string) bool { return os.Remove(at) == nil && strings.Contains(said, c.canary) }}
	}},
	{"spy", "a message queue of another program", false, func(c *cell) try {
		return c.queue(func(id string) string {
			return "python3 - <<'END'\nimport ctypes\nb = ctypes.create_string_buffer(512)\nassert ctypes.CDLL(None).msgctl(" + id +
				", 2, b) == 0\nprint('WOR'+'KED')\nEND"
		})
	}},

	{"reach", "an abstract socket", false, func(c *cell) try { return listens("unix", "@"+c.mark, dials("AF_UNIX", `"\0`+c.mark+`"`)) }},
	{"reach", "a socket in /tmp", false, func(c *cell) try { return listens("unix", c.tmp+".sock", dials("AF_UNIX", `"`+c.tmp+`.sock"`)) }},
	{"reach", "another program's port", false, func(c *cell) try {
		return says(dials("AF_INET", `("127.0.0.1", `+c.port()+`)`), "CONNECTED")
	}},
	{"reach", "a datagram", false, func(c *cell) try {
		return hears(func(port string) string {
			return python(`import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", ` + port + `))`)
		})
	}},
	{"reach", "a datagram by the shell alone", false, func(c *cell) try {
		return hears(func(port string) string { return "bash -c 'echo x > /dev/udp/127.0.0.1/" + port + "'" })
	}},
	{"reach", "the wire itself", true, func(c *cell) try {
		return says(python(`import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW); print("OPE"+"NED")`), "OPENED")
	}},
	{"reach", "a sign-in to the panel", false, func(c *cell) try {
		return says("HOME="+c.home+" "+c.bin+" panel open --print", "signin?code=")
	}},
	{"reach", "what waits for a person", false, func(c *cell) try {
		return says("HOME="+c.home+" "+c.bin+" session set-aside list --json", `"aside":`)
	}},

	{"write", "in everybody's /var/tmp", false, func(c *cell) try {
		return exists("touch /var/tmp/"+c.mark+".made",
			"/var/tmp/"+c.mark+".made")
	}},
	{"write", "in everybody's memory", false, func(c *cell) try {
		return exists("touch /dev/shm/"+c.mark+".made",
			"/dev/shm/"+c.mark+".made")
	}},
	{"write", "in the system's run-time state", true, func(c *cell) try { return exists("touch /run/"+c.mark, "/run/"+c.mark) }},
	{"persist", "in everybody's shell", true, func(c *cell) try {
		return exists("touch /etc/profile.d/"+c.mark+".sh",
			"/etc/profile.d/"+c.mark+".sh")
	}},
	{"exhaust", "the disk, 100 MB of it", false, func(c *cell) try {
		return exists("head -c 100000000 /dev/zero > large && sync -d large; [ $(stat -c %s large) = 100000000 ] || rm large", c.inside("large"))
	}},
	{"exhaust", "open files, 900 of them", false, func(c *cell) try {
		return says(python(`x=[open("/dev/null") for _ in range(900)]; print("GOT"+str(len(x)))`), "GOT900")
	}},
	{"exhaust", "the processors, before everybody else", true, func(c *cell) try {
		return says(python(`import os; os.nice(-10); print("FIR"+"ST")`), "FIRST")
	}},
	{"exhaust", "the processors, without a pause", true, func(c *cell) try {
		return says(python(`import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)); print("REA"+"LTIME")`), "REALTIME")
	}},
	{"exhaust", "memory that cannot be moved away, 100 MB of it", true, func(c *cell) try {
		return c.calls("b = ctypes.create_string_buffer(100 << 20)\nassert libc.mlock(b, 100 << 20) == 0")
	}},
	{"exhaust", "the disk, before everybody else", true, func(c *cell) try {
		return says("ionice -c 1 -n 0 true && printf FIR%s ST", "FIRST")
	}},
}
