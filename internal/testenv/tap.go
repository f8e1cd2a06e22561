package testenv

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
)

// Tap stands where a host's TLS ends, with the host's own key: it keeps every
// byte that members and host say to each other, as the host itself sees them.
type Tap struct {
	At   string // where members reach it
	mu   sync.Mutex
	said []*bytes.Buffer // one per connection and direction
}

// NewTap listens at an address for a host whose key and certificate are in certs.
func NewTap(t testing.TB, at, host, certs string) *Tap {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(filepath.Join(certs, "tls-cert.pem"), filepath.Join(certs, "tls-key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", at, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13,
		NextProtos: []string{"http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	p := &Tap{At: at}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // the test is over
			}
			go p.carry(c, host)
		}
	}()
	return p
}

func (p *Tap) carry(member net.Conn, host string) {
	defer member.Close()
	// the key in use is the host's own
	to, err := tls.Dial("tcp", host, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}})
	if err != nil {
		return
	}
	defer to.Close()
	over := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{member, to}, {to, member}} {
		buf := new(bytes.Buffer)
		p.mu.Lock()
		p.said = append(p.said, buf)
		p.mu.Unlock()
		go func() {
			io.Copy(way[1], io.TeeReader(way[0], lockedWriter{&p.mu, buf}))
			over <- struct{}{}
		}()
	}
	<-over
}

type lockedWriter struct {
	mu *sync.Mutex
	to io.Writer
}

func (w lockedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(b)
}

// Heard is everything on the tape: the bytes as they came, and every body with
// the transfer's own cuts and compression undone.
func (p *Tap) Heard() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all bytes.Buffer
	for _, b := range p.said {
		all.Write(b.Bytes())
		all.WriteByte('\n')
		r := bufio.NewReader(bytes.NewReader(b.Bytes()))
		for {
			head, err := r.Peek(5)
			if err != nil {
				break
			}
			var body io.ReadCloser
			if string(head) == "HTTP/" {
				res, err := http.ReadResponse(r, nil)
				if err != nil {
					break
				}
				body = res.Body
			} else {
				req, err := http.ReadRequest(r)
				if err != nil {
					break
				}
				body = req.Body
			}
			_, err = io.Copy(&all, body)
			body.Close()
			all.WriteByte('\n')
			if err != nil {
				break
			}
		}
	}
	return all.Bytes()
}
