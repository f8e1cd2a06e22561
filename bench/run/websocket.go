package main

import (
	"bufio"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// socket is one end of a WebSocket (RFC 6455), as far as whole text messages
// need it: what a relay that stores, checks and seals nothing would use.
type socket struct {
	net.Conn
	in     *bufio.Reader
	mu     sync.Mutex
	client bool // a client masks what it sends
}

const acceptSalt = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

func acceptKey(key string) string {
	sum := sha1.Sum([]byte(key + acceptSalt))
	return base64.StdEncoding.EncodeToString(sum[:])
}

func dialSocket(addr string) (*socket, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	key := rand.Text()[:16]
	key = base64.StdEncoding.EncodeToString([]byte(key))
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: "+
		"13\r\nSec-WebSocket-Key: %s\r\n\r\n", addr, key)
	s := &socket{Conn: c, in: bufio.NewReader(c), client: true}
	resp, err := http.ReadResponse(s.in, nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols || resp.Header.Get("Sec-WebSocket-Accept") != acceptKey(key) {
		return nil, fmt.Errorf("no WebSocket: %s", resp.Status)
	}
	return s, nil
}

func (s *socket) write(msg []byte) error {
	head := []byte{0x81, byte(len(msg))}
	if len(msg) > 125 {
		head = []byte{0x81, 126, byte(len(msg) >> 8), byte(len(msg))}
	}
	if s.client {
		head[1] |= 0x80
		var mask [4]byte
		rand.Read(mask[:])
		head = append(head, mask[:]...)
		masked := make([]byte, len(msg))
		for i, b := range msg {
			masked[i] = b ^ mask[i%4]
		}
		msg = masked
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.Write(append(head, msg...))
	return err
}

func (s *socket) read() ([]byte, error) {
	var head [2]byte
	if _, err := io.ReadFull(s.in, head[:]); err != nil {
		return nil, err
	}
	if head[0] != 0x81 {
		return nil, errors.New("not a whole text message")
	}
	n := int(head[1] & 0x7f)
	if n == 126 {
		var long [2]byte
		if _, err := io.ReadFull(s.in, long[:]); err != nil {
			return nil, err
		}
		n = int(long[0])<<8 | int(long[1])
	}
	var mask [4]byte
	if head[1]&0x80 != 0 {
		if _, err := io.ReadFull(s.in, mask[:]); err != nil {
			return nil, err
		}
	}
	msg := make([]byte, n)
	if _, err := io.ReadFull(s.in, msg); err != nil {
		return nil, err
	}
	for i := range msg {
		msg[i] ^= mask[i%4]
	}
	return msg, nil
}

// serveRelay passes every message on to everybody else.
func serveRelay(address string) error {
	var mu sync.Mutex
	all := map[*socket]bool{}
	return http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
			return // somebody looks whether it is there
		}
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		fmt.Fprintf(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
			acceptKey(r.Header.Get("Sec-WebSocket-Key")))
		s := &socket{Conn: c, in: rw.Reader}
		mu.Lock()
		all[s] = true
		mu.Unlock()
		for {
			msg, err := s.read()
			if err != nil {
				break
			}
			mu.Lock()
			for to := range all {
				if to != s {
					to.write(msg) //nolint:errcheck // whoever is gone, is gone
				}
			}
			mu.Unlock()
		}
		mu.Lock()
		delete(all, s)
		mu.Unlock()
	}))
}
