package daemon

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener of one connection within this program, whose clock a test can move.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (w *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-w.conns:
		return c, nil
	case <-w.done:
		return nil, net.ErrClosed
	}
}
func (w *pipes) Close() error   { close(w.done); return nil }
func (w *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// overWire serves h to one connection and hands over its other end.
func overWire(t *testing.T, h http.HandlerFunc, client func(net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{make(chan net.Conn, 1), make(chan struct{})}
		near, far := net.Pipe()
		l.conns <- near
		srv := &http.Server{Handler: paced(h), ReadHeaderTimeout: 10 * time.Second, ConnContext: withConn}
		ended := make(chan struct{})
		go func() { srv.Serve(newPool(16).listen(l, "")); close(ended) }()
		client(far)
		far.Close()
		srv.Close()
		<-ended
	})
}

// Nothing bounded how long a body may take: one byte now and then held a connection and its memory for ever.
func TestASlowBodyIsCutOff(t *testing.T) {
	var failed error
	began := time.Time{}
	overWire(t, func(w http.ResponseWriter, r *http.Request) { began = time.Now(); _, failed = io.ReadAll(r.Body) }, func(c net.Conn) {
		fmt.Fprint(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
		go io.Copy(io.Discard, c)
		for {
			time.Sleep(5 * time.Second)
			if _, err := c.Write([]byte("x")); err != nil {
				break
			}
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it was held for %s", took)
		}
	})
	if failed == nil {
		t.Error("a body of which a byte came every five seconds was read")
	}
}

// A body that nobody reads is not waited for, either.
func TestAnUnreadBodyHoldsNothing(t *testing.T) {
	overWire(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusForbidden) }, func(c net.Conn) {
		fmt.Fprint(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
		at := time.Now()
		io.Copy(io.Discard, c)
		if took := time.Since(at); took > bodyPause {
			t.Errorf("it was held for %s", took)
		}
	})
}

// Large uploads on slow lines, a server that works long on what came, and long polls stay.
func TestHonestSlownessIsNotCut(t *testing.T) {
	const size = 1 << 20
	overWire(t, func(w http.ResponseWriter, r *http.Request) {
		n := int64(0)
		for buf := make([]byte, 64<<10); ; {
			m, err := r.Body.Read(buf)
			n += int64(m)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Errorf("after %d bytes: %v", n, err)
				return
			}
			if n == size/2 {
				time.Sleep(10 * time.Minute) // it works on the first half
			}
		}
		select {
		case <-time.After(time.Hour): // it waits for news
		case <-r.Context().Done():
			t.Error("the caller was taken for gone")
		}
		fmt.Fprint(w, n)
	}, func(c net.Conn) {
		fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size)
		part := strings.Repeat("x", 16<<10)
		for range size / len(part) {
			time.Sleep(8 * time.Second) // two KiB a second
			if _, err := io.WriteString(c, part); err != nil {
				t.Error(err)
				return
			}
		}
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Error(err)
			return
		}
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != fmt.Sprint(size) {
			t.Errorf("%s %v", body, err)
		}
	})
}

// Who stops reading an answer is cut off; who reads slowly gets all of it.
func TestAnAnswerThatNobodyReadsEnds(t *testing.T) {
	var failed error
	overWire(t, func(w http.ResponseWriter, r *http.Request) {
		for range 64 {
			if _, failed = w.Write(make([]byte, 64<<10)); failed != nil {
				return
			}
		}
	}, func(c net.Conn) {
		fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		for range 16 {
			time.Sleep(answerPause / 2)
			if _, err := io.ReadFull(c, make([]byte, 64<<10)); err != nil {
				t.Errorf("a slow reader was cut: %v", err)
				return
			}
		}
		time.Sleep(3 * answerPause)
	})
	if failed == nil {
		t.Error("the handler went on")
	}
}
