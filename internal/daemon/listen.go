package daemon

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/server/wire"
	"tandem/internal/settings"
)

// The port everybody knows, and where to look when it is taken.
const (
	defaultPort         = "39731"
	firstFree, lastFree = 13013, 13063
)

// door is one TCP listener.
type door struct {
	net.Listener
	local bool // on loopback: plain HTTP, the panel is served
}

// listenTCP opens the configured address, and loopback beside it when that
// address is beyond it. Their connections are of the pool. When a port that nobody named is taken, it says by whom.
func listenTCP(s *settings.Settings, cert func(host string) (*tls.Config, error), p *pool) ([]door, *wire.Taken, error) {
	addr := s.Get("listen")
	if addr == "" {
		addr = net.JoinHostPort(s.Get("hostname"), s.Get("port"))
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, nil, fault.New(fault.Invalid, "daemon", "%q is not an address: %w", addr, err).
			WithNext("use HOST:PORT, e.g. --listen 127.0.0.1:39731")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return nil, nil, fault.New(fault.Invalid, "daemon", "%q is not a port", port).WithNext("use a number from 1 to 65535, or 0 for any")
	}
	given := s.Given("listen") || s.Given("port")
	if client.Loopback(host) {
		l, taken, err := listenFree(host, port, given)
		if err != nil {
			return nil, nil, err
		}
		return []door{{p.listen(l, ""), true}}, taken, nil
	}
	config, err := cert(host)
	if err != nil {
		return nil, nil, err
	}
	far, _, err := listenFree(host, port, true)
	if err != nil {
		return nil, nil, err
	}
	doors := []door{{tls.NewListener(p.listen(far, ""), config), false}}
	near, taken, err := listenBeside(far, defaultPort)
	if err != nil {
		far.Close()
		return nil, nil, err
	}
	return append(doors, door{p.listen(near, ""), true}), taken, nil
}

// listenBeside opens loopback beside a door that others reach. Where that door is on the same port of every address, it is what keeps
// loopback's: no other program does, and nobody is to end one.
func listenBeside(far net.Listener, port string) (net.Listener, *wire.Taken, error) {
	near, taken, err := listenFree("127.0.0.1", port, false)
	if a, ok := far.Addr().(*net.TCPAddr); ok && a.IP.IsUnspecified() && strconv.Itoa(a.Port) == port {
		taken = nil
	}
	return near, taken, err
}

// listenFree opens host:port; when the port was nobody's wish and is taken, the first free one of a small range, and it says who has it.
func listenFree(host, port string, given bool) (net.Listener, *wire.Taken, error) {
	address := net.JoinHostPort(host, port)
	l, err := net.Listen(family(host), address)
	if err == nil {
		return l, nil, nil
	}
	if !inUse(err, runtime.GOOS) {
		return nil, nil, fault.New(fault.Unavailable, "daemon", "cannot listen on %s: %w", address, err).WithNext("choose another with --listen")
	}
	taken := &wire.Taken{Address: address}
	taken.PID, taken.Program = portHolder(port)
	if given {
		return nil, nil, fault.New(fault.Unavailable, "daemon", "cannot listen on %s: %s has it", address, taken.Holder()).
			WithNext("end that, or choose another address with --listen (who listens where: %s)", whoListens(runtime.GOOS, port))
	}
	for p := firstFree; p <= lastFree; p++ {
		if l, err := net.Listen(family(host), net.JoinHostPort(host, strconv.Itoa(p))); err == nil {
			return l, taken, nil
		}
	}
	return nil, nil, fault.New(fault.Unavailable, "daemon", "the port %s (%s has it) and all of %d-%d are taken", port, taken.Holder(),
		firstFree, lastFree).WithNext("choose a free one with --listen")
}

// inUse says whether a port is taken. Windows has a number of its own for that.
func inUse(err error, system string) bool {
	const wsaAddressInUse = syscall.Errno(10048)
	return errors.Is(err, syscall.EADDRINUSE) || system == "windows" && errors.Is(err, wsaAddressInUse)
}

// whoListens is the command of a system that names the program behind a port.
func whoListens(system, port string) string {
	switch system {
	case "linux":
		return "ss -ltnp"
	case "windows":
		return "netstat -ano"
	}
	return "lsof -nP -iTCP:" + port + " -sTCP:LISTEN"
}

// heldNow is who has a port that was taken at the start: another program may by now, or none that can be seen.
func heldNow(taken *wire.Taken) *wire.Taken {
	if taken == nil || taken.PID == 0 {
		return taken
	}
	_, port, _ := net.SplitHostPort(taken.Address) // as it was joined
	now := &wire.Taken{Address: taken.Address}
	if now.PID, now.Program = portHolder(port); now.PID == 0 {
		return nil
	}
	return now
}

// family keeps an IPv4 address to IPv4: whoever writes 0.0.0.0 has not opened IPv6.
func family(host string) string {
	if ip := net.ParseIP(host); ip != nil && ip.To4() != nil {
		return "tcp4"
	}
	return "tcp"
}

// listenSocket opens a local socket that only this user reaches. A stale file
// of a daemon that was killed is removed: the folder's lock is ours.
func listenSocket(path string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the socket's folder: %w", err)
	}
	if st, err := os.Lstat(filepath.Dir(path)); err != nil {
		return nil, err
	} else if err := trusted(filepath.Dir(path), st); err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("remove the old socket: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "daemon", "cannot open the control socket %s: %w", path, err).
			WithNext("choose another with --control-socket")
	}
	return l, os.Chmod(path, 0o600)
}
