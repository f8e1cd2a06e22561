package daemon

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

// socketOwner is the user whose program holds the other end of a TCP connection within this machine, as the kernel's table of
// sockets says. It is not known where that end lies in another network namespace.
func socketOwner(c net.Conn) (uid int, known bool, err error) {
	far, ok1 := address(c.RemoteAddr())
	near, ok2 := address(c.LocalAddr())
	if !ok1 || !ok2 {
		return 0, false, nil
	}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		data, err := os.ReadFile(table)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return 0, false, fmt.Errorf("read who holds a socket: %w", err)
		}
		for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
			f := strings.Fields(lines.Text())
			if len(f) > 7 && listed(f[1]) == far && listed(f[2]) == near {
				uid, err := strconv.Atoi(f[7])
				return uid, err == nil, nil
			}
		}
	}
	return 0, false, nil
}

func address(a net.Addr) (string, bool) {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return "", false
	}
	return net.JoinHostPort(t.IP.String(), strconv.Itoa(t.Port)), true
}

// listed reads an address as the table writes it: words of four bytes in this machine's order, a colon, the port.
func listed(text string) string {
	words, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(words)
	n, err2 := strconv.ParseUint(port, 16, 16)
	if err != nil || err2 != nil || len(raw) != net.IPv4len && len(raw) != net.IPv6len {
		return ""
	}
	for i := 0; i < len(raw); i += 4 {
		binary.NativeEndian.PutUint32(raw[i:], binary.BigEndian.Uint32(raw[i:]))
	}
	return net.JoinHostPort(net.IP(raw).String(), strconv.FormatUint(n, 10))
}
