package proof

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// shears is a wire to a server that can be cut: everything on it ends at once,
// in the middle of whatever was said.
type shears struct {
	l  net.Listener
	to string

	carried atomic.Int64 // bytes from the server
	sent    atomic.Int64 // bytes to it
	limit   atomic.Int64 // after which everything is cut, once; 0 for never

	mu   sync.Mutex
	open map[net.Conn]net.Conn
}

func newShears(t testing.TB, to string) *shears {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &shears{l: l, to: to, open: map[net.Conn]net.Conn{}}
	t.Cleanup(func() { l.Close(); s.cut() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			go s.join(near)
		}
	}()
	return s
}

func (s *shears) addr() string { return s.l.Addr().String() }

func (s *shears) join(near net.Conn) {
	far, err := net.Dial("tcp", s.to)
	if err != nil {
		near.Close()
		return
	}
	s.mu.Lock()
	s.open[near] = far
	s.mu.Unlock()
	done := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
		go func() {
			if way[0] == near {
				io.Copy(&counted{s, near}, far)
			} else {
				io.Copy(io.MultiWriter(far, (*toward)(&s.sent)), near)
			}
			done <- struct{}{}
		}()
	}
	<-done
	near.Close()
	far.Close()
	s.mu.Lock()
	delete(s.open, near)
	s.mu.Unlock()
}

// toward counts the way to the server.
type toward atomic.Int64

func (c *toward) Write(b []byte) (int, error) {
	(*atomic.Int64)(c).Add(int64(len(b)))
	return len(b), nil
}

// counted is the way back from the server.
type counted struct {
	s  *shears
	to net.Conn
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	if most := c.s.limit.Load(); c.s.carried.Add(int64(n)) > most && most > 0 && c.s.limit.CompareAndSwap(most, 0) {
		time.Sleep(time.Second) // what came through a line before it broke can be read; closing it here would take that back
		c.s.cut()
	}
	return n, err
}

// cut ends every connection and says how many there were.
func (s *shears) cut() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for near, far := range s.open {
		for _, c := range []net.Conn{near, far} {
			c.(*net.TCPConn).SetLinger(0) // a reset, not a farewell
			c.Close()
		}
	}
	n := len(s.open)
	clear(s.open)
	return n
}
