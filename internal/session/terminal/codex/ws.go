package codex

import (
	"bufio"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// socket is the client's end of a WebSocket (RFC 6455) on a connection that is there already. The libraries at hand send an
// Origin header, which the app-server refuses, and dial by themselves; what is needed of the protocol is this.
type socket struct {
	conn net.Conn
	in   *bufio.Reader
	mu   sync.Mutex // writers
}

// maxMessage bounds what the server may send at once: a resumed conversation comes as one message.
const maxMessage = 256 << 20

// The kinds of frames.
const (
	frameMore  = 0x0
	frameText  = 0x1
	frameClose = 0x8
	framePing  = 0x9
	framePong  = 0xa
)

func upgrade(conn net.Conn) (*socket, error) {
	var nonce [16]byte
	rand.Read(nonce[:])
	key := base64.StdEncoding.EncodeToString(nonce[:])
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: "+
		"Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n", key); err != nil {
		return nil, err
	}
	s := &socket{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}
	r, err := http.ReadResponse(s.in, nil)
	if err != nil {
		return nil, err
	}
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	if r.StatusCode != http.StatusSwitchingProtocols || r.Header.Get("Sec-WebSocket-Accept") != base64.StdEncoding.EncodeToString(sum[:]) {
		return nil, fmt.Errorf("the app-server answered %s instead of opening a WebSocket", r.Status)
	}
	return s, conn.SetDeadline(time.Time{})
}

// read returns the next message, whole. Pings are answered on the way.
func (s *socket) read() ([]byte, error) {
	var message []byte
	for {
		var head [2]byte
		if _, err := io.ReadFull(s.in, head[:]); err != nil {
			return nil, err
		}
		size := uint64(head[1] & 0x7f)
		switch size {
		case 126:
			var n [2]byte
			if _, err := io.ReadFull(s.in, n[:]); err != nil {
				return nil, err
			}
			size = uint64(binary.BigEndian.Uint16(n[:]))
		case 127:
			var n [8]byte
			if _, err := io.ReadFull(s.in, n[:]); err != nil {
				return nil, err
			}
			size = binary.BigEndian.Uint64(n[:])
		}
		if head[1]&0x80 != 0 {
			return nil, errors.New("a server's frames are not masked")
		}
		if size > maxMessage || uint64(len(message))+size > maxMessage {
			return nil, fmt.Errorf("a message of more than %d bytes", maxMessage)
		}
		at := len(message)
		kind := head[0] & 0xf
		if kind >= frameClose { // control frames may come between the pieces of a message
			at = 0
		}
		payload := make([]byte, size)
		if _, err := io.ReadFull(s.in, payload); err != nil {
			return nil, err
		}
		switch kind {
		case framePing:
			if err := s.write(framePong, payload); err != nil {
				return nil, err
			}
			continue
		case framePong:
			continue
		case frameClose:
			return nil, io.EOF
		}
		message = append(message[:at], payload...)
		if head[0]&0x80 != 0 {
			return message, nil
		}
	}
}

// write sends one frame, masked as a client has to.
func (s *socket) write(kind byte, payload []byte) error {
	frame := make([]byte, 0, len(payload)+14)
	frame = append(frame, 0x80|kind)
	switch n := len(payload); {
	case n < 126:
		frame = append(frame, 0x80|byte(n))
	case n < 1<<16:
		frame = binary.BigEndian.AppendUint16(append(frame, 0x80|126), uint16(n))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, 0x80|127), uint64(n))
	}
	var mask [4]byte
	rand.Read(mask[:])
	frame = append(frame, mask[:]...)
	from := len(frame)
	frame = append(frame, payload...)
	for i := range payload {
		frame[from+i] ^= mask[i%4]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.conn.SetWriteDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	_, err := s.conn.Write(frame)
	return err
}
